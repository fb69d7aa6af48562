//! The tests of the crate from outside, in one program with a file per subject.

mod autoencoder_bad_input;
mod autoencoder_training;
mod likelihood_gradient;
mod likelihood_values;
mod node_clustering;
mod tensors;
