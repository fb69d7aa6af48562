//! What can go wrong, and what to do about it.

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
    /// Something of an operation on subspaces.
    #[error(transparent)]
    Embedding(#[from] egg_autodiff::Error),
    /// Something of the geometry.
    #[error(transparent)]
    Geometry(#[from] egg_geometry::Error),
    /// Something of a tensor.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
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

/// Refuses a setting unless it is as it should be.
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
