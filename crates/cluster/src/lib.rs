//! Node clustering on the Grassmann manifold.

pub mod egg;
mod error;
pub mod kmeans;
pub mod metrics;
pub mod pipeline;
mod tall;
pub mod vgae;

pub use error::{Error, Result};
