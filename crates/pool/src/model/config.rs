//! All that a model is built from.

use candle_core::DType;
use egg_graph::conv::JumpingKnowledge;
use egg_nn::Scope;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::classifier::GraphClassifier;
use super::graph_model::{GraphModel, Model};
use super::head::HeadConfig;
use super::saved_config::SavedModelConfig;
use crate::convolution::ConvolutionConfig;
use crate::data::InputFeatures;
use crate::error::Result;
use crate::pooling::PoolingConfig;

/// The defaults of models with a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerDefaults {
    /// How many layers.
    pub count: usize,
    /// Whether a ReLU follows each.
    pub activation: bool,
    /// Which of them are read out, and how.
    pub jumping_knowledge: JumpingKnowledge,
}

impl Default for LayerDefaults {
    fn default() -> Self {
        Self {
            count: 2,
            activation: true,
            jumping_knowledge: JumpingKnowledge::Last,
        }
    }
}

/// All that a [`GraphClassifier`] is built from.
///
/// In a file, what is left out is the convolution's own [`LayerDefaults`] and 32 columns:
///
/// ```
/// use egg_pool::convolution::Gin;
/// use egg_pool::model::ModelConfig;
///
/// let config: ModelConfig = toml::from_str("convolution = 'gin'\npooling = 'egg'")?;
/// assert_eq!(config, ModelConfig::new(Gin, "egg".parse()?));
/// assert_eq!((config.layers, config.hidden), (4, 32));
/// let text = toml::to_string(&config)?;
/// assert_eq!(toml::from_str::<ModelConfig>(&text)?, config);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedModelConfig")]
pub struct ModelConfig {
    /// How many convolutions.
    pub layers: usize,
    /// Their width.
    pub hidden: usize,
    /// Whether a ReLU follows each convolution.
    pub activation: bool,
    /// Which layers are read out, and how: see [`GraphClassifier`].
    pub jumping_knowledge: JumpingKnowledge,
    /// Whether nodes are normalised over the batch before they are pooled. Not
    /// in the paper: it fixes the scale of what EGG decomposes.
    pub node_norm: bool,
    /// Whether features are encoded linearly, and graphs have a virtual node.
    pub virtual_node: bool,
    /// What is done with the features first.
    pub features: InputFeatures,
    /// Which convolution.
    pub convolution: ConvolutionConfig,
    /// How nodes become a graph's vector.
    pub pooling: PoolingConfig,
    /// What comes after.
    pub head: HeadConfig,
}

impl ModelConfig {
    /// The paper's usual: 2 layers of GCN, 4 of GIN, 32 hidden.
    pub fn new(convolution: impl Into<ConvolutionConfig>, pooling: PoolingConfig) -> Self {
        let convolution = convolution.into();
        let layers = convolution.layers();
        Self {
            layers: layers.count,
            hidden: 32,
            activation: layers.activation,
            jumping_knowledge: layers.jumping_knowledge,
            node_norm: false,
            virtual_node: false,
            features: InputFeatures::default(),
            convolution,
            pooling,
            head: HeadConfig::default(),
        }
    }

    /// Registers the layers, for nodes with `inputs` features and graphs with
    /// `outputs` scores.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) or [`egg_nn::Error::Parameter`] for a width
    /// of 0, no layers, a dropout outside [0, 1), or a model too large for any memory;
    /// those of the convolution and the pooling.
    pub fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn GraphModel>> {
        Ok(Box::new(GraphClassifier::new(scope, self, inputs, outputs)?))
    }

    /// [`Self::build`] in new parameters, whose first values come from `rng`.
    ///
    /// # Errors
    /// As [`Self::build`].
    ///
    /// ```
    /// use candle_core::DType;
    /// use egg_pool::convolution::Gin;
    /// use egg_pool::model::ModelConfig;
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    ///
    /// let config = ModelConfig::new(Gin, "sum".parse()?);
    /// let model = config.model(7, 2, DType::F32, &mut ChaCha8Rng::seed_from_u64(0))?;
    /// assert_eq!(model.network().inputs(), 7);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn model(&self, inputs: usize, outputs: usize, dtype: DType, rng: &mut ChaCha8Rng) -> Result<Model> {
        Model::build(dtype, rng, |scope| self.build(scope, inputs, outputs))
    }
}
