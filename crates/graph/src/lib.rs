//! Graphs from the benchmark formats, in CSR, batched and split for learning.

mod adjacency;
mod atomic;
mod batch;
mod cache;
#[cfg(feature = "conv")]
pub mod conv;
mod dataset;
mod draw;
mod error;
mod features;
mod graph;
mod labels;
mod layout;
mod load;
mod petgraph;
mod propagation;
mod read;
mod registry;
mod sparse;
mod split;
mod store;
pub mod synthetic;
mod transform;
mod write;

pub use adjacency::{EdgeNotes, MAX_NODES, SelfLoops};
pub use batch::{GraphBatch, batches};
pub use cache::{Cache, CacheUse};
pub use dataset::GraphDataset;
pub use draw::random_order;
pub use error::{Error, LineProblem, Result};
pub use features::Features;
pub use graph::{Graph, GraphView};
pub use labels::{Labels, Targets};
pub use layout::Layout;
pub use load::{DataSource, Loaded};
pub use propagation::Propagation;
pub use read::{
    EdgeList, EdgeListSource, ElementType, NodeFeatures, NodeIds, Npz, NumpyArray, ReadOptions, WikiCs,
    pickle, read_gnn_benchmark, read_npy, read_ogb, read_planetoid, read_tu, read_wiki_cs,
    read_wiki_cs_splits, write_edge_list, write_labels, write_npy,
};
pub use registry::{ArchiveEntry, Counts, DatasetEntry, FileEntry, Registry, Task};
pub use sparse::CsrMatrix;
pub use split::{LinkPart, LinkSplit, Split};
pub use transform::OGB_ATOM_CARDINALITIES;
pub use write::write_tu;
