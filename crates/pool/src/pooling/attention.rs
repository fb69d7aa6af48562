//! Attention: a weighted mean whose weights are learned.

use candle_core::Var;
use egg_nn::{Init, Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::project::project;
use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::Result;
use crate::structure::Structure;

/// Settings of [`AttentionPooling`]: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention;

impl PoolingSettings for Attention {
    const NAME: &'static str = "attention";

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(AttentionPooling::new(scope, features)?))
    }
}

/// `sum_v a_v h_v` with `a = softmax(H w)` over the nodes of each graph.
///
/// As PyTorch Geometric's `AttentionalAggregation` with a `Linear(m, 1)` for a
/// gate. The gate's bias is left out: a softmax does not see what is added to
/// all. A graph without nodes gives zeros.
///
/// Parameter: `gate_nn.weight` (1 x m, uniform on `+-1 / sqrt(m)` at first).
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::{Parameters, Pass};
/// use egg_pool::pooling::AttentionPooling;
/// use egg_pool::{Pooling, Structure};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let pooling = AttentionPooling::new(&mut parameters.root(&mut rng), 1)?;
/// parameters.get("gate_nn.weight").unwrap().set(&Tensor::new(&[[3f64.ln()]], &Device::Cpu)?)?;
/// let h = Tensor::new(&[[0.0], [1.0]], &Device::Cpu)?; // weights 1/4 and 3/4
/// let pooled = pooling.pool(&(&h).into(), &structure, &mut Pass::Evaluation)?;
/// assert!((pooled.readout.to_vec2::<f64>()?[0][0] - 0.75).abs() < 1e-15);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AttentionPooling {
    weight: Var,
    features: usize,
}

impl AttentionPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) if there is no
    /// feature, [`Error::Layer`](crate::Error::Layer) if the scope has such a
    /// parameter.
    pub fn new(scope: &mut Scope<'_>, features: usize) -> Result<Self> {
        check_features("attention", features)?;
        let weight = scope
            .enter("gate_nn")
            .parameter("weight", (1, features), Init::linear(features))?;
        Ok(Self { weight, features })
    }
}

impl Pooling for AttentionPooling {
    fn width(&self) -> usize {
        self.features
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input(
            "attention",
            h,
            structure,
            self.features,
            Some(self.weight.dtype()),
        )?;
        let h = pass.input(h);
        let gate = project(&h, pass.parameter(&self.weight))?;
        let attention = structure.segments().softmax(gate)?;
        Ok(structure.weighted_sum(h, attention)?.into())
    }
}
