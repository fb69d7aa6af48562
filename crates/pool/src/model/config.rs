//! All that a model is built from.

use std::fmt;
use std::str::FromStr;

use candle_core::DType;
use egg_nn::Scope;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::blind::BlindClassifier;
use super::gcn::GcnClassifier;
use super::gin::GinClassifier;
use super::graph_model::{GraphModel, Model};
use super::head::HeadConfig;
use crate::data::{Convolved, InputFeatures};
use crate::error::{Error, Result};
use crate::pooling::PoolingConfig;

/// Which convolutions.
///
/// ```
/// use egg_pool::model::Architecture;
/// assert_eq!("gin".parse::<Architecture>()?, Architecture::Gin);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// [`GcnClassifier`].
    Gcn,
    /// [`GinClassifier`].
    Gin,
    /// [`BlindClassifier`]: none, the control.
    Blind,
}

impl Architecture {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Gcn, Self::Gin, Self::Blind];

    /// As it is written in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gcn => "gcn",
            Self::Gin => "gin",
            Self::Blind => "blind",
        }
    }

    /// The matrices its convolutions multiply with.
    pub fn convolved(self) -> Convolved {
        match self {
            Self::Gcn => Convolved::Normalised,
            Self::Gin | Self::Blind => Convolved::Sum,
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Architecture {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "model",
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// A model, written down. [`ModelConfig::paper`] has the paper's for each data
/// set.
///
/// ```
/// use egg_pool::PoolingConfig;
/// use egg_pool::model::{Architecture, ModelConfig};
///
/// let config = ModelConfig::new(Architecture::Gcn, "egg".parse()?);
/// let text = toml::to_string(&config)?;
/// assert_eq!(toml::from_str::<ModelConfig>(&text)?, config);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Which convolutions.
    pub architecture: Architecture,
    /// How many.
    pub layers: usize,
    /// Their width.
    pub hidden: usize,
    /// Whether GCN's convolutions are rectified; else they are linear.
    #[serde(default = "yes")]
    pub rectify: bool,
    /// Whether nodes are normalised over the batch before they are pooled. Not
    /// in the paper: it fixes the scale of what EGG decomposes.
    #[serde(default)]
    pub node_norm: bool,
    /// Whether features are encoded linearly, and graphs have a virtual node.
    #[serde(default)]
    pub virtual_node: bool,
    /// What is done with the features first.
    #[serde(default)]
    pub features: InputFeatures,
    /// How nodes become a graph's vector.
    pub pooling: PoolingConfig,
    /// What comes after.
    #[serde(default)]
    pub head: HeadConfig,
}

fn yes() -> bool {
    true
}

impl ModelConfig {
    /// The paper's usual: 2 layers for GCN, 4 for GIN, 32 hidden.
    pub fn new(architecture: Architecture, pooling: PoolingConfig) -> Self {
        Self {
            architecture,
            layers: match architecture {
                Architecture::Gin => 4,
                Architecture::Gcn | Architecture::Blind => 2,
            },
            hidden: 32,
            rectify: true,
            node_norm: false,
            virtual_node: false,
            features: InputFeatures::default(),
            pooling,
            head: HeadConfig::default(),
        }
    }

    /// Whether there are no convolutions: the architecture or the pooling is the
    /// structure-blind control.
    pub fn is_blind(&self) -> bool {
        self.architecture == Architecture::Blind || self.pooling == PoolingConfig::Blind
    }

    /// Registers the layers, for nodes with `inputs` features and graphs with
    /// `outputs` scores.
    ///
    /// # Errors
    /// [`Error::Setting`] or [`egg_nn::Error::Parameter`] for a width of 0, no
    /// layers, a dropout outside [0, 1), or a model too large for any memory;
    /// those of the pooling.
    pub fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn GraphModel>> {
        self.check(inputs, outputs)?;
        Ok(match self.architecture {
            _ if self.is_blind() => Box::new(BlindClassifier::new(scope, self, inputs, outputs)?),
            Architecture::Gcn => Box::new(GcnClassifier::new(scope, self, inputs, outputs)?),
            Architecture::Gin => Box::new(GinClassifier::new(scope, self, inputs, outputs)?),
            Architecture::Blind => Box::new(BlindClassifier::new(scope, self, inputs, outputs)?),
        })
    }

    /// [`Self::build`] in new parameters, whose first values come from `rng`.
    ///
    /// # Errors
    /// As [`Self::build`].
    ///
    /// ```
    /// use candle_core::DType;
    /// use egg_pool::model::{Architecture, ModelConfig};
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    ///
    /// let config = ModelConfig::new(Architecture::Gin, "sum".parse()?);
    /// let model = config.model(7, 2, DType::F32, &mut ChaCha8Rng::seed_from_u64(0))?;
    /// assert_eq!(model.network().inputs(), 7);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn model(&self, inputs: usize, outputs: usize, dtype: DType, rng: &mut ChaCha8Rng) -> Result<Model> {
        Model::build(dtype, rng, |scope| self.build(scope, inputs, outputs))
    }
}
