//! A virtual node: one vector per graph that all its nodes read and write.

use candle_core::Var;
use egg_nn::{Init, Mlp, MlpConfig, Pass, Scope, Tracked};

use super::matrix::SparseMatrix;
use super::spmm::spmm;
use crate::error::{Error, Result};

/// The virtual node of OGB's molecule models: before every layer its vector is
/// added to all nodes of its graph; between layers it becomes
/// `MLP(v + sum of the nodes)`.
///
/// Parameters: `embedding.weight` (1 x m, zeros), `mlps.0...` one MLP (m, 2m, m,
/// each with batch norm and ReLU) for every layer but the last.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::conv::VirtualNode;
/// use egg_nn::{Parameters, Pass};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let virtual_node = VirtualNode::new(&mut parameters.root(&mut rng).enter("virtual"), 4, 2)?;
/// let mut pass = Pass::Training(&mut rng);
///
/// let h = Tensor::ones((5, 4), DType::F32, &Device::Cpu)?;
/// let mut state = virtual_node.begin(&[0, 2, 5], &pass)?; // two graphs
/// let h = state.read(&h)?; // then a convolution, then
/// virtual_node.update(0, &mut state, &h, &mut pass)?;
/// assert_eq!(state.vectors().dims(), [2, 4]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct VirtualNode {
    embedding: Var,
    mlps: Vec<Mlp>,
}

/// The vectors of a batch's virtual nodes on their way through the layers.
#[derive(Debug, Clone)]
pub struct VirtualNodeState {
    vectors: Tracked,
    membership: SparseMatrix,
    sums: SparseMatrix,
}

impl VirtualNode {
    /// For `layers` convolutions of width `features`.
    ///
    /// # Errors
    /// [`Error::Layer`] if the width is 0 or the scope has such a layer.
    pub fn new(scope: &mut Scope<'_>, features: usize, layers: usize) -> Result<Self> {
        let embedding = scope
            .enter("embedding")
            .parameter("weight", (1, features), Init::Zeros)?;
        let config = MlpConfig {
            output_norm: true,
            output_relu: true,
            ..MlpConfig::new(&[features, 2 * features, features])
        };
        let mlps = (1..layers).map(|layer| Mlp::new(&mut scope.enter("mlps").enter(layer - 1), &config));
        Ok(Self {
            embedding,
            mlps: mlps.collect::<egg_nn::Result<_>>()?,
        })
    }

    /// The state before the first layer, for a batch with these offsets.
    ///
    /// # Errors
    /// As [`SparseMatrix::membership`].
    pub fn begin(&self, offsets: &[usize], pass: &Pass<'_>) -> Result<VirtualNodeState> {
        let membership = SparseMatrix::membership(offsets)?;
        let graphs = membership.shape().1;
        let copies = SparseMatrix::membership(&[0, graphs])?;
        Ok(VirtualNodeState {
            vectors: spmm(&copies, pass.parameter(&self.embedding))?,
            sums: membership.transposed(),
            membership,
        })
    }

    /// The state after layer `layer`, whose nodes were `nodes` when it began.
    ///
    /// # Errors
    /// [`Error::Parameter`] if no update follows this layer,
    /// [`Error::Length`] if the nodes are not those of the batch.
    pub fn update(
        &self,
        layer: usize,
        state: &mut VirtualNodeState,
        nodes: impl Into<Tracked>,
        pass: &mut Pass<'_>,
    ) -> Result<()> {
        let mlp = self.mlps.get(layer).ok_or_else(|| {
            Error::parameter("layer", layer, format!("there are {} updates", self.mlps.len()))
        })?;
        let sum = (spmm(&state.sums, nodes)? + &state.vectors)?;
        state.vectors = mlp.forward(&sum, pass)?;
        Ok(())
    }
}

impl VirtualNodeState {
    /// Adds each graph's vector to its nodes.
    ///
    /// # Errors
    /// [`Error::Candle`] if the nodes are not those of the batch.
    pub fn read(&self, nodes: impl Into<Tracked>) -> Result<Tracked> {
        Ok((nodes.into() + spmm(&self.membership, &self.vectors)?)?.into())
    }

    /// One row per graph.
    pub fn vectors(&self) -> &Tracked {
        &self.vectors
    }
}
