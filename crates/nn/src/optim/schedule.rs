//! A learning rate schedule: reduced when the loss stops improving.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What to build a [`Plateau`] from; PyTorch's defaults by [`Default`].
///
/// # Example
/// ```
/// // ReduceLROnPlateau(optimiser, factor=0.7, patience=5)
/// let config = egg_nn::PlateauConfig { factor: 0.7, patience: 5, ..Default::default() };
/// assert_eq!((config.threshold, config.min_rate), (1e-4, 0.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlateauConfig {
    /// What the rate is multiplied by, in `[0, 1)`.
    pub factor: f64,
    /// How many epochs in a row may bring no improvement before the rate falls.
    pub patience: u64,
    /// An improvement is a metric below `best * (1 - threshold)`.
    pub threshold: f64,
    /// The rate never falls below this.
    pub min_rate: f64,
}

impl Default for PlateauConfig {
    fn default() -> Self {
        Self {
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            min_rate: 0.0,
        }
    }
}

/// The rate is not reduced by less than this; PyTorch's `eps`.
const MIN_DECREASE: f64 = 1e-8;

/// Multiplies the learning rate by a factor when a metric, such as the
/// validation loss, has not fallen for some epochs: PyTorch's
/// `ReduceLROnPlateau` with mode `min`, a relative threshold and no cooldown.
///
/// A metric that is not finite is never an improvement.
///
/// # Example
/// ```
/// use egg_nn::{Plateau, PlateauConfig};
///
/// let config = PlateauConfig { factor: 0.5, patience: 1, ..Default::default() };
/// let mut plateau = Plateau::new(config)?;
/// let rates = [1.0, 0.9, 0.9, 0.9, 0.9, 0.9].map(|loss| plateau.next_rate(loss, 0.1));
/// // Two epochs without improvement, counted anew after each fall.
/// assert_eq!(rates, [0.1, 0.1, 0.1, 0.05, 0.1, 0.05]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    config: PlateauConfig,
    best: Option<f64>,
    bad_epochs: u64,
}

impl Plateau {
    /// A schedule that has seen nothing yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `0 <= factor < 1`, `0 <= threshold < 1` and
    /// `min_rate` is finite and at least 0.
    pub fn new(config: PlateauConfig) -> Result<Self> {
        for (name, value) in [("factor", config.factor), ("threshold", config.threshold)] {
            if !(0.0..1.0).contains(&value) {
                return Err(Error::Parameter {
                    name,
                    value,
                    requirement: "it must be at least 0 and below 1",
                });
            }
        }
        if !(config.min_rate >= 0.0 && config.min_rate.is_finite()) {
            return Err(Error::Parameter {
                name: "min_rate",
                value: config.min_rate,
                requirement: "it must be finite and at least 0",
            });
        }
        Ok(Self {
            config,
            best: None,
            bad_epochs: 0,
        })
    }

    /// The settings.
    pub fn config(&self) -> &PlateauConfig {
        &self.config
    }

    /// The best metric so far.
    pub fn best(&self) -> Option<f64> {
        self.best
    }

    /// Takes the metric of an epoch and the rate it was trained with, and gives
    /// the rate of the next.
    pub fn next_rate(&mut self, metric: f64, rate: f64) -> f64 {
        let better = match self.best {
            None => true,
            Some(best) => metric < best * (1.0 - self.config.threshold),
        };
        if better && metric.is_finite() {
            self.best = Some(metric);
            self.bad_epochs = 0;
        } else {
            self.bad_epochs = self.bad_epochs.saturating_add(1);
        }
        if self.bad_epochs <= self.config.patience {
            return rate;
        }
        self.bad_epochs = 0;
        let next = (rate * self.config.factor).max(self.config.min_rate);
        if rate - next > MIN_DECREASE { next } else { rate }
    }
}
