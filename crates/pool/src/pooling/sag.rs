//! SAG pooling: nodes scored by a graph convolution.

use candle_core::Var;
use egg_nn::{Init, Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::neighbours::sum_of_neighbours;
use super::project::project;
use super::select::{DEFAULT_RATIO, as_indices, best, check_ratio, gated, induced};
use super::sign::Sign;
use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::Result;
use crate::structure::Structure;

/// Settings of [`SagPooling`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sag {
    /// The share of nodes that stays; 0.5 by default.
    pub ratio: f64,
}

impl Default for Sag {
    fn default() -> Self {
        Self { ratio: DEFAULT_RATIO }
    }
}

impl PoolingSettings for Sag {
    const NAME: &'static str = "sag";

    fn validate(&self) -> Result<()> {
        check_ratio(Self::NAME, self.ratio)
    }

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(SagPooling::new(scope, features, self.ratio)?))
    }

    fn coarsens(&self) -> bool {
        true
    }
}

/// `y = tanh(+-(A H w_1 + b + H w_2))`, a graph convolution with one output; of
/// each graph the `ceil(ratio n)` nodes with the largest `y` stay, as `y_v h_v`,
/// with the edges among them. The readout is their mean.
///
/// As PyTorch Geometric's `SAGPooling` with its default `GraphConv`: edge weights
/// go along, but every edge counts 1 in the score. Order and ties are those of
/// [`TopKPooling`](crate::pooling::TopKPooling).
///
/// Parameters: `gnn.lin_rel.weight`, `gnn.lin_root.weight` (1 x m) and
/// `gnn.lin_rel.bias` (1), uniform on `+-1 / sqrt(m)` at first. Buffer:
/// `select.weight` (1 x 1), of which only the sign matters. PyTorch Geometric has
/// it among the parameters, where its gradient is 0, and where weight decay can
/// drive it through 0 and turn all scores around at once.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::{Parameters, Pass};
/// use egg_pool::pooling::SagPooling;
/// use egg_pool::{Pooling, Structure};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = GraphDataset::single("star", Graph::from_edges(4, &[(0, 1), (0, 2), (0, 3)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let pooling = SagPooling::new(&mut parameters.root(&mut rng), 8, 0.5)?;
/// let h = Tensor::ones((4, 8), DType::F32, &Device::Cpu)?.into();
/// let pooled = pooling.pool(&h, &structure, &mut Pass::Evaluation)?;
/// assert_eq!(pooled.readout.dims(), [1, 8]);
/// assert_eq!(pooled.coarser.unwrap().structure.node_count(), 2);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SagPooling {
    of_neighbours: Var,
    of_itself: Var,
    bias: Var,
    sign: Sign,
    features: usize,
    ratio: f64,
}

impl SagPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// As [`TopKPooling::new`](crate::pooling::TopKPooling::new).
    pub fn new(scope: &mut Scope<'_>, features: usize, ratio: f64) -> Result<Self> {
        check_features("sag", features)?;
        check_ratio("sag", ratio)?;
        let init = Init::linear(features);
        let mut gnn = scope.enter("gnn");
        let mut lin_rel = gnn.enter("lin_rel");
        let of_neighbours = lin_rel.parameter("weight", (1, features), init)?;
        let bias = lin_rel.parameter("bias", 1, init)?;
        let of_itself = gnn.enter("lin_root").parameter("weight", (1, features), init)?;
        Ok(Self {
            of_neighbours,
            of_itself,
            bias,
            sign: Sign::new(&mut scope.enter("select"))?,
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
        check_input("sag", h, structure, self.features, Some(self.bias.dtype()))?;
        let h = pass.input(h);
        // A (H w) = (A H) w, with one column to spread instead of m.
        let of_neighbours = project(&h, pass.parameter(&self.of_neighbours))?;
        let of_neighbours = sum_of_neighbours(of_neighbours, structure)?;
        let of_itself = project(&h, pass.parameter(&self.of_itself))?;
        let score = (of_neighbours + of_itself)?.broadcast_add(&pass.parameter(&self.bias))?;
        Ok(self.sign.apply(&score)?.tanh()?.into())
    }
}

impl Pooling for SagPooling {
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
