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

mod classification;
mod kind;
mod ranking;
mod regression;

pub use classification::{ConfusionMatrix, accuracy, balanced_accuracy};
pub(crate) use kind::largest;
pub use kind::{Metric, Scores};
pub use ranking::{average_precision, roc_auc};
pub use regression::{mean_absolute_error, mean_squared_error, root_mean_squared_error};
