//! Node clustering on the Grassmann manifold.

mod error;
pub mod kmeans;
pub mod metrics;
pub mod vgae;

pub use error::{Error, Result};
