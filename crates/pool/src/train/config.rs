//! How to train.

use egg_nn::{AdamConfig, Decay, PlateauConfig, Reduction};
use serde::{Deserialize, Serialize};

use super::objective::Objective;
use crate::error::{Error, Result};
use crate::metrics::Metric;

/// How the losses of a batch become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchLoss {
    /// Added, as in the paper's code: weight decay then bites less by the size
    /// of the batch.
    Sum,
    /// Averaged.
    Mean,
}

impl From<BatchLoss> for Reduction {
    fn from(loss: BatchLoss) -> Self {
        match loss {
            BatchLoss::Sum => Self::Sum,
            BatchLoss::Mean => Self::Mean,
        }
    }
}

/// How the learning rate changes. (Not an `Option`: TOML can't say `None`.)
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RateSchedule {
    /// As it began.
    Constant,
    /// It falls when the validation loss does not.
    Plateau(PlateauConfig),
}

/// Everything about a run but the model, the data and the seed.
///
/// ```
/// use egg_pool::train::TrainConfig;
/// let config: TrainConfig = toml::from_str("learning_rate = 5e-3\nmax_epochs = 50")?;
/// assert_eq!((config.batch_size, config.patience), (32, 20)); // the rest as in the paper
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// The loss.
    pub objective: Objective,
    /// What the run is judged by; it plays no part in training.
    pub metric: Metric,
    /// Graphs per step. A last batch of one graph, which batch normalisation
    /// can't use, goes with the batch before it.
    pub batch_size: usize,
    /// At most so many epochs.
    pub max_epochs: u64,
    /// Stops after so many epochs without a better validation loss.
    pub patience: u64,
    /// Adam's rate at the start.
    pub learning_rate: f64,
    /// Adam's L2 decay.
    pub weight_decay: f64,
    /// How the rate falls.
    pub schedule: RateSchedule,
    /// Sum or mean over a batch.
    pub batch_loss: BatchLoss,
    /// Scales the gradient of a step to at most this norm.
    pub clip_norm: Option<f64>,
}

impl TrainConfig {
    /// The paper's: batches of 32, at most 200 epochs, patience 20, the rate
    /// times 0.7 after 5 epochs without a better validation loss, a summed
    /// loss. Of the rates and decays that the paper searches, those of the tables in
    /// `docs/RESULTS.md`: 5e-3 and 5e-4.
    pub fn paper() -> Self {
        Self {
            objective: Objective::CrossEntropy,
            metric: Metric::ACCURACY,
            batch_size: 32,
            max_epochs: 200,
            patience: 20,
            learning_rate: 5e-3,
            weight_decay: 5e-4,
            schedule: RateSchedule::Plateau(PlateauConfig {
                factor: 0.7,
                patience: 5,
                ..PlateauConfig::default()
            }),
            batch_loss: BatchLoss::Sum,
            clip_norm: None,
        }
    }

    /// The same with a mean loss.
    pub fn fair() -> Self {
        Self {
            batch_loss: BatchLoss::Mean,
            ..Self::paper()
        }
    }

    pub(crate) fn adam(&self) -> AdamConfig {
        AdamConfig::new(self.learning_rate, Decay::L2(self.weight_decay))
    }

    /// What the optimiser and the schedule don't check themselves.
    pub(crate) fn check(&self) -> Result<()> {
        if self.batch_size == 0 {
            return Err(Error::setting("batch_size", 0, "at least 1"));
        }
        if self.max_epochs == 0 {
            return Err(Error::setting("max_epochs", 0, "at least 1"));
        }
        if self.metric.of_classes() != self.objective.of_classes() {
            return Err(Error::setting(
                "metric",
                self.metric,
                format!("one that fits the loss {:?}", self.objective),
            ));
        }
        Ok(())
    }
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self::paper()
    }
}
