//! Node clustering on the Grassmann manifold.

mod error;
mod vgae;

pub use error::{Error, Result};
pub use vgae::{
    Autoencoder, AutoencoderConfig, Control, EncoderConfig, Epoch, GraphEncoder, Keep, Likelihood,
    LinkScores, LinkTarget, LinkTask, MAX_LOG_SIGMA, Posterior, Precision, StopEarly, exact_likelihood,
    link_logits, sampled_likelihood,
};
