//! Graph classification with Grassmann pooling.

mod atomic;
pub mod data;
mod error;
pub mod folder;
pub mod metrics;
pub mod model;
mod pooling;
mod pooling_config;
pub mod protocol;
mod structure;
pub mod train;

pub use error::{Error, Result};
pub use pooling::{Coarser, Pooled, Pooling};
pub use pooling_config::PoolingConfig;
pub use structure::Structure;
