//! Two subspaces, or many: angles, distances, kernels and neighbours.

pub(crate) mod angles;
pub(crate) mod distance;
pub(crate) mod kernel;
pub(crate) mod neighbours;
pub(crate) mod pairwise;
