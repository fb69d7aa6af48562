//! Several poolings of the same nodes, side by side.

use candle_core::Tensor;
use egg_autodiff::RankRule;
use egg_nn::{Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::{Pooled, Pooling, PoolingConfig, PoolingSettings, check_input};
use crate::error::{Error, Result};
use crate::structure::Structure;

/// Settings of [`ConcatPooling`]: `concat:parts=avg+egg`,
/// `concat:parts=avg+[soft-egg:resolvent=2.0]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Concat {
    /// The poolings, from left to right; mean and EGG by default.
    pub parts: Vec<PoolingConfig>,
}

impl Default for Concat {
    fn default() -> Self {
        Self {
            parts: vec![super::Avg.into(), super::Egg::default().into()],
        }
    }
}

impl PoolingSettings for Concat {
    const NAME: &'static str = "concat";

    fn validate(&self) -> Result<()> {
        let refuse = |reason: &str| {
            Err(Error::Component {
                kind: Self::NAME.to_owned(),
                reason: reason.to_owned(),
            })
        };
        if self.parts.is_empty() {
            return refuse("parts is empty; name at least one pooling");
        }
        if let Some(part) = self.parts.iter().find(|part| part.coarsens()) {
            return refuse(&format!(
                "{} makes smaller graphs, of which there can be only one; name poolings that only read out",
                part.name()
            ));
        }
        self.parts.iter().try_for_each(PoolingConfig::validate)
    }

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for (index, part) in self.parts.iter().enumerate() {
            parts.push(part.build(&mut scope.enter(index), features)?);
        }
        Ok(Box::new(ConcatPooling { parts, features }))
    }

    fn width(&self, features: usize) -> usize {
        let widths = self.parts.iter().map(|part| part.width(features));
        widths.fold(0, usize::saturating_add)
    }

    fn threshold_mut(&mut self) -> Option<&mut f64> {
        self.parts.iter_mut().find_map(PoolingConfig::threshold_mut)
    }

    fn rank_rule(&self) -> Option<RankRule> {
        self.parts.iter().find_map(PoolingConfig::rank_rule)
    }

    /// Of each part that has such a rule.
    fn set_rank_rule(&mut self, rule: RankRule) -> Result<()> {
        let (mut is_set, mut refused) = (false, None);
        for part in &mut self.parts {
            match part.set_rank_rule(rule) {
                Ok(()) => is_set = true,
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) if !is_set => Err(error),
            _ => Ok(()),
        }
    }

    fn isometric_weights(&self, features: usize) -> Vec<f32> {
        let of_part = |part: &PoolingConfig| match part.isometric_weights(features) {
            weights if weights.is_empty() => vec![1.0; part.width(features)],
            weights => weights,
        };
        self.parts.iter().flat_map(of_part).collect()
    }
}

/// The rows of several poolings side by side: `[mean | egg]`. The ranks are those of
/// the first part that has some.
///
/// Parameters: those of the parts, named `0...`, `1...`.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::{Parameters, Pass};
/// use egg_pool::{PoolingConfig, Structure};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let both: PoolingConfig = "concat:parts=avg+egg".parse()?;
/// let pooling = both.build(&mut parameters.root(&mut rng), 2)?;
/// let h = Tensor::new(&[[2f32, 0.0], [0.0, 0.1]], &Device::Cpu)?.into();
/// let pooled = pooling.pool(&h, &structure, &mut Pass::Evaluation)?;
/// assert_eq!(pooled.readout.to_vec2::<f32>()?, [[1.0, 0.05, 1.0, 0.0, 0.0]]);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug)]
pub struct ConcatPooling {
    parts: Vec<Box<dyn Pooling>>,
    features: usize,
}

impl Pooling for ConcatPooling {
    fn width(&self) -> usize {
        self.parts.iter().map(|part| part.width()).sum()
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input(Concat::NAME, h, structure, self.features, None)?;
        let (mut rows, mut ranks) = (Vec::with_capacity(self.parts.len()), None);
        for part in &self.parts {
            let pooled = part.pool(h, structure, pass)?;
            ranks = ranks.or(pooled.ranks);
            rows.push(pooled.readout);
        }
        let readout = Tensor::cat(&rows.iter().map(Tracked::tensor).collect::<Vec<_>>(), 1)?;
        Ok(Pooled {
            ranks,
            ..readout.into()
        })
    }
}
