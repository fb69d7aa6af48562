//! Poolings by name, as configuration files have them.

use std::fmt;
use std::str::FromStr;

use egg_autodiff::{Filter, Flatten, RankRule};
use egg_nn::Scope;
use serde::{Deserialize, Serialize};

use super::pan::check_filter_size;
use super::select::{DEFAULT_RATIO, check_ratio};
use super::{
    AttentionPooling, EdgePooling, EggPooling, PanPooling, Pooling, RandomPooling, SagPooling,
    SegmentPooling, SoftEggPooling, TopKPooling, check_features,
};
use crate::error::{Error, Result};

/// The paths PAN looks at if nobody says otherwise.
const DEFAULT_FILTER_SIZE: usize = 2;

/// Where a cut is if nobody says otherwise: the reference code's.
const DEFAULT_CUT: f64 = 0.5;

/// Which pooling, and its settings.
///
/// In a file it is a name, for the defaults, or a table with `kind` and what
/// differs from them:
///
/// ```
/// use egg_autodiff::{Flatten, RankRule};
/// use egg_pool::PoolingConfig;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct File {
///     first: PoolingConfig,
///     second: PoolingConfig,
/// }
/// let file: File = toml::from_str(
///     r#"
///     first = "sum"
///     second = { kind = "egg", rank = { relative = 0.1 }, flatten = "isometric" }
///     "#,
/// )?;
/// assert_eq!(file.first, PoolingConfig::Sum);
/// let egg = PoolingConfig::Egg { rank: RankRule::Relative(0.1), flatten: Flatten::Isometric };
/// assert_eq!(file.second, egg);
/// assert_eq!(egg.width(64), 2080);
/// assert_eq!("topk".parse::<PoolingConfig>()?, PoolingConfig::TopK { ratio: 0.5 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PoolingConfig {
    /// [`EggPooling`].
    Egg {
        /// How many directions are kept; sigma > 0.5 by default.
        rank: RankRule,
        /// The plain upper triangle by default.
        flatten: Flatten,
    },
    /// [`SoftEggPooling`].
    SoftEgg {
        /// What is done to the spectrum.
        filter: FilterConfig,
        /// The plain upper triangle by default.
        flatten: Flatten,
    },
    /// [`SegmentPooling::sum`].
    Sum,
    /// [`SegmentPooling::avg`].
    Avg,
    /// [`SegmentPooling::max`].
    Max,
    /// [`AttentionPooling`].
    Attention,
    /// [`TopKPooling`].
    TopK {
        /// The share of nodes that stays, 0.5 by default.
        ratio: f64,
    },
    /// [`SagPooling`].
    Sag {
        /// The share of nodes that stays, 0.5 by default.
        ratio: f64,
    },
    /// [`EdgePooling`].
    Edge,
    /// [`PanPooling`].
    Pan {
        /// The share of nodes that stays, 0.5 by default.
        ratio: f64,
        /// The longest paths that count, 2 by default.
        filter_size: usize,
    },
    /// [`RandomPooling`], a control.
    Random {
        /// The share of nodes that stays, 0.5 by default.
        ratio: f64,
        /// Of the choice of nodes, 0 by default.
        seed: u64,
    },
    /// The structure-blind control: a model sums the features of the nodes
    /// themselves, without any convolution. The pooling in it is
    /// [`SegmentPooling::sum`]; that there is no convolution is the model's part.
    Blind,
}

/// What soft EGG does to the squared singular values `lambda`; see [`Filter`].
///
/// In a file: `{ resolvent = 0.5 }`, `"sqrt"` or `"log1p"`.
///
/// ```
/// use egg_pool::FilterConfig;
/// assert_eq!(serde_json::to_string(&FilterConfig::default())?, r#"{"resolvent":0.5}"#);
/// assert_eq!(serde_json::from_str::<FilterConfig>(r#""log1p""#)?, FilterConfig::Log1p);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// [`Error::Embedding`] unless r is positive and finite.
    pub fn filter(self) -> Result<Filter> {
        Ok(match self {
            Self::Resolvent(r) => Filter::resolvent(r)?,
            Self::Sqrt => Filter::sqrt(),
            Self::Log1p => Filter::log1p(),
        })
    }
}

impl Default for PoolingConfig {
    /// EGG with the reference code's cut.
    fn default() -> Self {
        Self::Egg {
            rank: RankRule::Threshold(DEFAULT_CUT),
            flatten: Flatten::default(),
        }
    }
}

impl PoolingConfig {
    /// The names that [`FromStr`] takes.
    pub const NAMES: [&'static str; 12] = [
        "egg",
        "soft-egg",
        "sum",
        "avg",
        "max",
        "attention",
        "topk",
        "sag",
        "edge",
        "pan",
        "random",
        "blind",
    ];

