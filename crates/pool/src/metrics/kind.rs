//! Metrics by name, and all that fit at once.

use std::fmt;
use std::str::FromStr;

use egg_nn::Goal;
use serde::{Deserialize, Serialize};

use super::{
    ConfusionMatrix, accuracy, average_precision, balanced_accuracy, mean_absolute_error, mean_squared_error,
    roc_auc,
};
use crate::error::{Error, Result};

/// What a run is judged by.
///
/// ```
/// use egg_pool::metrics::Metric;
/// assert_eq!("roc-auc".parse::<Metric>()?, Metric::RocAuc);
/// assert_eq!(Metric::Accuracy.to_string(), "accuracy");
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// [`accuracy`].
    Accuracy,
    /// [`balanced_accuracy`].
    BalancedAccuracy,
    /// [`roc_auc`] of the second of two classes.
    RocAuc,
    /// [`average_precision`] of the second of two classes.
    AveragePrecision,
    /// [`mean_absolute_error`].
    Mae,
    /// [`mean_squared_error`].
    Mse,
    /// [`root_mean_squared_error`](super::root_mean_squared_error).
    Rmse,
}

impl Metric {
    /// All there are.
    pub const ALL: [Self; 7] = [
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::RocAuc,
        Self::AveragePrecision,
        Self::Mae,
        Self::Mse,
        Self::Rmse,
    ];

    /// As it is written in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::RocAuc => "roc-auc",
            Self::AveragePrecision => "average-precision",
            Self::Mae => "mae",
            Self::Mse => "mse",
            Self::Rmse => "rmse",
        }
    }

    /// Which way it gets better.
    pub fn goal(self) -> Goal {
        match self {
            Self::Mae | Self::Mse | Self::Rmse => Goal::Min,
            _ => Goal::Max,
        }
    }

    /// Whether it is one of classes rather than of numbers.
    pub fn of_classes(self) -> bool {
        self.goal() == Goal::Max
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|metric| metric.name() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "metric",
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// Every metric that is defined for a set of predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum Scores {
    /// Of predicted classes.
    Classes {
        /// The share that is right.
        accuracy: f64,
        /// The mean over classes of the share that is right.
        balanced_accuracy: f64,
        /// `None` unless there are two classes, both present.
        roc_auc: Option<f64>,
        /// `None` unless there are two classes, both present.
        average_precision: Option<f64>,
        /// Rows are true classes.
        confusion: ConfusionMatrix,
    },
    /// Of predicted numbers.
    Numbers {
        /// The mean absolute error.
        mae: f64,
        /// The mean squared error.
        mse: f64,
    },
}

impl Scores {
    /// From the logits of each item, one row per item.
    ///
    /// # Errors
    /// Those of the metrics, except that a metric of two classes is `None`
    /// where it is not defined.
    ///
    /// ```
    /// use egg_pool::metrics::{Metric, Scores};
    /// let scores = Scores::of_logits(&[0, 1], &[vec![1.0, 0.0], vec![-1.0, 3.0]])?;
    /// assert_eq!(scores.get(Metric::RocAuc), Some(1.0));
    /// assert_eq!(scores.get(Metric::Mae), None);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn of_logits(truth: &[u32], logits: &[Vec<f64>]) -> Result<Self> {
        let predicted: Vec<u32> = logits.iter().map(|row| largest(row)).collect();
        let classes = logits.first().map_or(0, Vec::len);
        let two = |metric: fn(&[bool], &[f64]) -> Result<f64>| {
            if classes != 2 {
                return Ok(None);
            }
            let positive: Vec<bool> = truth.iter().map(|class| *class == 1).collect();
            // As good as the probability: the two rise together.
            let scores: Vec<f64> = logits.iter().map(|row| row[1] - row[0]).collect();
            match metric(&positive, &scores) {
                Ok(value) => Ok(Some(value)),
                Err(Error::OneClass { .. }) => Ok(None),
                Err(other) => Err(other),
            }
        };
        Ok(Self::Classes {
            accuracy: accuracy(truth, &predicted)?,
            balanced_accuracy: balanced_accuracy(truth, &predicted)?,
            roc_auc: two(roc_auc)?,
            average_precision: two(average_precision)?,
            confusion: ConfusionMatrix::new(truth, &predicted, classes)?,
        })
    }

    /// From predicted numbers.
    ///
    /// # Errors
    /// Those of the metrics.
    pub fn of_numbers(truth: &[f64], predicted: &[f64]) -> Result<Self> {
        Ok(Self::Numbers {
            mae: mean_absolute_error(truth, predicted)?,
            mse: mean_squared_error(truth, predicted)?,
        })
    }

    /// One of them; `None` where it is not defined.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        match (self, metric) {
            (Self::Classes { accuracy, .. }, Metric::Accuracy) => Some(*accuracy),
            (
                Self::Classes {
                    balanced_accuracy, ..
                },
                Metric::BalancedAccuracy,
            ) => Some(*balanced_accuracy),
            (Self::Classes { roc_auc, .. }, Metric::RocAuc) => *roc_auc,
            (
                Self::Classes {
                    average_precision, ..
                },
                Metric::AveragePrecision,
            ) => *average_precision,
            (Self::Numbers { mae, .. }, Metric::Mae) => Some(*mae),
            (Self::Numbers { mse, .. }, Metric::Mse) => Some(*mse),
            (Self::Numbers { mse, .. }, Metric::Rmse) => Some(mse.sqrt()),
            _ => None,
        }
    }
}

/// The column of the largest entry, the first of equal ones.
pub(crate) fn largest(row: &[f64]) -> u32 {
    let mut best = 0;
    for (index, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = index;
        }
    }
    u32::try_from(best).unwrap_or(u32::MAX)
}
