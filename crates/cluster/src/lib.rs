//! Node clustering on the Grassmann manifold.

pub mod egg;
mod error;
pub mod kmeans;
pub mod manifold;
pub mod metrics;
pub mod pipeline;
pub mod spectral;
mod tall;
mod vectorised;
pub mod vgae;

pub use error::{Error, Result};
