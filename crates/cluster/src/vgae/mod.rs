//! Graph autoencoders: node embeddings learned by predicting edges.

mod element;
mod encoder;
mod exact;
mod fused;
mod logistic;
mod posterior;
mod sampled;
mod streams;
mod target;
mod tiles;

pub use encoder::{EncoderConfig, GraphEncoder};
pub use exact::exact_likelihood;
pub use posterior::{MAX_LOG_SIGMA, Posterior};
pub use sampled::sampled_likelihood;
pub use target::LinkTarget;
