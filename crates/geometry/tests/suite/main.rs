//! The tests of the crate from outside, in one program: they share their
//! generators, and one program links faster than fifteen.

#[macro_use]
mod refusal;
mod strategies;

mod bad_input;
mod bad_input_manifold;
mod bad_input_points;
mod degenerate;
mod determinism;
mod extreme_values;
mod fixture_values;
mod gradient;
mod planted_spectra;
mod properties_angles;
mod properties_cluster;
mod properties_distance;
mod properties_gradient;
mod properties_manifold;
mod properties_mean;
mod properties_mixed_cluster;
mod properties_mixed_mean;
mod properties_rectify;
mod soft;
