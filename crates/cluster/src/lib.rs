//! Node clustering on the Grassmann manifold.

mod error;
mod vgae;

pub use error::{Error, Result};
pub use vgae::{
    EncoderConfig, GraphEncoder, LinkTarget, MAX_LOG_SIGMA, Posterior, exact_likelihood, sampled_likelihood,
};
