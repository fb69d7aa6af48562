//! Writers of whole data sets.

mod tu;

pub use tu::write_tu;
