//! From a matrix to its subspace and to a vector, and back to a gradient.

pub(crate) mod factors;
pub(crate) mod flatten;
mod gradient;
mod leverage;
pub(crate) mod projector;
pub(crate) mod rank;
mod rank_text;
pub(crate) mod rectify;
mod triangle;
pub(crate) mod workspace;
