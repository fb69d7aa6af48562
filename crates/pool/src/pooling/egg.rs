//! EGG: the subspace that a graph's rows span.

use egg_autodiff::{Embedder, Flatten, RankRule};
use egg_nn::{Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::{Error, Result};
use crate::structure::Structure;

/// Where a cut is by default: the reference code's.
pub(super) const DEFAULT_CUT: f64 = 0.5;

/// Settings of [`EggPooling`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Egg {
    /// How many directions are kept; sigma > 0.5 by default.
    pub rank: RankRule,
    /// The plain upper triangle by default.
    pub flatten: Flatten,
}

impl Default for Egg {
    fn default() -> Self {
        Self {
            rank: RankRule::Threshold(DEFAULT_CUT),
            flatten: Flatten::default(),
        }
    }
}

impl PoolingSettings for Egg {
    const NAME: &'static str = "egg";

    fn validate(&self) -> Result<()> {
        self.rank
            .validate()
            .map_err(|error| Error::Embedding(error.into()))
    }

    fn build(&self, _scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(EggPooling::new(features, self.rank, self.flatten)?))
    }

    fn width(&self, features: usize) -> usize {
        Flatten::length(features)
    }

    fn threshold_mut(&mut self) -> Option<&mut f64> {
        self.rank.bound_mut()
    }

    fn rank_rule(&self) -> Option<RankRule> {
        Some(self.rank)
    }

    fn set_rank_rule(&mut self, rule: RankRule) -> Result<()> {
        self.rank = rule;
        Ok(())
    }

    fn isometric_weights(&self, features: usize) -> Vec<f32> {
        triangle_weights(self.flatten, features)
    }
}

/// What turns the distances of flattened triangles into those of the matrices: sqrt(2)
/// off the diagonal, unless [`Flatten::Isometric`] has it already.
pub(super) fn triangle_weights(flatten: Flatten, order: usize) -> Vec<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "1 or the root of 2, rounded")]
    let off_diagonal = (Flatten::Isometric.weight() / flatten.weight()) as f32;
    // Rows of the triangle, each from its diagonal on.
    let rows = (1..=order).rev();
    rows.flat_map(|length| (0..length).map(move |column| if column == 0 { 1.0 } else { off_diagonal }))
        .collect()
}

/// The upper triangle of `P = U_p U_p^T`, the projector on the leading p
/// directions of the rows of `H`: m (m + 1) / 2 numbers.
///
/// The ranks p are reported with the result. A graph without nodes, or with
/// zeros only, gives zeros and p = 0.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Flatten, RankRule};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::Pass;
/// use egg_pool::pooling::EggPooling;
/// use egg_pool::{Pooling, Structure};
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let pooling = EggPooling::new(2, RankRule::Threshold(0.5), Flatten::Upper)?;
/// let h = Tensor::new(&[[2f32, 0.0], [0.0, 0.1]], &Device::Cpu)?.into();
/// let pooled = pooling.pool(&h, &structure, &mut Pass::Evaluation)?;
/// assert_eq!(pooled.readout.to_vec2::<f32>()?, [[1.0, 0.0, 0.0]]);
/// assert_eq!(pooled.ranks, Some(vec![1]));
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EggPooling {
    embedder: Embedder,
    features: usize,
}

impl EggPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::Embedding`](crate::Error::Embedding) if the rule's number is
    /// outside its range, [`Error::PoolingParameter`](crate::Error::PoolingParameter)
    /// if there is no feature.
    pub fn new(features: usize, rank: RankRule, flatten: Flatten) -> Result<Self> {
        check_features("egg", features)?;
        let embedder = Embedder::new(rank, flatten)?;
        Ok(Self { embedder, features })
    }
}

impl Pooling for EggPooling {
    fn width(&self) -> usize {
        Flatten::length(self.features)
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input("egg", h, structure, self.features, None)?;
        let (readout, spectra) = self
            .embedder
            .embed_with_spectra(pass.input(h), structure.offsets())?;
        Ok(Pooled {
            ranks: Some(spectra.iter().map(|graph| graph.choice.p).collect()),
            ..readout.into()
        })
    }
}
