//! How an autoencoder is trained.

use candle_core::DType;
use egg_nn::{AdamConfig, Decay};
use serde::{Deserialize, Serialize};

use super::encoder::EncoderConfig;
use crate::error::{Result, require};

/// Which pairs of nodes the loss looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
pub enum Precision {
    /// f32.
    #[default]
    Single,
    /// f64.
    Double,
}

impl Precision {
    /// The same, as candle says it.
    pub fn dtype(self) -> DType {
        match self {
            Self::Single => DType::F32,
            Self::Double => DType::F64,
        }
    }
}

/// Stops when the validation AUC has not got better for a while, and goes back to
/// the best epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopEarly {
    /// How many validations in a row may be no better.
    pub patience: u64,
}

/// What an autoencoder is trained with. The default is the paper's.
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
    /// Which pairs the loss looks at.
    pub likelihood: Likelihood,
    /// What the divergence from the prior counts: the loss is the likelihood's
    /// plus `beta / n * mean_i KL_i`. Without effect on a GAE.
    pub beta: f64,
    /// Adam's.
    pub learning_rate: f64,
    /// How many steps, one on the whole graph each.
    pub epochs: u64,
    /// After how many epochs held-out edges are looked at, each time; never if
    /// 0 or if none are held out.
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
            // No allocation by a number in a file alone.
            let ok = (1..=1 << 16).contains(&width);
            require(ok, name, width, "a layer has 1 to 65536 columns")?;
        }
        require(
            self.stop_early.is_none() || self.validate_every > 0,
            "validate_every",
            self.validate_every,
            "early stopping goes by validations: it must be at least 1",
        )?;
        Ok(())
    }

    pub(super) fn adam(&self) -> AdamConfig {
        AdamConfig::new(self.learning_rate, Decay::L2(0.0))
    }
}
