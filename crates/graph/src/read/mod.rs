//! Readers, one file per layout, and what they have in common.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

mod csr;
pub(crate) mod edge_list;
pub(crate) mod gnn_benchmark;
mod notes;
mod npy;
mod npz;
mod numpy;
pub(crate) mod ogb;
mod options;
mod packed;
pub mod pickle;
pub(crate) mod planetoid;
pub(crate) mod reader;
mod source;
mod text;
pub(crate) mod tu;
mod whole;
pub(crate) mod wiki_cs;

pub use edge_list::{
    EdgeList, EdgeListSource, GraphTables, NodeIds, read_graph_tables, write_edge_list, write_labels,
};
pub use gnn_benchmark::read_gnn_benchmark;
pub use notes::{ColumnNotes, ReadNotes, Role, TableNotes};
pub use npy::{read_npy, write_npy};
pub use npz::Npz;
pub use numpy::{ElementType, NumpyArray};
pub use ogb::read_ogb;
pub use options::{Header, NodeFeatures, ReadOptions, TableOptions};
pub use packed::{UNPACKED_ALWAYS, UNPACKED_RATIO};
pub use planetoid::read_planetoid;
pub use tu::read_tu;
pub use wiki_cs::{WikiCs, read_wiki_cs, read_wiki_cs_splits};
