//! What a layer takes: a tensor from the layer before, or sparse features.

use std::sync::Arc;

use candle_core::{DType, Device, Tensor};
use egg_nn::{Linear, Pass, Tracked, linear_product};
use egg_tensor::apply;

use super::gcn_layer::SparseProduct;
use super::matrix::SparseMatrix;
use crate::batch::GraphBatch;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::sparse::CsrMatrix;

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
    Dense(Tracked),
    /// n x m, constant.
    Sparse(SparseMatrix),
    /// n x m, constant: features that were [propagated](crate::PropagatedFeatures) beforehand. The
    /// first layer of a GCN takes them, and gives what it gives for the features themselves, to
    /// rounding, in less time.
    Propagated(Arc<CsrMatrix>),
}

impl<T: Into<Tracked>> From<T> for NodeInput {
    fn from(tensor: T) -> Self {
        Self::Dense(tensor.into())
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
        Ok(tensor.into())
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
            Self::Propagated(matrix) => matrix.shape().0,
        }
    }

    /// m.
    pub fn width(&self) -> usize {
        match self {
            Self::Dense(tensor) => tensor.dims().last().copied().unwrap_or(0),
            Self::Sparse(matrix) => matrix.shape().1,
            Self::Propagated(matrix) => matrix.shape().1,
        }
    }

    /// `x W^T + b`: a linear layer of whatever the input is.
    ///
    /// ```
    /// use candle_core::{DType, Device};
    /// use egg_graph::{Features, conv::NodeInput};
    /// use egg_nn::{Linear, Parameters, Pass};
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    ///
    /// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
    /// let linear = Linear::new(&mut parameters.root(&mut ChaCha8Rng::seed_from_u64(0)), 3, 8)?;
    /// let words = Features::one_hot(vec![2, 0], 3)?;
    /// let x = NodeInput::from_features(&words, DType::F32, &Device::Cpu)?;
    /// assert_eq!(x.linear(&linear, &mut Pass::Evaluation)?.dims(), [2, 8]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if the widths differ, [`Error::Propagated`] of features that were
    /// propagated.
    pub fn linear(&self, layer: &Linear, pass: &mut Pass<'_>) -> Result<Tracked> {
        self.check(layer)?;
        if let Self::Dense(x) = self {
            return Ok(layer.forward(x, pass)?);
        }
        let product = self.product(&pass.parameter(layer.weight()), pass)?;
        Ok(match layer.bias() {
            Some(bias) => product.broadcast_add(&pass.parameter(bias))?.into(),
            None => product,
        })
    }

    /// Refuses an input that is not for a layer.
    pub(super) fn check(&self, linear: &Linear) -> Result<()> {
        if self.width() != linear.in_features() {
            return Err(Error::Length {
                what: "node features",
                unit: "columns",
                expected: linear.in_features(),
                found: self.width(),
            });
        }
        let Self::Dense(tensor) = self else {
            return Ok(());
        };
        let (what, dtype) = ("node features".to_owned(), linear.weight().dtype());
        if tensor.dtype() != dtype {
            return Err(Error::Layer(egg_nn::Error::DType {
                what,
                found: tensor.dtype(),
                expected: dtype.as_str(),
            }));
        }
        match tensor.dims() {
            [_, _] => Ok(()),
            found => Err(Error::Layer(egg_nn::Error::Shape {
                what,
                found: found.to_vec(),
                expected: format!("(nodes, {})", linear.in_features()),
            })),
        }
    }

    /// `x W^T`.
    pub(super) fn product(&self, weight: &Tracked, pass: &Pass<'_>) -> Result<Tracked> {
        match self {
            Self::Dense(tensor) => Ok(linear_product(pass.input(tensor), weight)?),
            Self::Sparse(matrix) => {
                let features = matrix.clone();
                apply(SparseProduct { features }, [weight])
            }
            Self::Propagated(_) => Err(Error::Propagated),
        }
    }
}
