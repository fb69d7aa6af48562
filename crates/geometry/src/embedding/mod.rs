//! The embedding of a matrix: rank rules, rectification to a subspace, the projector and its flattened
//! form, soft projectors, and the exact gradients of all of them.

pub(crate) mod batch;
pub(crate) mod factors;
pub(crate) mod flatten;
mod gradient;
pub(crate) mod nodes;
pub(crate) mod projector;
pub(crate) mod rank;
mod rank_text;
pub(crate) mod rectify;
pub(crate) mod soft;
mod triangle;
pub(crate) mod workspace;
