//! Files that are there whole or not at all: what `egg-files` has.

pub use egg_files::{check, write, write_with};
