//! The errors of this crate, each with a remedy.

use thiserror::Error;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to work on.
    #[error("{what} is empty: there must be at least one row and one column")]
    Empty {
        /// What is empty.
        what: &'static str,
    },
    /// Two things that belong together differ in length.
    #[error("{what} has {found} {unit}, expected {expected}")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// What is counted.
        unit: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A number that is NaN or infinite.
    #[error("{what} has {value} in row {row}, column {column}: every number must be finite")]
    NonFinite {
        /// What has it.
        what: &'static str,
        /// Zero-based.
        row: usize,
        /// Zero-based.
        column: usize,
        /// The number.
        value: f64,
    },
    /// A setting out of its range.
    #[error("{name} = {value}: {requirement}")]
    Setting {
        /// Which one.
        name: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        requirement: &'static str,
    },
    /// A measure that has no value for this input.
    #[error("{measure} is not defined: {reason}")]
    Undefined {
        /// Which measure.
        measure: &'static str,
        /// Why it has no value, and what to do.
        reason: &'static str,
    },
    /// Something of the graphs.
    #[error(transparent)]
    Graph(#[from] egg_graph::Error),
    /// Something of a layer, a loss or an optimiser.
    #[error(transparent)]
    Layer(#[from] egg_nn::Error),
    /// Something of the geometry.
    #[error(transparent)]
    Geometry(#[from] egg_geometry::Error),
    /// Something of a tensor.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
    /// A graph has no edges to learn from.
    #[error(
        "the graph of {nodes} nodes has no edge to train on; use one with edges, or hold out fewer of them"
    )]
    NoEdges {
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A graph has no pair of nodes that is no edge.
    #[error(
        "the graph of {nodes} nodes is complete: there is no pair without an edge to compare edges with; remove its weakest edges"
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
    /// An embedding is zero everywhere.
    #[error(
        "the embedding H of {nodes} nodes is zero, so they can't be distinguished: the features may all be zero, or training may have driven every weight there; use other features, lower the learning rate or train for fewer epochs"
    )]
    ZeroEmbedding {
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A data set is not one graph.
    #[error("the data set has {graphs} graphs, but the nodes of one graph are clustered: take one of them")]
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
    /// An observer cancelled.
    #[error(
        "training was cancelled after {epochs} epochs; a checkpoint, if one was asked for, can be resumed from"
    )]
    Cancelled {
        /// The number of finished epochs of the training.
        epochs: u64,
    },
    /// Overrides do not fit the settings.
    #[error("the overrides of the settings: {source}; use the keys and values of their JSON form")]
    Overrides {
        /// What does not fit.
        source: serde_json::Error,
    },
    /// A checkpoint is of another run.
    #[error("{} is the checkpoint of another run: {what} differs; remove it, or use a separate file for each run", path.display())]
    OtherRun {
        /// The file.
        path: std::path::PathBuf,
        /// What differs.
        what: &'static str,
    },
}

impl Error {
    pub(crate) fn setting(name: &'static str, value: impl ToString, requirement: &'static str) -> Self {
        Self::Setting {
            name,
            value: value.to_string(),
            requirement,
        }
    }
}

/// Returns [`Error::Setting`] unless `ok`.
pub(crate) fn require(
    ok: bool,
    name: &'static str,
    value: impl ToString,
    requirement: &'static str,
) -> Result<()> {
    if ok {
        return Ok(());
    }
    Err(Error::setting(name, value, requirement))
}
