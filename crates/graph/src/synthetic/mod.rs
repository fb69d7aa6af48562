//! Data that the project makes itself: no download, the same for the same seed.

mod block_model;
mod covariance;
mod karate;

pub use block_model::BlockModel;
pub use covariance::CovarianceSet;
pub use karate::karate_club;
