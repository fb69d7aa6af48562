//! Graph classification with Grassmann pooling.

mod error;
mod pooling;
mod structure;

pub use error::{Error, Result};
pub use pooling::{Coarser, Pooled, Pooling};
pub use structure::Structure;
