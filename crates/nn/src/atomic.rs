//! Files that are there whole or not at all: what `egg-files` has.

pub use egg_files::{check, is_temporary, sweep, write, write_with};
