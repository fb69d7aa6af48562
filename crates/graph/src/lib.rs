//! Graphs from the benchmark formats, in CSR, batched and split for learning,
//! with graph convolutions for candle.
//!
//! ```
//! use egg_graph::{GraphBatch, Propagation, Split, batches, random_order};
//! use egg_graph::synthetic::CovarianceSet;
//! use rand::SeedableRng;
//! use rand_chacha::ChaCha8Rng;
//!
//! let mut rng = ChaCha8Rng::seed_from_u64(0);
//! let dataset = CovarianceSet::default().generate(&mut rng)?; // or DataSource::detect(path)?.load(...)
//! let split = Split::random(dataset.len(), &mut rng);
//! let propagation = Propagation::gcn(&dataset); // normalised once
//! for chosen in batches(&random_order(split.train.len(), &mut rng), 32) {
//!     let graphs: Vec<usize> = chosen.iter().map(|index| split.train[*index]).collect();
//!     let batch = GraphBatch::new(&dataset, &graphs)?;
//!     let a = propagation.batch(&graphs)?; // block-diagonal, sparse
//!     assert_eq!(a.shape().0, batch.node_count());
//! }
//! # Ok::<(), egg_graph::Error>(())
//! ```
//!
//! # From files to data sets
//!
//! | layout | reader | what is special |
//! |---|---|---|
//! | TU text, folder or zip | [`read_tu`], [`write_tu`] | streams; labels from any number; duplicate rows; isolated nodes |
//! | Planetoid | [`read_planetoid`] | a closed [pickle] reader: data only, nothing is run |
//! | gnn-benchmark npz | [`read_gnn_benchmark`] | object arrays are never opened |
//! | Wiki-CS | [`read_wiki_cs`] | 20 splits |
//! | OGB csv.gz | [`read_ogb`] | edges in one direction; the scaffold split |
//! | edge list, npy or csv features, labels | [`EdgeListSource`], [`write_edge_list`] | names or numbers, with or without header |
//! | many graphs in tables | [`read_graph_tables`] | `edges.csv`, `nodes.csv`, `graphs.csv` in a folder |
//!
//! [`DataSource`] finds out which one it is, and loads through a [`Cache`] (benchmarks by
//! their names are found by the crate `egg-datasets`). Every reader gives a
//! [`GraphDataset`]: undirected graphs with sorted, distinct neighbours, self
//! loops removed unless asked for (their number is [noted](EdgeNotes)), as
//! PyTorch Geometric reads the same files. Bad input is an [`Error`] that names
//! the file and the line; nothing is allocated by a number in a file alone.
//!
//! # Features
//!
//! | feature | what | needs |
//! |---|---|---|
//! | `conv` (default) | the module `conv`: GCN, GIN, jumping knowledge, virtual node | candle |
//!
//! Without it this crate reads, transforms, splits and batches, and knows
//! nothing of neural networks.
//!
//! # Randomness
//!
//! A generator is always passed in. Splits and orders drawn from the same seed
//! are the same on every platform and number of threads.

// Input is never trusted: what may fail returns an error. Exceptions say why.
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "numbers that tests make up"
    )
)]

mod adjacency;
mod batch;
mod cache;
#[cfg(feature = "conv")]
pub mod conv;
mod dataset;
mod draw;
mod error;
mod feature_columns;
mod features;
mod graph;
mod labels;
mod layout;
mod load;
mod petgraph;
mod propagated;
mod propagation;
mod read;
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
pub use feature_columns::{FeatureColumn, UnseenCategory};
pub use features::{Features, MAX_FEATURES};
pub use graph::{Graph, GraphView};
pub use labels::{Labels, Targets};
pub use layout::Layout;
pub use load::{DataSource, Loaded, NamedDataset};
pub use propagated::PropagatedFeatures;
pub use propagation::Propagation;
pub use read::{
    ColumnNotes, EdgeList, EdgeListSource, ElementType, GraphTables, Header, NodeFeatures, NodeIds, Npz,
    NumpyArray, ReadNotes, ReadOptions, Role, TableNotes, TableOptions, UNPACKED_ALWAYS, UNPACKED_RATIO,
    WikiCs, pickle, read_gnn_benchmark, read_graph_tables, read_npy, read_ogb, read_planetoid, read_tu,
    read_wiki_cs, read_wiki_cs_splits, write_edge_list, write_labels, write_npy,
};
pub use sparse::CsrMatrix;
pub use split::{LinkPart, LinkSplit, Split};
pub use transform::OGB_ATOM_CARDINALITIES;
pub use write::write_tu;

/// Runs the example of the package's front page.
#[cfg(all(doctest, feature = "conv"))]
#[doc = include_str!("../README.md")]
struct FrontPage;
