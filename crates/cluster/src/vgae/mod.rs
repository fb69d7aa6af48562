//! Graph autoencoders: node embeddings learned by predicting edges.

mod config;
mod decoder;
mod encoder;
mod event;
mod exact;
mod fused;
mod gather;
mod logistic;
mod negatives;
mod posterior;
mod sampled;
mod streams;
mod target;
mod task;
mod tiles;
mod training;

pub use config::{AutoencoderConfig, CheckpointConfig, Likelihood, Precision, StopEarly};
pub use decoder::{link_logits, rank_links};
pub use encoder::{EncoderConfig, GraphEncoder};
pub use event::Epoch;
pub use exact::exact_likelihood;
pub use posterior::{MAX_LOG_SIGMA, Posterior};
pub use sampled::sampled_likelihood;
pub use target::LinkTarget;
pub use task::LinkTask;
pub use training::Autoencoder;
