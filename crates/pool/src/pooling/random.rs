//! Random pooling: a control that learns nothing of what it keeps.

use egg_graph::random_order;
use egg_nn::{Pass, Scope, Tracked};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, as_u32};
use super::select::{DEFAULT_RATIO, as_indices, check_ratio, induced, mean_of};
use super::sort_key::SortKey;
use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::Result;
use crate::structure::Structure;

/// Settings of [`RandomPooling`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Random {
    /// The share of nodes that stays; 0.5 by default.
    pub ratio: f64,
    /// Which nodes stay; repetitions should have seeds of their own.
    pub seed: u64,
}

impl Default for Random {
    fn default() -> Self {
        Self {
            ratio: DEFAULT_RATIO,
            seed: 0,
        }
    }
}

impl PoolingSettings for Random {
    const NAME: &'static str = "random";

    fn validate(&self) -> Result<()> {
        check_ratio(Self::NAME, self.ratio)
    }

    fn build(&self, _scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(RandomPooling::new(features, self.ratio, self.seed)?))
    }

    fn coarsens(&self) -> bool {
        true
    }
}

/// Of each graph `ceil(ratio n)` nodes stay, as they are, with the edges among
/// them; the readout is their mean.
///
/// The control of the fair protocol, as the fixed random assignments of Mesquita,
/// Souza and Kaski, *Rethinking pooling in graph neural networks* (2020): a
/// learned choice of nodes that is worth something does better than this one,
/// which has the same size and the same head.
///
/// Which nodes stay depends on the seed, the node count and the nodes' numbers,
/// never on rows or edges: it is the same in every epoch and in every batch. So,
/// unlike every other pooling here, it is **not** invariant under a renumbering
/// of the nodes (a choice that looks at nothing can't be); over seeds it is, in
/// distribution. Repetitions should have seeds of their own.
///
/// ```
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_pool::pooling::RandomPooling;
/// use egg_pool::Structure;
///
/// let dataset = GraphDataset::single("path", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let kept = RandomPooling::new(4, 0.5, 7)?.select(&structure);
/// assert_eq!(kept.len(), 2);
/// assert_eq!(kept, RandomPooling::new(8, 0.5, 7)?.select(&structure));
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RandomPooling {
    features: usize,
    ratio: f64,
    seed: u64,
}

impl RandomPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) unless
    /// `0 < ratio < 1` and there is a feature.
    pub fn new(features: usize, ratio: f64, seed: u64) -> Result<Self> {
        check_features("random", features)?;
        check_ratio("random", ratio)?;
        Ok(Self {
            features,
            ratio,
            seed,
        })
    }

    /// The nodes that stay, graph by graph, ascending.
    pub fn select(&self, structure: &Structure) -> Vec<usize> {
        as_indices(&self.kept(structure).0)
    }

    fn kept(&self, structure: &Structure) -> (Vec<u32>, Vec<usize>) {
        let (mut kept, mut offsets) = (Vec::new(), vec![0]);
        for range in structure.segments().ranges() {
            let n = range.len();
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(n as u64);
            let order = random_order(n, &mut rng);
            let from = kept.len();
            let chosen = order[..f64::share(self.ratio, n).min(n)].iter();
            kept.extend(chosen.map(|node| as_u32(range.start + node)));
            kept[from..].sort_unstable();
            offsets.push(kept.len());
        }
        (kept, offsets)
    }
}

impl Pooling for RandomPooling {
    fn width(&self) -> usize {
        self.features
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input("random", h, structure, self.features, None)?;
        let (kept, offsets) = self.kept(structure);
        let assignment = Assignment::of_single(kept, structure.node_count());
        let rows = assignment.sum(pass.input(h))?;
        mean_of(rows, induced(&assignment, structure, &offsets)?)
    }
}
