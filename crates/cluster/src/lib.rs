//! Node clustering on the Grassmann manifold.

mod error;

pub use error::{Error, Result};
