//! `f(S) X`, known by its products.

use egg_graph::Features;
use ndarray::Array2;

use super::filter::Filter;
use crate::egg::{DenseMap, LinearMap, SparseMap};
use crate::error::Result;
use crate::normalised::Normalised;
use crate::tall;

/// The matrix that is smoothed.
pub(super) enum Signal {
    Sparse(SparseMap),
    Dense(DenseMap<f32>),
    /// The n x n identity, for graphs without features.
    Identity(usize),
}

impl Signal {
    pub(super) fn new(features: &Features) -> Result<Self> {
        Ok(match (features.as_sparse(), features.as_dense()) {
            _ if features.width() == 0 => Self::Identity(features.rows()),
            (Some(matrix), _) => Self::Sparse(SparseMap::new(matrix.clone())?),
            (None, Some(matrix)) => Self::Dense(DenseMap::new(matrix)?),
            // One-hot rows.
            (None, None) => Self::Dense(DenseMap::new(features.to_dense().view())?),
        })
    }

    pub(super) fn width(&self) -> usize {
        match self {
            Self::Sparse(map) => map.shape().1,
            Self::Dense(map) => map.shape().1,
            Self::Identity(nodes) => *nodes,
        }
    }

    fn apply(&self, x: &Array2<f64>) -> Result<Array2<f64>> {
        match self {
            Self::Sparse(map) => map.apply(x),
            Self::Dense(map) => map.apply(x),
            Self::Identity(_) => Ok(x.clone()),
        }
    }

    fn apply_transposed(&self, y: Array2<f64>) -> Result<Array2<f64>> {
        match self {
            Self::Sparse(map) => map.apply_transposed(&y),
            Self::Dense(map) => map.apply_transposed(&y),
            Self::Identity(_) => Ok(y),
        }
    }
}

/// `f(S) X`, never formed.
pub(super) struct SmoothMap<'a> {
    pub(super) matrix: &'a Normalised<'a>,
    pub(super) filter: Filter,
    pub(super) steps: usize,
    pub(super) signal: &'a Signal,
}

impl SmoothMap<'_> {
    fn smooth(&self, y: Array2<f64>) -> Array2<f64> {
        let (rows, width) = y.dim();
        let numbers = match y.is_standard_layout() {
            true => y.into_raw_vec_and_offset().0,
            false => y.iter().copied().collect(),
        };
        tall::matrix(
            self.filter.apply(self.matrix, self.steps, width, numbers),
            rows,
            width,
        )
    }
}

impl LinearMap for SmoothMap<'_> {
    type Scalar = f32;

    fn shape(&self) -> (usize, usize) {
        (self.matrix.nodes(), self.signal.width())
    }

    fn apply(&self, x: &Array2<f64>) -> Result<Array2<f64>> {
        Ok(self.smooth(self.signal.apply(x)?))
    }

    fn apply_transposed(&self, y: &Array2<f64>) -> Result<Array2<f64>> {
        // f(S) is symmetric.
        self.signal.apply_transposed(self.smooth(y.clone()))
    }
}
