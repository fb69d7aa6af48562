//! Data that the project makes itself: no download, the same for the same seed.

mod block_model;
mod covariance;
mod karate;

use ndarray::ArrayView1;

pub use block_model::BlockModel;
pub use covariance::CovarianceSet;
pub use karate::karate_club;

/// `a^T b`, added in order. Not ndarray's, which may be a BLAS's: data made here
/// should not depend on what else is linked, nor need it to be.
fn inner(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
