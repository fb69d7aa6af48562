//! A model's settings in files, those of earlier versions included.

use egg_graph::conv::JumpingKnowledge;
use serde::Deserialize;

use super::config::ModelConfig;
use super::head::HeadConfig;
use crate::convolution::{Blind, ConvolutionConfig};
use crate::data::InputFeatures;
use crate::error::Error;
use crate::pooling::{PoolingConfig, Sum};

/// [`ModelConfig`] as it may be written. What is left out has the convolution's defaults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedModelConfig {
    /// `architecture` in earlier versions.
    #[serde(alias = "architecture")]
    convolution: ConvolutionConfig,
    pooling: SavedPooling,
    layers: Option<usize>,
    hidden: Option<usize>,
    activation: Option<bool>,
    /// The activation in earlier versions, of GCN alone.
    rectify: Option<bool>,
    jumping_knowledge: Option<JumpingKnowledge>,
    #[serde(default)]
    node_norm: bool,
    #[serde(default)]
    virtual_node: bool,
    #[serde(default)]
    features: InputFeatures,
    #[serde(default)]
    head: HeadConfig,
}

/// A pooling, or what earlier versions called one: the control without convolutions.
#[derive(Deserialize)]
#[serde(from = "serde_json::Value")]
enum SavedPooling {
    Blind,
    Other(serde_json::Value),
}

impl From<serde_json::Value> for SavedPooling {
    fn from(value: serde_json::Value) -> Self {
        let name = value.get("kind").unwrap_or(&value).as_str();
        match name == Some("blind") {
            true => Self::Blind,
            false => Self::Other(value),
        }
    }
}

impl TryFrom<SavedModelConfig> for ModelConfig {
    type Error = Error;

    fn try_from(saved: SavedModelConfig) -> Result<Self, Error> {
        let (convolution, pooling) = match saved.pooling {
            SavedPooling::Blind => (Blind.into(), Sum.into()),
            SavedPooling::Other(value) => (saved.convolution, PoolingConfig::from_json(value)?),
        };
        let mut config = Self::new(convolution, pooling);
        // The earlier setting changed nothing where there was no activation.
        let rectify = saved.rectify.map(|rectify| rectify && config.activation);
        config.activation = saved.activation.or(rectify).unwrap_or(config.activation);
        config.layers = saved.layers.unwrap_or(config.layers);
        config.hidden = saved.hidden.unwrap_or(config.hidden);
        config.jumping_knowledge = saved.jumping_knowledge.unwrap_or(config.jumping_knowledge);
        config.node_norm = saved.node_norm;
        config.virtual_node = saved.virtual_node;
        config.features = saved.features;
        config.head = saved.head;
        Ok(config)
    }
}
