//! What can go wrong, and what to do about it.

use thiserror::Error;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The rows given to a pooling don't belong to the graphs, or have another
    /// width than it was built for.
    #[error(
        "the input of {pooling} pooling has shape {found:?}, expected ({rows}, {columns}): a row for each \
         node of the batch, a column for each feature the pooling was built for"
    )]
    PoolingInput {
        /// The pooling's name.
        pooling: &'static str,
        /// The shape found.
        found: Vec<usize>,
        /// Nodes of the batch.
        rows: usize,
        /// Features the pooling was built for.
        columns: usize,
    },
    /// A number of a pooling is outside its range.
    #[error("{name} = {value} is not allowed in {pooling} pooling: {requirement}")]
    PoolingParameter {
        /// The pooling's name.
        pooling: &'static str,
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        requirement: &'static str,
    },
    /// A setting that belongs to another pooling.
    #[error("{pooling} pooling has no setting {setting}; leave it out")]
    PoolingSetting {
        /// The pooling's name.
        pooling: &'static str,
        /// The setting.
        setting: &'static str,
    },
    /// No pooling has this name.
    #[error("there is no pooling {name:?}; the poolings are {}", known.join(", "))]
    UnknownPooling {
        /// The name asked for.
        name: String,
        /// The names that there are.
        known: &'static [&'static str],
    },
    /// Offsets and neighbours don't make undirected graphs side by side.
    #[error("not the structure of a batch: {problem}")]
    Structure {
        /// What is wrong, and where.
        problem: String,
    },
    /// Something of the graphs.
    #[error(transparent)]
    Graph(#[from] egg_graph::Error),
    /// Something of a layer, a loss or an optimiser.
    #[error(transparent)]
    Layer(#[from] egg_nn::Error),
    /// Something of the Grassmann embedding.
    #[error(transparent)]
    Embedding(#[from] egg_autodiff::Error),
    /// Something of a tensor.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}
