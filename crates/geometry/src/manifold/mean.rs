//! Means of sets of subspaces.

mod extrinsic;
mod karcher;

pub use extrinsic::{
    ExtrinsicMean, extrinsic_mean, extrinsic_mean_within, weighted_extrinsic_mean,
    weighted_extrinsic_mean_within,
};
pub use karcher::{KarcherMean, KarcherSolver, karcher_mean};
