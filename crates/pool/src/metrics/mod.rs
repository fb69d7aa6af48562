//! How good predictions are: equal to scikit-learn's numbers.
//!
//! | function | of | when it is not defined |
//! |---|---|---|
//! | [`accuracy`], [`balanced_accuracy`], [`ConfusionMatrix`] | classes | no items |
//! | [`roc_auc`], [`average_precision`] | scores of two classes | one class only |
//! | [`mean_absolute_error`], [`mean_squared_error`], [`root_mean_squared_error`] | numbers | no items |
//!
//! Where a metric is not defined there is an [`Error`](crate::Error), never a
//! number that looks like one. [`Metric`] names them in settings.
//! A metric of one's own is a [`MetricDefinition`] that is [registered](register_metric).

mod classification;
mod kind;
mod ranking;
mod regression;
mod scores;

pub use classification::{ConfusionMatrix, accuracy, balanced_accuracy};
pub(crate) use kind::largest;
pub use kind::{ClassPredictions, Metric, MetricDefinition, MetricFunction, register_metric};
pub use ranking::{average_precision, roc_auc};
use regression::{ROOT, SQUARED};
pub use regression::{mean_absolute_error, mean_squared_error, root_mean_squared_error};
pub use scores::Scores;

/// The metrics that are built in. A new one is its file and its line here.
static METRICS: &[Metric] = &[
    Metric::ACCURACY,
    Metric::BALANCED_ACCURACY,
    Metric::ROC_AUC,
    Metric::AVERAGE_PRECISION,
    Metric::MAE,
    Metric::MSE,
    Metric::RMSE,
];
