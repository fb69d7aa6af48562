//! The graph convolution of Kipf and Welling.

use std::sync::Arc;

use candle_core::{Tensor, Var};
use egg_nn::{Init, Linear, Pass, Relayed, Scope};

use super::gcn_layer::Layer;
use super::input::NodeInput;
use super::matrix::SparseMatrix;
use super::propagate::propagate;
use super::propagated_layer::propagated_layer;
use crate::error::Result;
use crate::sparse::CsrMatrix;

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
/// let layer = GcnConv::new(&mut parameters.root(&mut rng).enter("conv1"), 2, 8)?;
/// let h = layer.forward_relu(&x, &propagation, &mut Pass::Training(&mut rng))?;
/// assert_eq!(h.dims(), [3, 8]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GcnConv {
    lin: Linear,
    bias: Option<Var>,
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
        Ok(Self { lin, bias: None })
    }

    /// n x in -> n x out.
    ///
    /// # Errors
    /// [`crate::Error::Length`] if the widths or the numbers of nodes differ.
    pub fn forward(&self, x: &NodeInput, propagation: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tensor> {
        self.apply(x, propagation, pass, false)
    }

    /// The same, rectified, in one operation.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn forward_relu(
        &self,
        x: &NodeInput,
        propagation: &SparseMatrix,
        pass: &mut Pass<'_>,
    ) -> Result<Tensor> {
        self.apply(x, propagation, pass, true)
    }

    fn apply(
        &self,
        x: &NodeInput,
        propagation: &SparseMatrix,
        pass: &mut Pass<'_>,
        rectify: bool,
    ) -> Result<Tensor> {
        match &self.bias {
            Some(bias) => self
                .layer(pass.parameter(bias), propagation, rectify)
                .apply(x, pass),
            None => propagate(propagation, &x.product(&self.lin, pass)?, rectify),
        }
    }

    /// The first of several layers whose results are [`Relayed`], n x in -> n x out: what
    /// [`Self::forward`] gives, or [`Self::forward_relu`] with `rectify`, and their
    /// gradients, in less time for large batches.
    ///
    /// ```
    /// use candle_core::{DType, Device};
    /// use egg_graph::conv::{GcnConv, NodeInput};
    /// use egg_graph::{Features, Graph, GraphDataset, Propagation};
    /// use egg_nn::{Parameters, Pass, Segments};
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
    /// let mut root = parameters.root(&mut rng);
    /// let first = GcnConv::new(&mut root.enter("conv1"), 2, 8)?;
    /// let second = GcnConv::new(&mut root.enter("conv2"), 8, 4)?;
    ///
    /// let mut pass = Pass::Training(&mut rng);
    /// let h = first.relay(&x, &propagation, &mut pass, true)?;
    /// let h = second.relay_on(&h, &propagation, &mut pass, true)?;
    /// let sums = Segments::new(&[0, 3])?.sum_relayed(&h)?.on_tape()?;
    /// let gradients = sums.sum_all()?.backward()?;
    /// assert!(parameters.trainable().all(|(_, parameter)| gradients.get(parameter).is_some()));
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn relay(
        &self,
        x: &NodeInput,
        propagation: &SparseMatrix,
        pass: &mut Pass<'_>,
        rectify: bool,
    ) -> Result<Relayed> {
        self.layer(self.bias_or_zeros(pass)?, propagation, rectify)
            .relay(x, pass)
    }

    /// [`Self::relay`] on features that were [propagated](crate::PropagatedFeatures) beforehand, n x in:
    /// the same to rounding, in less time.
    ///
    /// # Errors
    /// [`crate::Error::Length`] if the widths differ.
    pub fn relay_propagated(
        &self,
        ax: &Arc<CsrMatrix>,
        pass: &mut Pass<'_>,
        rectify: bool,
    ) -> Result<Relayed> {
        let weight = pass.parameter(self.lin.weight());
        propagated_layer(ax, &weight, &self.bias_or_zeros(pass)?, rectify)
    }

    /// The next of these layers. In evaluation there is no tape, whatever `x` has.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn relay_on(
        &self,
        x: &Relayed,
        propagation: &SparseMatrix,
        pass: &mut Pass<'_>,
        rectify: bool,
    ) -> Result<Relayed> {
        self.layer(self.bias_or_zeros(pass)?, propagation, rectify)
            .relay_on(x, pass)
    }

    fn bias_or_zeros(&self, pass: &Pass<'_>) -> Result<Tensor> {
        let weight = self.lin.weight();
        Ok(match &self.bias {
            Some(bias) => pass.parameter(bias),
            None => Tensor::zeros(self.lin.out_features(), weight.dtype(), weight.device())?,
        })
    }

    /// All of it in one operation.
    fn layer<'a>(&'a self, bias: Tensor, propagation: &'a SparseMatrix, rectify: bool) -> Layer<'a> {
        Layer {
            linear: &self.lin,
            bias,
            propagation,
            rectify,
        }
    }
}
