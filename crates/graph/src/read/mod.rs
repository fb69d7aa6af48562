//! Readers, one file per layout, and what they have in common.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

mod csr;
mod edge_list;
mod gnn_benchmark;
mod notes;
mod npy;
mod npz;
mod numpy;
mod ogb;
mod options;
mod packed;
pub mod pickle;
mod planetoid;
mod source;
mod text;
mod tu;
mod whole;
mod wiki_cs;

pub use edge_list::{
    EdgeList, EdgeListSource, GraphTables, NodeIds, read_graph_tables, write_edge_list, write_labels,
};
pub(crate) use edge_list::{find_table, is_graph_tables};
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