    /// Every pooling with its defaults, in the order of [`Self::NAMES`].
    pub fn all() -> [Self; 12] {
        let (ratio, flatten) = (DEFAULT_RATIO, Flatten::default());
        [
            Self::default(),
            Self::SoftEgg {
                filter: FilterConfig::default(),
                flatten,
            },
            Self::Sum,
            Self::Avg,
            Self::Max,
            Self::Attention,
            Self::TopK { ratio },
            Self::Sag { ratio },
            Self::Edge,
            Self::Pan {
                ratio,
                filter_size: DEFAULT_FILTER_SIZE,
            },
            Self::Random { ratio, seed: 0 },
            Self::Blind,
        ]
    }

    /// The name, without the settings.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Egg { .. } => "egg",
            Self::SoftEgg { .. } => "soft-egg",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Max => "max",
            Self::Attention => "attention",
            Self::TopK { .. } => "topk",
            Self::Sag { .. } => "sag",
            Self::Edge => "edge",
            Self::Pan { .. } => "pan",
            Self::Random { .. } => "random",
            Self::Blind => "blind",
        }
    }

    /// How many columns a graph's row has, for nodes with `features` numbers: m (m +
    /// 1) / 2 for both EGGs, m for the others.
    pub fn width(&self, features: usize) -> usize {
        match self {
            Self::Egg { .. } | Self::SoftEgg { .. } => Flatten::length(features),
            _ => features,
        }
    }

    /// Whether the pooling makes coarser graphs.
    pub fn coarsens(&self) -> bool {
        matches!(
            self,
            Self::TopK { .. } | Self::Sag { .. } | Self::Edge | Self::Pan { .. } | Self::Random { .. }
        )
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`] or [`Error::Embedding`] if one is outside its
    /// range.
    ///
    /// ```
    /// use egg_pool::{Error, PoolingConfig};
    /// let refused = PoolingConfig::TopK { ratio: 1.5 }.validate();
    /// assert!(matches!(refused, Err(Error::PoolingParameter { name: "ratio", .. })));
    /// ```
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Egg { rank, .. } => rank.validate().map_err(|error| Error::Embedding(error.into())),
            Self::SoftEgg { filter, .. } => filter.filter().map(|_| ()),
            Self::TopK { ratio } | Self::Sag { ratio } | Self::Random { ratio, .. } => {
                check_ratio(self.name(), *ratio)
            }
            Self::Pan { ratio, filter_size } => {
                check_ratio("pan", *ratio)?;
                check_filter_size(*filter_size)
            }
            _ => Ok(()),
        }
    }

    /// The pooling of nodes with `features` numbers; parameters are registered in
    /// `scope`.
    ///
    /// # Errors
    /// As [`Self::validate`]; [`Error::PoolingParameter`] if there is no feature;
    /// [`Error::Layer`] if the scope has a pooling already.
    ///
    /// ```
    /// use candle_core::{DType, Device};
    /// use egg_nn::Parameters;
    /// use egg_pool::PoolingConfig;
    /// use rand::SeedableRng;
    /// use rand_chacha::ChaCha8Rng;
    ///
    /// let mut rng = ChaCha8Rng::seed_from_u64(0);
    /// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
    /// let config: PoolingConfig = "sag".parse()?;
    /// let pooling = config.build(&mut parameters.root(&mut rng).enter("pool"), 64)?;
    /// assert_eq!(pooling.width(), 64);
    /// assert!(parameters.get("pool.gnn.lin_rel.weight").is_some());
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        self.validate()?;
        check_features(self.name(), features)?;
        Ok(match self {
            Self::Egg { rank, flatten } => Box::new(EggPooling::new(features, *rank, *flatten)?),
            Self::SoftEgg { filter, flatten } => {
                Box::new(SoftEggPooling::new(features, filter.filter()?, *flatten)?)
            }
            Self::Sum | Self::Blind => Box::new(SegmentPooling::sum(features)?),
            Self::Avg => Box::new(SegmentPooling::avg(features)?),
            Self::Max => Box::new(SegmentPooling::max(features)?),
            Self::Attention => Box::new(AttentionPooling::new(scope, features)?),
            Self::TopK { ratio } => Box::new(TopKPooling::new(scope, features, *ratio)?),
            Self::Sag { ratio } => Box::new(SagPooling::new(scope, features, *ratio)?),
            Self::Edge => Box::new(EdgePooling::new(scope, features)?),
            Self::Pan { ratio, filter_size } => {
                Box::new(PanPooling::new(scope, features, *ratio, *filter_size)?)
            }
            Self::Random { ratio, seed } => Box::new(RandomPooling::new(features, *ratio, *seed)?),
        })
    }
}

impl FromStr for PoolingConfig {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let name = if name == "top-k" { "topk" } else { name };
        let mut all = Self::all().into_iter();
        all.find(|config| config.name() == name)
            .ok_or_else(|| Error::UnknownPooling {
                name: name.to_owned(),
                known: &Self::NAMES,
            })
    }
}

impl fmt::Display for PoolingConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
