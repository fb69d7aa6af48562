//! The graph isomorphism network's convolution.

use candle_core::{Device, Tensor, Var};
use egg_nn::{Init, Mlp, MlpConfig, Pass, Scope, Tracked};

use super::input::NodeInput;
use super::matrix::SparseMatrix;
use super::spmm::gin_sum;
use crate::error::Result;

/// `H = MLP((1 + eps) X + A X)` with a learned `eps` that starts at 0 and `A`
/// from [`Propagation::sum`](crate::Propagation::sum), as PyTorch Geometric's
/// `GINConv(train_eps=True)`.
///
/// The MLP's first product is taken before the sum: the two commute, sparse
/// features stay sparse, and the sum is as narrow as the layer.
///
/// Parameters: `eps` (1), `nn.lins.0.weight`, ... as [`Mlp`] names them.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::conv::GinConv;
/// use egg_graph::{Graph, GraphDataset, Propagation};
/// use egg_nn::{Parameters, Pass};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = GraphDataset::single("path", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let layer = GinConv::new(&mut parameters.root(&mut rng).enter("conv1"), 2, 8)?;
/// let x = Tensor::ones((3, 2), DType::F32, &Device::Cpu)?;
/// let a = Propagation::sum(&dataset).matrix(&[0])?;
/// let h = layer.forward(&x.into(), &a, &mut Pass::Training(&mut rng))?;
/// assert_eq!(h.dims(), [3, 8]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GinConv {
    eps: Var,
    mlp: Mlp,
}

impl GinConv {
    /// A layer whose MLP is Linear, batch norm, ReLU, Linear, all of the
    /// output's width.
    ///
    /// # Errors
    /// [`crate::Error::Layer`] if a width is 0 or the scope has such a layer.
    pub fn new(scope: &mut Scope<'_>, in_features: usize, out_features: usize) -> Result<Self> {
        Self::with_mlp(scope, &MlpConfig::new(&[in_features, out_features, out_features]))
    }

    /// A layer with an MLP of one's own.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_mlp(scope: &mut Scope<'_>, config: &MlpConfig) -> Result<Self> {
        let eps = scope.parameter("eps", 1, Init::Zeros)?;
        let mlp = Mlp::new(&mut scope.enter("nn"), config)?;
        Ok(Self { eps, mlp })
    }

    /// n x in -> n x out.
    ///
    /// # Errors
    /// [`crate::Error::Length`] if the widths or the numbers of nodes differ.
    pub fn forward(&self, x: &NodeInput, adjacency: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
        let first = self.mlp.first_linear();
        x.check(first)?;
        let product = x.product(&pass.parameter(first.weight()), pass)?;
        let eps = pass.parameter(&self.eps);
        let bias = match first.bias() {
            Some(bias) => pass.parameter(bias),
            None => Tensor::zeros(first.out_features(), product.dtype(), &Device::Cpu)?.into(),
        };
        let sum = gin_sum(adjacency, product, eps, bias)?;
        Ok(self.mlp.after_first_linear(sum, pass)?)
    }
}
