//! Readers, one file per layout, and what they have in common.

mod options;
mod text;

pub use options::{NodeFeatures, ReadOptions};
