//! The graph convolution of Kipf and Welling.

use std::sync::Arc;

use candle_core::{Device, Tensor, Var};
use egg_nn::{Init, Linear, Pass, Scope, Tracked};
use egg_tensor::apply;

use super::gcn_layer::{DenseLayer, SparseInput, SparseLayer};
use super::input::NodeInput;
use super::matrix::SparseMatrix;
use super::spmm::{check_rows, propagate};
use crate::error::Result;

/// `H = A X W^T + b` with `A` from [`Propagation::gcn`](crate::Propagation::gcn),
/// as PyTorch Geometric's `GCNConv`.
///
/// Parameters: `lin.weight` (out x in, Glorot), `bias` (out, zeros).
///
/// ```
/// use candle_core::{DType, Device};
/// use egg_graph::conv::{GcnConv, NodeInput};
/// use egg_graph::{Features, Graph, GraphDataset, Propagation};
/// use egg_nn::{Parameters, Pass};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let graph = Graph::from_edges(3, &[(0, 1), (1, 2)])?.with_features(Features::one_hot(vec![0, 1, 0], 2)?)?;
/// let dataset = GraphDataset::single("path", graph);
/// let propagation = Propagation::gcn(&dataset).matrix(&[0])?;
/// let x = NodeInput::from_features(dataset.features(), DType::F32, &Device::Cpu)?;
///
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let layer = GcnConv::new(&mut parameters.root(&mut rng).enter("conv1"), 2, 8)?.with_relu();
/// let h = layer.forward(&x, &propagation, &mut Pass::Training(&mut rng))?;
/// assert_eq!(h.dims(), [3, 8]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GcnConv {
    lin: Linear,
    bias: Option<Var>,
    relu: bool,
}

impl GcnConv {
    /// A layer with a bias.
    ///
    /// # Errors
    /// [`crate::Error::Layer`] if a width is 0 or the scope has such a layer.
    pub fn new(scope: &mut Scope<'_>, in_features: usize, out_features: usize) -> Result<Self> {
        let mut layer = Self::without_bias(scope, in_features, out_features)?;
        layer.bias = Some(scope.parameter("bias", out_features, Init::Zeros)?);
        Ok(layer)
    }

    /// A layer without a bias, as a VGAE's encoder has them.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn without_bias(scope: &mut Scope<'_>, in_features: usize, out_features: usize) -> Result<Self> {
        let lin = Linear::with_weight(
            &mut scope.enter("lin"),
            in_features,
            out_features,
            Init::GlorotUniform,
        )?;
        Ok(Self {
            lin,
            bias: None,
            relu: false,
        })
    }

    /// The same layer with a [ReLU](egg_nn::relu()) behind it, in one operation.
    pub fn with_relu(mut self) -> Self {
        self.relu = true;
        self
    }

    /// n x in -> n x out.
    ///
    /// # Errors
    /// [`crate::Error::Length`] if the widths or the numbers of nodes differ.
    pub fn forward(&self, x: &NodeInput, propagation: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
        x.check(&self.lin)?;
        check_rows(propagation, x.rows())?;
        let weight = pass.parameter(self.lin.weight());
        let bias = self.bias.as_ref().map(|bias| pass.parameter(bias));
        let (relu, propagation) = (self.relu, propagation.clone());
        match (x, bias) {
            (NodeInput::Dense(x), Some(bias)) => {
                apply(DenseLayer { propagation, relu }, [pass.input(x), weight, bias])
            }
            (NodeInput::Sparse(features), Some(bias)) => {
                let input = SparseInput::Features(features.clone(), propagation);
                apply(SparseLayer { input, relu }, [weight, bias])
            }
            (NodeInput::Propagated(ax), bias) => {
                let zeros = || Tensor::zeros(self.lin.out_features(), weight.dtype(), &Device::Cpu);
                let bias = bias.map_or_else(|| zeros().map(Into::into), Ok)?;
                let input = SparseInput::Propagated(Arc::clone(ax));
                apply(SparseLayer { input, relu }, [weight, bias])
            }
            (x, None) => propagate(&propagation, x.product(&weight, pass)?, relu),
        }
    }
}
