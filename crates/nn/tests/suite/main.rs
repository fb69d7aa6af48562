//! The tests of the crate from outside, in one program with a file per subject.

mod adam;
mod bad_input;
mod checkpoint;
mod degenerate;
mod determinism;
mod dropout;
mod fixture;
mod gradient;
mod layer_values;
mod losses;
mod parameters;
mod schedule;
mod segments;
mod training;
#[cfg(feature = "candle-nn")]
mod with_candle_nn;
