//! TopK pooling: the nodes that lie furthest along a learned direction.

use candle_core::Var;
use egg_nn::{Init, Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::project::project;
use super::select::{DEFAULT_RATIO, as_indices, best, check_ratio, gated, induced};
use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::Result;
use crate::structure::Structure;

/// Added to the squared norm of the weights, which must not be 0; far below what
/// any trained weight has.
const TINY: f64 = 1e-30;

/// Settings of [`TopKPooling`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopK {
    /// The share of nodes that stays; 0.5 by default.
    pub ratio: f64,
}

impl Default for TopK {
    fn default() -> Self {
        Self { ratio: DEFAULT_RATIO }
    }
}

impl PoolingSettings for TopK {
    const NAME: &'static str = "topk";
    const ALIASES: &'static [&'static str] = &["top-k"];

    fn validate(&self) -> Result<()> {
        check_ratio(Self::NAME, self.ratio)
    }

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(TopKPooling::new(scope, features, self.ratio)?))
    }

    fn coarsens(&self) -> bool {
        true
    }
}

/// `y = tanh(H w / |w|)`; of each graph the `ceil(ratio n)` nodes with the
/// largest `y` stay, as `y_v h_v`, with the edges among them. The readout is
/// their mean.
///
/// As PyTorch Geometric's `TopKPooling`, down to the order of the nodes:
/// descending in `y`. Nodes with the same `y` are taken in the order of their
/// numbers, and there alone the result depends on how a graph's nodes are
/// numbered. (PyTorch Geometric does the same up to 16 nodes in a batch; beyond,
/// PyTorch's sort is not stable, and it takes any.) Edge weights go along, but have no influence.
///
/// Parameter: `select.weight` (1 x m, uniform on `+-1 / sqrt(m)` at first).
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::{Parameters, Pass};
/// use egg_pool::pooling::TopKPooling;
/// use egg_pool::{Pooling, Structure};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = GraphDataset::single("path", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let pooling = TopKPooling::new(&mut parameters.root(&mut rng), 2, 0.5)?;
/// parameters.get("select.weight").unwrap().set(&Tensor::new(&[[3.0, 0.0]], &Device::Cpu)?)?;
///
/// let h = Tensor::new(&[[1.0, 0.0], [-1.0, 2.0], [2.0, 5.0]], &Device::Cpu)?;
/// assert_eq!(pooling.select(&h, &structure)?, [2, 0]); // ceil(0.5 x 3) of them
/// let pooled = pooling.pool(&(&h).into(), &structure, &mut Pass::Evaluation)?;
/// let mean = (1f64.tanh() + 2.0 * 2f64.tanh()) / 2.0;
/// assert!((pooled.readout.to_vec2::<f64>()?[0][0] - mean).abs() < 1e-15);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TopKPooling {
    weight: Var,
    features: usize,
    ratio: f64,
}

impl TopKPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) unless
    /// `0 < ratio < 1`, [`Error::Layer`](crate::Error::Layer) if the scope has
    /// such a parameter.
    pub fn new(scope: &mut Scope<'_>, features: usize, ratio: f64) -> Result<Self> {
        check_features("topk", features)?;
        check_ratio("topk", ratio)?;
        let weight = scope
            .enter("select")
            .parameter("weight", (1, features), Init::linear(features))?;
        Ok(Self {
            weight,
            features,
            ratio,
        })
    }

    /// The nodes that stay, graph by graph, in descending order.
    ///
    /// # Errors
    /// As [`Pooling::pool`].
    pub fn select(&self, h: impl Into<Tracked>, structure: &Structure) -> Result<Vec<usize>> {
        let score = self.score(&h.into(), structure, &Pass::Evaluation)?;
        Ok(as_indices(&best(&score, structure, self.ratio)?.0))
    }

    fn score(&self, h: &Tracked, structure: &Structure, pass: &Pass<'_>) -> Result<Tracked> {
        check_input("topk", h, structure, self.features, Some(self.weight.dtype()))?;
        let weight = pass.parameter(&self.weight);
        let norm = weight.sqr()?.sum_all()?.affine(1.0, TINY)?.sqrt()?;
        Ok(project(pass.input(h), weight.broadcast_div(&norm)?)?
            .tanh()?
            .into())
    }
}

impl Pooling for TopKPooling {
    fn width(&self) -> usize {
        self.features
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        let score = self.score(h, structure, pass)?;
        gated(pass.input(h), score, structure, self.ratio, |kept, offsets| {
            induced(kept, structure, offsets)
        })
    }
}
