//! The crate from outside, one file for each subject.

mod chromium;
mod degenerate;
mod determinism;
mod escaping;
mod files;
mod made_up;
mod page;
mod properties;
mod significance;
