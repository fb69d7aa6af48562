//! The tests of the crate from outside, in one program with a file per subject.

mod samples;
mod small;

mod bad_input;
mod coarsening;
mod config;
mod covariance;
mod degenerate;
mod determinism;
mod determinism_training;
mod embedding;
mod feature_columns;
mod fixture_values;
mod folder;
mod gradient;
mod handoff;
mod invariance;
mod metrics;
mod model_gradient;
mod model_values;
mod node_norm;
mod old_folders;
mod own_pooling;
mod real_batch;
#[path = "../../../datasets/tests/shared/real_data.rs"]
mod real_data;
mod real_training;
mod record;
mod repetitions;
mod resume;
mod search;
mod settings;
mod training;
mod whole_models;
