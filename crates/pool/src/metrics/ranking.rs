//! Scores of two classes: how well they put the positive ones first.

use egg_nn::Goal;
use egg_results::Ranking;

use super::{ClassPredictions, Metric, MetricDefinition, MetricFunction};
use crate::error::{Error, Result};

impl Metric {
    /// [`roc_auc`] of the second of two classes.
    pub const ROC_AUC: Self = Self(&MetricDefinition {
        name: "roc-auc",
        goal: Goal::Max,
        range: 0.0..=1.0,
        function: MetricFunction::Classes(|of| of_two_classes(of, roc_auc)),
    });

    /// [`average_precision`] of the second of two classes.
    pub const AVERAGE_PRECISION: Self = Self(&MetricDefinition {
        name: "average-precision",
        goal: Goal::Max,
        range: 0.0..=1.0,
        function: MetricFunction::Classes(|of| of_two_classes(of, average_precision)),
    });
}

/// `None` unless there are two classes, both present.
fn of_two_classes(
    of: &ClassPredictions<'_>,
    metric: fn(&[bool], &[f64]) -> Result<f64>,
) -> Result<Option<f64>> {
    let Some((positive, scores)) = of.binary() else {
        return Ok(None);
    };
    match metric(&positive, &scores) {
        Ok(value) => Ok(Some(value)),
        Err(Error::OneClass { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Both measures of scores that are finite, of items of both kinds.
fn ranking(metric: &'static str, truth: &[bool], scores: &[f64]) -> Result<Ranking> {
    if truth.len() != scores.len() {
        return Err(Error::Length {
            what: "scores",
            expected: truth.len(),
            found: scores.len(),
        });
    }
    if truth.is_empty() {
        return Err(Error::NoItems { metric });
    }
    if let Some(index) = scores.iter().position(|score| !score.is_finite()) {
        return Err(Error::NonFinite {
            what: "score",
            index,
            value: scores[index],
        });
    }
    let of = |kind: bool| -> Vec<f64> {
        let items = truth
            .iter()
            .zip(scores)
            .filter(|(positive, _)| **positive == kind);
        items.map(|(_, score)| *score).collect()
    };
    let (positives, negatives) = (of(true), of(false));
    Ranking::from_scores(&positives, &negatives).ok_or_else(|| Error::OneClass {
        metric,
        items: truth.len(),
        present: if positives.is_empty() {
            "negative"
        } else {
            "positive"
        },
    })
}

/// The area under the receiver operating characteristic: the probability that a
/// positive item has a higher score than a negative one, where a tie counts
/// half. scikit-learn's `roc_auc_score`, and so OGB's for one task.
///
/// # Complexity
/// O(n log n). Pairs are counted in integers: one rounding, at the end.
///
/// # Errors
/// [`Error::Length`] if the lists differ in length, [`Error::NoItems`] if they
/// are empty, [`Error::OneClass`] if all items are of one class,
/// [`Error::NonFinite`] for a score that is no number.
///
/// ```
/// use egg_pool::metrics::roc_auc;
/// assert_eq!(roc_auc(&[false, true, true], &[0.1, 0.9, 0.1])?, 0.75);
/// assert!(roc_auc(&[true, true], &[0.1, 0.9]).is_err());
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub fn roc_auc(truth: &[bool], scores: &[f64]) -> Result<f64> {
    ranking("ROC-AUC", truth, scores).map(|ranking| ranking.roc_auc)
}

/// `sum_n (R_n - R_{n-1}) P_n` over the distinct scores in descending order,
/// with recall R and precision P among the items of at least that score:
/// scikit-learn's `average_precision_score`.
///
/// # Errors
/// As [`roc_auc`]. (With negative items only scikit-learn gives 0 and a
/// warning, with positive ones only 1.)
///
/// ```
/// use egg_pool::metrics::average_precision;
/// let ap = average_precision(&[false, false, true, true], &[0.1, 0.4, 0.35, 0.8])?;
/// assert!((ap - 5.0 / 6.0).abs() < 1e-15);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub fn average_precision(truth: &[bool], scores: &[f64]) -> Result<f64> {
    ranking("average precision", truth, scores).map(|ranking| ranking.average_precision)
}
