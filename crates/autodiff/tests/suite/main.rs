//! The tests of the crate from outside, in one program with a file per subject.

mod differences;

mod adversarial;
mod angles;
mod bad_input;
mod composition;
mod determinism;
mod gradient;
mod module;
mod properties;
mod soft;
mod torture;
mod training;
