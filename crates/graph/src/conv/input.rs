//! What a layer takes: a tensor from the layer before, or sparse features.

use candle_core::{DType, Device, Tensor};
use egg_nn::{Linear, Pass};

use super::matrix::SparseMatrix;
use super::sparse_linear::sparse_linear;
use crate::batch::GraphBatch;
use crate::error::{Error, Result};
use crate::features::Features;

/// One row per node: dense, as a tensor, or sparse, as bags of words and
/// one-hot labels are.
///
/// ```
/// use candle_core::{DType, Device};
/// use egg_graph::{Features, conv::NodeInput};
/// let input = NodeInput::from_features(&Features::one_hot(vec![2, 0], 3)?, DType::F32, &Device::Cpu)?;
/// assert_eq!((input.rows(), input.width()), (2, 3));
/// assert!(matches!(input, NodeInput::Sparse(_)));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum NodeInput {
    /// n x m.
    Dense(Tensor),
    /// n x m, constant.
    Sparse(SparseMatrix),
}

impl From<Tensor> for NodeInput {
    fn from(tensor: Tensor) -> Self {
        Self::Dense(tensor)
    }
}

impl NodeInput {
    /// Features as they are: sparse ones stay sparse.
    ///
    /// # Errors
    /// [`Error::Candle`] if the tensor can't be made.
    pub fn from_features(features: &Features, dtype: DType, device: &Device) -> Result<Self> {
        if let Some(matrix) = features.as_sparse() {
            return Ok(Self::Sparse(SparseMatrix::new(matrix.clone())));
        }
        let shape = (features.rows(), features.width());
        let numbers: Vec<f32> = features.as_dense().into_iter().flatten().copied().collect();
        let tensor = Tensor::from_vec(numbers, shape, device)?.to_dtype(dtype)?;
        Ok(Self::Dense(tensor))
    }

    /// The features of a batch.
    ///
    /// # Errors
    /// As [`Self::from_features`].
    pub fn from_batch(batch: &GraphBatch, dtype: DType, device: &Device) -> Result<Self> {
        Self::from_features(batch.features(), dtype, device)
    }

    /// n.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(tensor) => tensor.dims().first().copied().unwrap_or(0),
            Self::Sparse(matrix) => matrix.shape().0,
        }
    }

    /// m.
    pub fn width(&self) -> usize {
        match self {
            Self::Dense(tensor) => tensor.dims().last().copied().unwrap_or(0),
            Self::Sparse(matrix) => matrix.shape().1,
        }
    }

    /// The same numbers, off the tape.
    pub(super) fn detached(&self) -> Self {
        match self {
            Self::Dense(tensor) => Self::Dense(tensor.detach()),
            Self::Sparse(matrix) => Self::Sparse(matrix.clone()),
        }
    }

    /// `x W^T` without the bias that the layer may have.
    pub(super) fn product(&self, linear: &Linear, pass: &mut Pass<'_>) -> Result<Tensor> {
        if self.width() != linear.in_features() {
            return Err(Error::Length {
                what: "node features",
                unit: "columns",
                expected: linear.in_features(),
                found: self.width(),
            });
        }
        match self {
            Self::Dense(tensor) => Ok(linear.product(tensor, pass)?),
            Self::Sparse(matrix) => sparse_linear(matrix, &pass.parameter(linear.weight())),
        }
    }
}
