//! What training makes small.

use candle_core::{DType, Tensor};
use egg_graph::{GraphDataset, Targets};
use egg_nn::{Reduction, Tracked, cross_entropy, mae, mse};
use serde::{Deserialize, Serialize};

use crate::data::BatchTargets;
use crate::error::{Error, Result};
use crate::metrics::Metric;

/// The loss, and with it what kind of target is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Objective {
    /// Cross entropy of classes.
    CrossEntropy,
    /// The squared error of numbers.
    Mse,
    /// The absolute error of numbers.
    Mae,
}

impl Objective {
    /// The usual one for a data set: cross entropy for classes, the squared
    /// error for numbers.
    ///
    /// # Errors
    /// [`Error::Targets`] if the data set has no targets.
    pub fn from_dataset(dataset: &GraphDataset) -> Result<Self> {
        match dataset.targets() {
            Some(Targets::Classes(_)) => Ok(Self::CrossEntropy),
            Some(Targets::Values(_)) => Ok(Self::Mse),
            None => Err(Error::Targets {
                needed_by: "training".to_owned(),
                needed: "a class or a number for each graph",
                dataset: dataset.name().to_owned(),
                found: "no targets".to_owned(),
            }),
        }
    }

    /// Whether classes are learnt rather than numbers.
    pub fn of_classes(self) -> bool {
        self == Self::CrossEntropy
    }

    /// What a run with this loss is usually judged by.
    pub fn metric(self) -> Metric {
        match self {
            Self::CrossEntropy => Metric::ACCURACY,
            Self::Mse => Metric::RMSE,
            Self::Mae => Metric::MAE,
        }
    }

    /// Refuses a data set whose targets are of the other kind.
    pub(crate) fn check(self, dataset: &GraphDataset) -> Result<()> {
        let found = Self::from_dataset(dataset)?;
        if found.of_classes() == self.of_classes() {
            return Ok(());
        }
        let kind = |classes: bool| if classes { "classes" } else { "numbers" };
        Err(Error::Targets {
            needed_by: format!("the loss {self:?}"),
            needed: kind(self.of_classes()),
            dataset: dataset.name().to_owned(),
            found: kind(found.of_classes()).to_owned(),
        })
    }

    /// The loss of a batch, a scalar on the tape if `scores` are.
    ///
    /// # Errors
    /// [`Error::Targets`] if the targets are of the other kind;
    /// [`egg_nn::Error::Shape`] and [`egg_nn::Error::Class`] if they don't fit.
    pub fn loss(
        self,
        scores: impl Into<Tracked>,
        targets: &BatchTargets,
        reduction: Reduction,
    ) -> Result<Tensor> {
        Ok(match (self, targets) {
            (Self::CrossEntropy, BatchTargets::Classes(classes)) => {
                cross_entropy(scores, classes, reduction)?
            }
            (Self::Mse, BatchTargets::Values(values)) => mse(scores, values, reduction)?,
            (Self::Mae, BatchTargets::Values(values)) => mae(scores, values, reduction)?,
            (_, targets) => {
                return Err(Error::Targets {
                    needed_by: format!("the loss {self:?}"),
                    needed: if self.of_classes() { "classes" } else { "numbers" },
                    dataset: "the batch".to_owned(),
                    found: match targets {
                        BatchTargets::Classes(_) => "classes".to_owned(),
                        BatchTargets::Values(_) => "numbers".to_owned(),
                    },
                });
            }
        })
    }

    /// How many losses a batch has: one per graph, or one per number.
    pub(crate) fn terms(self, targets: &BatchTargets) -> usize {
        match targets {
            BatchTargets::Classes(classes) => classes.elem_count(),
            BatchTargets::Values(values) => values.elem_count(),
        }
    }
}

/// A scalar tensor's number.
pub(crate) fn number(scalar: &Tensor) -> Result<f64> {
    Ok(scalar.detach().to_dtype(DType::F64)?.to_scalar::<f64>()?)
}
