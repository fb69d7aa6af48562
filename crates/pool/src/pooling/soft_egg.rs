//! Soft EGG: a smooth filter of the spectrum in the place of a cut.

use egg_autodiff::{Filter, Flatten, RankRule, SoftEmbedder};
use egg_nn::{Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::egg::{DEFAULT_CUT, triangle_weights};
use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::{Error, Result};
use crate::structure::Structure;

/// Settings of [`SoftEggPooling`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SoftEgg {
    /// What is done to the spectrum; the resolvent with r = 0.5 by default.
    pub filter: FilterConfig,
    /// The plain upper triangle by default.
    pub flatten: Flatten,
}

/// A spectral filter, by name.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FilterConfig {
    /// `lambda / (lambda + r^2)`, with r > 0.
    Resolvent(f64),
    /// `sqrt(lambda)`.
    Sqrt,
    /// `log(1 + lambda)`.
    Log1p,
}

impl Default for FilterConfig {
    fn default() -> Self {
        Self::Resolvent(DEFAULT_CUT)
    }
}

impl FilterConfig {
    /// The filter.
    ///
    /// # Errors
    /// [`Error::Embedding`](crate::Error::Embedding) unless r is positive and finite.
    pub fn filter(self) -> Result<Filter> {
        Ok(match self {
            Self::Resolvent(r) => Filter::resolvent(r)?,
            Self::Sqrt => Filter::sqrt(),
            Self::Log1p => Filter::log1p(),
        })
    }
}

impl PoolingSettings for SoftEgg {
    const NAME: &'static str = "soft-egg";

    fn validate(&self) -> Result<()> {
        self.filter.filter().map(|_| ())
    }

    fn build(&self, _scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(SoftEggPooling::new(
            features,
            self.filter.filter()?,
            self.flatten,
        )?))
    }

    fn width(&self, features: usize) -> usize {
        Flatten::length(features)
    }

    fn threshold_mut(&mut self) -> Option<&mut f64> {
        match &mut self.filter {
            FilterConfig::Resolvent(r) => Some(r),
            _ => None,
        }
    }

    /// The width of the resolvent, which a threshold stands for.
    fn set_rank_rule(&mut self, rule: RankRule) -> Result<()> {
        let RankRule::Threshold(r) = rule else {
            return Err(Error::Component {
                kind: Self::NAME.to_owned(),
                reason: format!("it has no cut but a width, so not {rule}; write threshold:X"),
            });
        };
        self.filter = FilterConfig::Resolvent(r);
        Ok(())
    }

    fn isometric_weights(&self, features: usize) -> Vec<f32> {
        triangle_weights(self.flatten, features)
    }
}

/// The upper triangle of `P_f = U f(lambda) U^T`, a smooth [`Filter`] of the
/// spectrum in the place of a cut: m (m + 1) / 2 numbers.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Filter, Flatten};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::Pass;
/// use egg_pool::pooling::SoftEggPooling;
/// use egg_pool::{Pooling, Structure};
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let pooling = SoftEggPooling::new(2, Filter::resolvent(1.0)?, Flatten::Upper)?;
/// let h = Tensor::new(&[[1f32, 0.0], [0.0, 2.0]], &Device::Cpu)?.into();
/// let pooled = pooling.pool(&h, &structure, &mut Pass::Evaluation)?;
/// assert_eq!(pooled.readout.to_vec2::<f32>()?, [[0.5, 0.0, 0.8]]);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SoftEggPooling {
    embedder: SoftEmbedder,
    features: usize,
}

impl SoftEggPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) if there is no
    /// feature.
    pub fn new(features: usize, filter: Filter, flatten: Flatten) -> Result<Self> {
        check_features("soft-egg", features)?;
        let embedder = SoftEmbedder::new(filter, flatten);
        Ok(Self { embedder, features })
    }
}

impl Pooling for SoftEggPooling {
    fn width(&self) -> usize {
        Flatten::length(self.features)
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input("soft-egg", h, structure, self.features, None)?;
        let readout = self.embedder.embed(pass.input(h), structure.offsets())?;
        Ok(readout.into())
    }
}
