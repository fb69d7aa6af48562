//! PAN pooling: nodes scored by their features and by the paths that end there.

use candle_core::{Device, Tensor, Var};
use egg_nn::{Init, Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::paths::Paths;
use super::project::project;
use super::select::{DEFAULT_RATIO, as_indices, best, check_ratio, gated};
use super::sign::Sign;
use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::{Error, Result};
use crate::structure::Structure;

/// The longest paths that are looked at.
const MOST_STEPS: usize = 16;

/// Settings of [`PanPooling`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pan {
    /// The share of nodes that stays; 0.5 by default.
    pub ratio: f64,
    /// The longest paths L, in steps; 2 by default.
    pub filter_size: usize,
}

impl Default for Pan {
    fn default() -> Self {
        Self {
            ratio: DEFAULT_RATIO,
            filter_size: 2,
        }
    }
}

impl PoolingSettings for Pan {
    const NAME: &'static str = "pan";

    fn validate(&self) -> Result<()> {
        check_ratio(Self::NAME, self.ratio)?;
        check_filter_size(self.filter_size)
    }

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(PanPooling::new(
            scope,
            features,
            self.ratio,
            self.filter_size,
        )?))
    }

    fn coarsens(&self) -> bool {
        true
    }
}

/// `y = tanh(+-(beta_1 H p + beta_2 M^T 1))` with the maximal entropy transition
/// matrix
/// `M = Z^(-1/2) (sum_{k <= L} w_0 ... w_k A^k) Z^(-1/2)`; of each graph the
/// `ceil(ratio n)` nodes with the largest `y` stay, as `y_v h_v`. The readout is
/// their mean; the coarser graph is M among them, self loops included.
///
/// `A` counts every edge once, and `Z_v` is the number of entries in row v of the
/// sum: the nodes within L steps. That is PyTorch Geometric's `PANConv` (for M
/// alone) and `PANPooling`, whose order and ties are those of
/// [`TopKPooling`](crate::pooling::TopKPooling). Only in M's weights in the coarser graph no
/// gradient flows. No power of `A` is stored: the score takes L products with a
/// vector, the coarser graph walks from the kept nodes.
///
/// Parameters: `conv.weight` (L + 1, all 1/2 at first), `p` (m, all 1), `beta` (2,
/// all 1/2). Buffer: `select.weight` (1 x 1), of which only the sign matters; see
/// [`SagPooling`](crate::pooling::SagPooling).
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::{Parameters, Pass};
/// use egg_pool::pooling::PanPooling;
/// use egg_pool::{Pooling, Structure};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let pooling = PanPooling::new(&mut parameters.root(&mut rng), 1, 0.5, 1)?;
/// parameters.get("select.weight").unwrap().set(&Tensor::new(&[[1.0]], &Device::Cpu)?)?;
///
/// // M = ([1, 0; 0, 1] / 2 + [0, 1; 1, 0] / 4) / 2: columns sum to 3/8.
/// let h = Tensor::new(&[[1.0], [3.0]], &Device::Cpu)?;
/// let pooled = pooling.pool(&(&h).into(), &structure, &mut Pass::Evaluation)?;
/// let expected = 3.0 * (0.5f64 * 3.0 + 0.5 * 3.0 / 8.0).tanh();
/// assert!((pooled.readout.to_vec2::<f64>()?[0][0] - expected).abs() < 1e-14);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PanPooling {
    steps: Var,
    p: Var,
    beta: Var,
    sign: Sign,
    features: usize,
    ratio: f64,
    filter_size: usize,
}

impl PanPooling {
    /// For rows of `features` numbers and paths of up to `filter_size` = L steps.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`] unless `0 < ratio < 1`, `1 <= L <= 16` and there
    /// is a feature, [`Error::Layer`] if the scope has such parameters.
    pub fn new(scope: &mut Scope<'_>, features: usize, ratio: f64, filter_size: usize) -> Result<Self> {
        check_features("pan", features)?;
        check_ratio("pan", ratio)?;
        check_filter_size(filter_size)?;
        let half = Init::Normal {
            mean: 0.5,
            deviation: 0.0,
        };
        let mut conv = scope.enter("conv");
        Ok(Self {
            steps: conv.parameter("weight", filter_size + 1, half)?,
            p: scope.parameter("p", features, Init::Ones)?,
            beta: scope.parameter("beta", 2, half)?,
            sign: Sign::new(&mut scope.enter("select"))?,
            features,
            ratio,
            filter_size,
        })
    }

    /// The nodes that stay, graph by graph, in descending order.
    ///
    /// # Errors
    /// As [`Pooling::pool`].
    pub fn select(&self, h: impl Into<Tracked>, structure: &Structure) -> Result<Vec<usize>> {
        let scored = self.score(&h.into(), structure, &Pass::Evaluation)?;
        Ok(as_indices(&best(&scored.score, structure, self.ratio)?.0))
    }

    fn score(&self, h: &Tracked, structure: &Structure, pass: &Pass<'_>) -> Result<Scored> {
        check_input("pan", h, structure, self.features, Some(self.p.dtype()))?;
        let beta = pass.parameter(&self.beta);
        let p = pass.parameter(&self.p).broadcast_mul(&beta.narrow(0, 0, 1)?)?;
        let coefficients = cumulative_product(&pass.parameter(&self.steps))?;
        let of_paths = coefficients.broadcast_mul(&beta.narrow(0, 1, 1)?)?;

        let paths = Paths::new(structure, self.filter_size);
        let shape = (structure.node_count(), self.filter_size + 1);
        let sums =
            Tensor::from_vec(paths.column_sums(structure), shape, &Device::Cpu)?.to_dtype(h.dtype())?;
        let score = (project(pass.input(h), p)? + project(sums, of_paths)?)?;
        let coefficients = coefficients.detach().to_dtype(candle_core::DType::F64)?;
        Ok(Scored {
            score: self.sign.apply(&score)?.tanh()?.into(),
            coefficients: coefficients.to_vec1()?,
            paths,
        })
    }
}

struct Scored {
    score: Tracked,
    /// `w_0 ... w_k`.
    coefficients: Vec<f64>,
    paths: Paths,
}

fn check_filter_size(filter_size: usize) -> Result<()> {
    if (1..=MOST_STEPS).contains(&filter_size) {
        return Ok(());
    }
    Err(Error::PoolingParameter {
        pooling: "pan",
        name: "filter_size",
        value: filter_size as f64,
        requirement: "paths have from 1 to 16 steps",
    })
}

/// `w_0, w_0 w_1, w_0 w_1 w_2, ...`
fn cumulative_product(w: &Tensor) -> candle_core::Result<Tensor> {
    let mut products = vec![w.narrow(0, 0, 1)?];
    for k in 1..w.dim(0)? {
        let next = (&products[k - 1] * w.narrow(0, k, 1)?)?;
        products.push(next);
    }
    Tensor::cat(&products, 0)
}

impl Pooling for PanPooling {
    fn width(&self) -> usize {
        self.features
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        let Scored {
            score,
            coefficients,
            paths,
        } = self.score(h, structure, pass)?;
        gated(pass.input(h), score, structure, self.ratio, |kept, offsets| {
            paths.restricted(structure, &coefficients, kept, offsets)
        })
    }
}
