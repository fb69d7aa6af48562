//! Graph classification with Grassmann pooling.

mod error;
mod pooling;
mod structure;

pub use error::{Error, Result};
pub use pooling::{
    AttentionPooling, Coarser, EdgePooling, EggPooling, FilterConfig, PanPooling, Pooled, Pooling,
    PoolingConfig, RandomPooling, SagPooling, SegmentPooling, SoftEggPooling, TopKPooling,
};
pub use structure::Structure;
