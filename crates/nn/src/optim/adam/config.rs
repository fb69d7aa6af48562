//! The settings of Adam.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Weight decay.
///
/// # Example
/// ```
/// use egg_nn::Decay;
/// assert_ne!(Decay::L2(0.01), Decay::Decoupled(0.01));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decay {
    /// `weight * parameter` is added to the gradient, as PyTorch's `Adam` does
    /// with `weight_decay`: the decay goes through the moments.
    L2(f64),
    /// The parameter shrinks by the factor `1 - rate * weight` before the step,
    /// as in PyTorch's `AdamW`.
    Decoupled(f64),
}

impl Decay {
    /// The weight, of either kind.
    pub fn weight(self) -> f64 {
        match self {
            Self::L2(weight) | Self::Decoupled(weight) => weight,
        }
    }
}

/// What to build an [`Adam`](crate::Adam) from.
///
/// # Example
/// ```
/// use egg_nn::{AdamConfig, Decay};
///
/// // torch.optim.Adam(parameters, lr=1e-3, weight_decay=5e-4)
/// let config = AdamConfig::new(1e-3, Decay::L2(5e-4));
/// assert_eq!((config.beta1, config.beta2, config.epsilon), (0.9, 0.999, 1e-8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdamConfig {
    /// The learning rate, at least 0.
    pub learning_rate: f64,
    /// How much of the first moment is kept at each step, in `[0, 1)`.
    pub beta1: f64,
    /// How much of the second moment is kept at each step, in `[0, 1)`.
    pub beta2: f64,
    /// Added to the square root that is divided by, above 0.
    pub epsilon: f64,
    /// The decay, its weight at least 0.
    pub decay: Decay,
}

impl AdamConfig {
    /// PyTorch's betas (0.9, 0.999) and epsilon (1e-8).
    pub fn new(learning_rate: f64, decay: Decay) -> Self {
        Self {
            learning_rate,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            decay,
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_rate(self.learning_rate)?;
        for (name, value) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            if !(0.0..1.0).contains(&value) {
                let requirement = "it must be at least 0 and below 1";
                return Err(Error::Parameter {
                    name,
                    value,
                    requirement,
                });
            }
        }
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            return Err(Error::Parameter {
                name: "epsilon",
                value: self.epsilon,
                requirement: "it must be finite and above 0",
            });
        }
        let weight = self.decay.weight();
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(Error::Parameter {
                name: "decay",
                value: weight,
                requirement: "it must be finite and at least 0",
            });
        }
        Ok(())
    }
}

/// Refuses a learning rate that is negative or not finite.
pub(crate) fn check_rate(value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "learning_rate",
        value,
        requirement: "it must be finite and at least 0",
    })
}
