//! The tests of the crate from outside, in one program with a file per subject.

mod fixture;
#[path = "../../../datasets/tests/shared/real_data.rs"]
mod real_data;
mod samples;
mod tensors;

mod autoencoder_bad_input;
mod autoencoder_training;
mod bad_input;
mod baseline;
mod choose;
mod determinism;
mod egg;
mod kmeans_properties;
mod kmeans_values;
mod likelihood_gradient;
mod likelihood_values;
mod metrics_properties;
mod metrics_values;
mod mini_batch;
mod node_clustering;
mod randomised;
mod repetitions;
mod smooth;
mod spectral;
mod tuning;
mod wiki_cs;
