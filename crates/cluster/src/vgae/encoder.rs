//! The two-layer graph convolution that gives every node its latent vector.

use candle_core::Tensor;
use egg_graph::conv::{GcnConv, NodeInput, SparseMatrix};
use egg_nn::{Pass, Scope};
use serde::{Deserialize, Serialize};

use super::posterior::Posterior;
use crate::error::Result;

/// Settings of an encoder.
///
/// ```
/// use egg_cluster::vgae::EncoderConfig;
/// let paper = EncoderConfig::default();
/// assert_eq!((paper.hidden, paper.latent, paper.variational), (32, 16, true));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderConfig {
    /// Whether latent vectors are distributions (VGAE) or points (GAE).
    pub variational: bool,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// d, the width of a latent vector.
    pub latent: usize,
}

impl Default for EncoderConfig {
    fn default() -> Self {
        Self {
            variational: true,
            hidden: 32,
            latent: 16,
        }
    }
}

/// The encoder of a (variational) graph autoencoder of Kipf and Welling:
/// `H = relu(A X W_1^T)`, `mu = A H W_mu^T`, `log sigma = A H W_sigma^T`, without
/// biases, with Glorot weights; the decoder is the inner product.
///
/// Parameters: `conv1.lin.weight`, `conv_mu.lin.weight` and, for a VGAE,
/// `conv_logstd.lin.weight`, as PyTorch Geometric's examples name them.
///
/// ```
/// use candle_core::{DType, Device};
/// use egg_cluster::vgae::{EncoderConfig, GraphEncoder};
/// use egg_graph::conv::NodeInput;
/// use egg_graph::{Features, Graph, GraphDataset, Propagation};
/// use egg_nn::{Parameters, Pass};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let graph = Graph::from_edges(3, &[(0, 1), (1, 2)])?.with_features(Features::one_hot(vec![0, 1, 0], 2)?)?;
/// let dataset = GraphDataset::single("path", graph);
/// let x = NodeInput::from_features(dataset.features(), DType::F32, &Device::Cpu)?;
/// let a = Propagation::gcn(&dataset).matrix(&[0])?;
///
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let encoder = GraphEncoder::new(&mut parameters.root(&mut rng), 2, &EncoderConfig::default())?;
/// let h = encoder.embed(&x, &a)?; // the means
/// assert_eq!(h.dims(), [3, 16]);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphEncoder {
    first: GcnConv,
    mu: GcnConv,
    log_sigma: Option<GcnConv>,
}

impl GraphEncoder {
    /// An encoder of nodes with `features` features.
    ///
    /// # Errors
    /// [`Error::Graph`](crate::Error::Graph) if a width is 0.
    pub fn new(scope: &mut Scope<'_>, features: usize, config: &EncoderConfig) -> Result<Self> {
        let first = GcnConv::without_bias(&mut scope.enter("conv1"), features, config.hidden)?.with_relu();
        let mut head =
            |name: &str| GcnConv::without_bias(&mut scope.enter(name), config.hidden, config.latent);
        Ok(Self {
            first,
            mu: head("conv_mu")?,
            log_sigma: config.variational.then(|| head("conv_logstd")).transpose()?,
        })
    }

    /// The latent distributions of all nodes, from `x` (n x features) and the
    /// normalised adjacency ([`Propagation::gcn`](egg_graph::Propagation::gcn)).
    ///
    /// # Errors
    /// [`Error::Graph`](crate::Error::Graph) if the sizes don't fit.
    pub fn encode(
        &self,
        x: &NodeInput,
        propagation: &SparseMatrix,
        pass: &mut Pass<'_>,
    ) -> Result<Posterior> {
        let hidden = NodeInput::Dense(self.first.forward(x, propagation, pass)?);
        let mu = self.mu.forward(&hidden, propagation, pass)?;
        let log_sigma = match &self.log_sigma {
            Some(head) => Some(head.forward(&hidden, propagation, pass)?),
            None => None,
        };
        Posterior::new(mu, log_sigma)
    }

    /// The embedding `H` (n x d): the means, without a tape.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn embed(&self, x: &NodeInput, propagation: &SparseMatrix) -> Result<Tensor> {
        let pass = &mut Pass::Evaluation;
        let hidden = NodeInput::Dense(self.first.forward(x, propagation, pass)?);
        Ok(self.mu.forward(&hidden, propagation, pass)?.into())
    }
}
