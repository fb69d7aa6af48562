//! The tests of the crate from outside, in one program with a file per subject.

mod real_data;
mod small;

mod config;
mod folder;
mod metrics;
mod model_gradient;
mod model_values;
mod real_training;
mod repetitions;
mod resume;
mod search;
mod training;
