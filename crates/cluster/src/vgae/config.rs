//! How an autoencoder is trained.

use std::path::PathBuf;

use candle_core::DType;
use egg_nn::{AdamConfig, Decay};
use serde::{Deserialize, Serialize};

use super::encoder::EncoderConfig;
use crate::error::{Result, require};

/// The pairs of nodes that the loss is a sum over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Likelihood {
    /// All n^2 of them, weighted: [`exact_likelihood`](super::exact_likelihood).
    /// Time grows with n^2, memory with n.
    #[default]
    Exact,
    /// The edges and as many others, drawn anew in each epoch:
    /// [`sampled_likelihood`](super::sampled_likelihood). Linear in the edges.
    NegativeSampling,
}

/// The type of the model's numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Precision {
    /// f32.
    #[default]
    Single,
    /// f64.
    Double,
}

impl Precision {
    /// The corresponding type of candle.
    pub fn dtype(self) -> DType {
        match self {
            Self::Single => DType::F32,
            Self::Double => DType::F64,
        }
    }
}

/// Early stopping: training ends when the validation AUC has not improved for a while, and the
/// parameters of the best epoch are restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopEarly {
    /// The number of validations in a row without improvement after which training ends.
    pub patience: u64,
}

/// Where a training is saved while it runs, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointConfig {
    /// The file. A training whose file exists resumes from it.
    pub path: PathBuf,
    /// Epochs between two writes; 0 counts as 1. The file is also written at the end of the
    /// training and when it is cancelled.
    pub every: u64,
}

/// Settings of an autoencoder and its training. The default is the paper's.
///
/// ```
/// use egg_cluster::vgae::{AutoencoderConfig, Likelihood};
///
/// let paper = AutoencoderConfig::default();
/// assert_eq!((paper.epochs, paper.learning_rate, paper.likelihood), (200, 0.01, Likelihood::Exact));
/// let sampled: AutoencoderConfig = serde_json::from_str(r#"{"likelihood": "negative_sampling"}"#)?;
/// assert_eq!(sampled.epochs, 200);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoencoderConfig {
    /// The encoder.
    pub encoder: EncoderConfig,
    /// The pairs that the loss is a sum over.
    pub likelihood: Likelihood,
    /// The weight of the divergence from the prior: the loss is the likelihood's
    /// plus `beta / n * mean_i KL_i`. Without effect on a GAE.
    pub beta: f64,
    /// The learning rate of Adam.
    pub learning_rate: f64,
    /// The number of epochs, each one step on the whole graph.
    pub epochs: u64,
    /// Epochs between two validations on held-out edges; 0, or no held-out edges, means none.
    pub validate_every: u64,
    /// Whether to stop before the last epoch. Needs held-out edges.
    pub stop_early: Option<StopEarly>,
    /// f32 or f64.
    pub precision: Precision,
}

impl Default for AutoencoderConfig {
    fn default() -> Self {
        Self {
            encoder: EncoderConfig::default(),
            likelihood: Likelihood::Exact,
            beta: 1.0,
            learning_rate: 0.01,
            epochs: 200,
            validate_every: 10,
            stop_early: None,
            precision: Precision::Single,
        }
    }
}

impl AutoencoderConfig {
    pub(crate) fn check(&self) -> Result<()> {
        require(
            self.beta >= 0.0 && self.beta.is_finite(),
            "beta",
            self.beta,
            "it must be finite and at least 0",
        )?;
        for (name, width) in [("hidden", self.encoder.hidden), ("latent", self.encoder.latent)] {
            // A number in a file must not cause a huge allocation.
            let ok = (1..=1 << 16).contains(&width);
            require(ok, name, width, "a layer has 1 to 65536 columns")?;
        }
        require(
            self.stop_early.is_none() || self.validate_every > 0,
            "validate_every",
            self.validate_every,
            "early stopping needs validations: it must be at least 1",
        )?;
        Ok(())
    }

    pub(super) fn adam(&self) -> AdamConfig {
        AdamConfig::new(self.learning_rate, Decay::L2(0.0))
    }
}
