//! What can go wrong, and what to do about it.

use thiserror::Error;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Something of the graphs.
    #[error(transparent)]
    Graph(#[from] egg_graph::Error),
    /// Something of a layer, a loss or an optimiser.
    #[error(transparent)]
    Layer(#[from] egg_nn::Error),
    /// Something of an operation on subspaces.
    #[error(transparent)]
    Embedding(#[from] egg_autodiff::Error),
    /// Something of the geometry.
    #[error(transparent)]
    Geometry(#[from] egg_geometry::Error),
    /// Something of a tensor.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
    /// A graph has no edges to learn from.
    #[error("the graph of {nodes} nodes has no edge to train on; give one with edges, or split off fewer of them")]
    NoEdges {
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A graph has no pair of nodes that is no edge.
    #[error("the graph of {nodes} nodes is complete, so no pair can be sampled as a negative; use the exact likelihood")]
    NoNonEdges {
        /// Nodes of the graph.
        nodes: usize,
    },
    /// An embedding is not one row per node.
    #[error("the embedding has shape {found:?}, expected ({nodes}, d) with d > 0: one row per node of the target")]
    EmbeddingShape {
        /// Nodes of the target.
        nodes: usize,
        /// The shape found.
        found: Vec<usize>,
    },
}
