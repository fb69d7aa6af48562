//! Readers, one file per layout, and what they have in common.

mod options;
mod source;
mod text;
mod tu;

pub use options::{NodeFeatures, ReadOptions};
pub use tu::read_tu;
