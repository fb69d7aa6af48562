//! Predicted numbers against true ones.

use egg_nn::Goal;

use super::{Metric, MetricDefinition, MetricFunction};
use crate::error::{Error, Result};

/// The keys of the two metrics that follow from each other.
pub(super) const SQUARED: &str = "mse";
pub(super) const ROOT: &str = "rmse";

impl Metric {
    /// [`mean_absolute_error`].
    pub const MAE: Self = Self(&MetricDefinition {
        name: "mae",
        goal: Goal::Min,
        range: 0.0..=f64::INFINITY,
        function: MetricFunction::Numbers(|truth, predicted| mean_absolute_error(truth, predicted).map(Some)),
    });

    /// [`mean_squared_error`].
    pub const MSE: Self = Self(&MetricDefinition {
        name: SQUARED,
        goal: Goal::Min,
        range: 0.0..=f64::INFINITY,
        function: MetricFunction::Numbers(|truth, predicted| mean_squared_error(truth, predicted).map(Some)),
    });

    /// [`root_mean_squared_error`].
    pub const RMSE: Self = Self(&MetricDefinition {
        name: ROOT,
        goal: Goal::Min,
        range: 0.0..=f64::INFINITY,
        function: MetricFunction::Numbers(|truth, predicted| {
            root_mean_squared_error(truth, predicted).map(Some)
        }),
    });
}

fn mean(metric: &'static str, truth: &[f64], predicted: &[f64], error: impl Fn(f64) -> f64) -> Result<f64> {
    if truth.len() != predicted.len() {
        return Err(Error::Length {
            what: "predicted numbers",
            expected: truth.len(),
            found: predicted.len(),
        });
    }
    if truth.is_empty() {
        return Err(Error::NoItems { metric });
    }
    for (what, numbers) in [("target", truth), ("prediction", predicted)] {
        if let Some(index) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(Error::NonFinite {
                what,
                index,
                value: numbers[index],
            });
        }
    }
    let errors = truth.iter().zip(predicted).map(|(a, b)| error(a - b));
    Ok(errors.sum::<f64>() / truth.len() as f64)
}

/// The mean of `|truth - predicted|`.
///
/// # Errors
/// [`Error::Length`] if the lists differ in length, [`Error::NoItems`] if they
/// are empty, [`Error::NonFinite`] for what is no number.
///
/// ```
/// assert_eq!(egg_pool::metrics::mean_absolute_error(&[1.0, 2.0], &[1.0, 4.0])?, 1.0);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub fn mean_absolute_error(truth: &[f64], predicted: &[f64]) -> Result<f64> {
    mean("the mean absolute error", truth, predicted, f64::abs)
}

/// The mean of `(truth - predicted)^2`.
///
/// # Errors
/// As [`mean_absolute_error`].
///
/// ```
/// assert_eq!(egg_pool::metrics::mean_squared_error(&[1.0, 2.0], &[1.0, 4.0])?, 2.0);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub fn mean_squared_error(truth: &[f64], predicted: &[f64]) -> Result<f64> {
    mean("the mean squared error", truth, predicted, |error| error * error)
}

/// The square root of [`mean_squared_error`], in the unit of the targets.
///
/// # Errors
/// As [`mean_absolute_error`].
///
/// ```
/// assert_eq!(egg_pool::metrics::root_mean_squared_error(&[0.0, 0.0], &[3.0, 3.0])?, 3.0);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub fn root_mean_squared_error(truth: &[f64], predicted: &[f64]) -> Result<f64> {
    Ok(mean_squared_error(truth, predicted)?.sqrt())
}
