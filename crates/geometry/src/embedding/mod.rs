//! From a matrix to its subspace and to a vector, and back to a gradient.

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
