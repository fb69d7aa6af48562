//! Scores of two classes: how well they put the positive ones first.

use crate::error::{Error, Result};

/// Indices by descending score, checked.
fn ranked(metric: &'static str, truth: &[bool], scores: &[f64]) -> Result<Vec<usize>> {
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
    let positive = truth.iter().filter(|positive| **positive).count();
    if positive == 0 || positive == truth.len() {
        return Err(Error::OneClass {
            metric,
            items: truth.len(),
            present: if positive == 0 { "negative" } else { "positive" },
        });
    }
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    Ok(order)
}

/// By descending distinct score, how many positive and negative items have it.
fn groups(truth: &[bool], scores: &[f64], order: &[usize]) -> Vec<(u64, u64)> {
    let tied = |a: &usize, b: &usize| scores[*a] == scores[*b];
    let count = |group: &[usize]| {
        let positive = group.iter().filter(|index| truth[**index]).count();
        (positive as u64, (group.len() - positive) as u64)
    };
    order.chunk_by(tied).map(count).collect()
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
    let order = ranked("ROC-AUC", truth, scores)?;
    let (mut above, mut negatives, mut twice) = (0u64, 0u64, 0u128);
    for (positive, negative) in groups(truth, scores, &order) {
        // Positives of higher score win twice a half, tied ones once.
        twice += u128::from(negative) * u128::from(2 * above + positive);
        above += positive;
        negatives += negative;
    }
    let pairs = u128::from(above) * u128::from(negatives);
    Ok(twice as f64 / (2 * pairs) as f64)
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
    let order = ranked("average precision", truth, scores)?;
    let (mut right, mut taken, mut sum) = (0u64, 0u64, 0.0);
    for (positive, negative) in groups(truth, scores, &order) {
        right += positive;
        taken += positive + negative;
        sum += positive as f64 * (right as f64 / taken as f64);
    }
    Ok(sum / right as f64)
}
