//! The tests of the crate from outside, in one program with a file per subject.

mod samples;

mod bad_input;
mod coarsening;
mod config;
mod degenerate;
mod determinism;
mod fixture_values;
mod gradient;
mod invariance;
mod own_pooling;
mod real_data;
