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
    #[error(
        "the graph of {nodes} nodes has no edge to train on; give one with edges, or split off fewer of them"
    )]
    NoEdges {
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A graph has no pair of nodes that is no edge.
    #[error(
        "the graph of {nodes} nodes is complete, so no pair can be sampled as a negative; use the exact likelihood"
    )]
    NoNonEdges {
        /// Nodes of the graph.
        nodes: usize,
    },
    /// An embedding is not one row per node.
    #[error(
        "the embedding has shape {found:?}, expected ({nodes}, d) with d > 0: one row per node of the target"
    )]
    EmbeddingShape {
        /// Nodes of the target.
        nodes: usize,
        /// The shape found.
        found: Vec<usize>,
    },
    /// A setting of training is outside its range.
    #[error("{name} = {value} is not allowed: {requirement}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        requirement: &'static str,
    },
    /// A data set is not one graph.
    #[error(
        "the data set has {graphs} graphs; the nodes of one graph are clustered, so take one with GraphDataset::subset"
    )]
    NotOneGraph {
        /// How many graphs there are.
        graphs: usize,
    },
    /// A pair of nodes is not of the graph.
    #[error("pair {pair} has node {node}, but there are {nodes} nodes")]
    Pair {
        /// Which pair.
        pair: usize,
        /// The node that is not there.
        node: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// The loss of an epoch is infinite or not a number.
    #[error("the loss of epoch {epoch} is {loss}; lower the learning rate, or normalise the features")]
    Diverged {
        /// The epoch, counted from 1.
        epoch: u64,
        /// The loss.
        loss: f64,
    },
    /// Whoever listened to the events wanted no more.
    #[error(
        "training was cancelled after {epochs} epochs; a checkpoint, if one was asked for, can be resumed from"
    )]
    Cancelled {
        /// Epochs that are done.
        epochs: u64,
    },
    /// A checkpoint is of another run.
    #[error("{} is the checkpoint of another run: {what} differs; remove it, or give each run a file of its own", path.display())]
    OtherRun {
        /// The file.
        path: std::path::PathBuf,
        /// What differs.
        what: &'static str,
    },
}
