//! Graph classification with Grassmann pooling.

mod atomic;
pub mod data;
mod error;
pub mod folder;
pub mod metrics;
pub mod model;
mod pooling;
pub mod protocol;
mod structure;
pub mod train;

pub use error::{Error, Result};
pub use pooling::{
    AttentionPooling, Coarser, EdgePooling, EggPooling, FilterConfig, PanPooling, Pooled, Pooling,
    PoolingConfig, RandomPooling, SagPooling, SegmentPooling, SoftEggPooling, TopKPooling,
};
pub use structure::Structure;
