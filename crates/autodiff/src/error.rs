//! What can be wrong with an input, and what to do about it.

use candle_core::DType;
use thiserror::Error;

/// The result type of this crate.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{RankRule, Result, projector};
///
/// fn plane() -> Result<Tensor> {
///     projector(&Tensor::new(&[[1f64, 0.0], [0.0, 2.0]], &Device::Cpu)?, RankRule::Fixed(2))
/// }
/// assert!(plane().is_ok());
/// ```
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation refused its input.
///
/// Every variant carries the graph, the shape or the value at fault. Inside a
/// backward pass it arrives wrapped in a [`candle_core::Error`].
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Error, Flatten, RankRule, grassmann_embed};
///
/// let h = Tensor::new(&[[1f32, 0.0], [f32::NAN, 1.0]], &Device::Cpu)?;
/// let refused = grassmann_embed(&h, &[0, 1, 2], RankRule::Fixed(1), Flatten::Upper);
/// assert!(matches!(refused, Err(Error::InGraph { graph: 1, .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor is neither f32 nor f64, or not of the type its partner has.
    #[error("{what} is {found:?}, expected {expected}; convert it with Tensor::to_dtype")]
    DType {
        /// Which argument.
        what: &'static str,
        /// The type found.
        found: DType,
        /// The types that would do.
        expected: &'static str,
    },
    /// A tensor has the wrong shape.
    #[error("{what} has shape {found:?}, expected {expected}")]
    Shape {
        /// Which argument.
        what: &'static str,
        /// The shape found.
        found: Vec<usize>,
        /// The shape that would do.
        expected: String,
    },
    /// The offsets do not cut the rows into graphs.
    #[error(
        "offsets[{position}] = {value} is not allowed: {requirement}; graph g owns the rows \
         offsets[g]..offsets[g + 1], from 0 to the number of rows"
    )]
    Offsets {
        /// Which offset.
        position: usize,
        /// Its value.
        value: usize,
        /// What it must satisfy.
        requirement: String,
    },
    /// One graph (or matrix) of a batch was refused.
    #[error("graph {graph} of the batch: {source}")]
    InGraph {
        /// Its zero-based position.
        graph: usize,
        /// Why.
        source: Box<Error>,
    },
    /// A number is outside its range.
    #[error("{name} = {value} is not allowed: {requirement}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        requirement: &'static str,
    },
    /// The geometry refused it.
    #[error(transparent)]
    Geometry(#[from] egg_geometry::Error),
    /// A tensor operation failed.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}

impl Error {
    /// Says which graph of a batch an error belongs to.
    pub(crate) fn in_graph(self, graph: usize) -> Self {
        Self::InGraph {
            graph,
            source: Box::new(self),
        }
    }

    /// The error without the graph's index, for batches of one matrix.
    pub(crate) fn without_graph(self) -> Self {
        match self {
            Self::InGraph { source, .. } => *source,
            other => other,
        }
    }
}

/// For backward passes, and for `?` in models that return candle's result.
///
/// ```
/// use candle_core::Tensor;
/// use egg_autodiff::{Flatten, RankRule, grassmann_embed};
///
/// fn forward(nodes: &Tensor, offsets: &[usize]) -> candle_core::Result<Tensor> {
///     let h = nodes.tanh()?;
///     Ok(grassmann_embed(&h, offsets, RankRule::Fixed(2), Flatten::Isometric)?)
/// }
/// ```
impl From<Error> for candle_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Candle(error) => error,
            other => Self::wrap(other),
        }
    }
}
