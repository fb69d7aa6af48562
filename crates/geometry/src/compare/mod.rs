//! Comparison of subspaces: principal angles, distances and kernels of pairs, matrices of them for
//! sets of subspaces, and nearest neighbours.

pub(crate) mod angles;
pub(crate) mod distance;
pub(crate) mod kernel;
pub(crate) mod neighbours;
pub(crate) mod pairwise;
