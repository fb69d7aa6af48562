//! Whether two results differ, or only their splits did.

use std::collections::BTreeSet;

use crate::student::two_sided_p;
use crate::summary::Summary;

/// The scores of two methods on one split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// Identifies the split. Several pairs may share one: repetitions that differ only in their
    /// random start.
    pub split: &'a str,
    /// The first method's score.
    pub first: f64,
    /// The second method's.
    pub second: f64,
    /// How many items were trained on; what is counted must be what `test` counts.
    pub train: u64,
    /// How many were tested with. With 0 repetitions count as independent.
    pub test: u64,
}

/// How two results differ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// How many pairs, or, of results without pairs, the smaller number of repetitions.
    pub pairs: usize,
    /// The number of different splits among the pairs. If it is 1, the test is about other random
    /// starts on the same split, not about other splits.
    pub splits: usize,
    /// The mean of first minus second, in the metric's units.
    pub difference: f64,
    /// Whether they are equal in each pair.
    pub same: bool,
    /// Student's t, with the variance corrected for overlapping training parts.
    pub t: f64,
    /// The two-sided probability of such a difference if there is none; NaN if
    /// it can't be known.
    pub p: f64,
    /// By what the variance of one repetition is multiplied to get that of the mean:
    /// `1 / k + test / train`, where independent parts would have `1 / k`.
    pub factor: f64,
}

/// What a [`Comparison`] says, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Fewer than two pairs, or sizes that are not known.
    Unknown,
    /// No difference in any pair.
    Same,
    /// No significant difference. That is not equality.
    Noise,
    /// The first is better.
    Better,
    /// The first is worse.
    Worse,
}

impl Comparison {
    /// The verdict at the 5 % level, with the probability `p` after a correction for multiple comparisons.
    pub fn verdict(&self, p: f64, lower_is_better: bool) -> Verdict {
        if self.pairs < 2 {
            Verdict::Unknown
        } else if self.same {
            Verdict::Same
        } else if p.is_nan() {
            Verdict::Unknown
        } else if p >= 0.05 {
            Verdict::Noise
        } else if (self.difference > 0.0) != lower_is_better {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }
}

/// Compares two methods pair by pair; `None` of no pairs.
///
/// Repetitions train on overlapping parts, so their results are not
/// independent, and the plain t-test finds differences where there are none.
/// Nadeau and Bengio (2003) correct the variance of the mean of k differences d:
///
/// `t = mean(d) / sqrt((1 / k + n_test / n_train) var(d))`, with k - 1 degrees of freedom.
///
/// ```
/// use egg_results::{Pair, paired};
///
/// let pair = |first, second| Pair { split: "x", first, second, train: 80, test: 10 };
/// let comparison = paired(&[pair(0.8, 0.7), pair(0.7, 0.7), pair(0.9, 0.8)]).unwrap();
/// assert!((comparison.difference - 0.2 / 3.0).abs() < 1e-12);
/// assert!(comparison.p > 0.05);
/// ```
pub fn paired(pairs: &[Pair<'_>]) -> Option<Comparison> {
    if pairs.is_empty() {
        return None;
    }
    let differences: Vec<f64> = pairs.iter().map(|pair| pair.first - pair.second).collect();
    let splits: BTreeSet<&str> = pairs.iter().map(|pair| pair.split).collect();
    let k = pairs.len() as f64;
    let mean = differences.iter().sum::<f64>() / k;
    // The mean ratio: folds differ by a graph or so.
    let ratios = pairs.iter().map(|pair| ratio(pair.train, pair.test));
    let factor = 1.0 / k + ratios.sum::<f64>() / k;
    let squares = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>();
    let same = differences.iter().all(|&d| d == 0.0);
    let (t, p) = if same {
        (0.0, 1.0)
    } else if pairs.len() < 2 || !factor.is_finite() {
        (f64::NAN, f64::NAN)
    } else {
        let t = mean / (factor * squares / (k - 1.0)).sqrt();
        (t, two_sided_p(t, k - 1.0))
    };
    Some(Comparison {
        pairs: pairs.len(),
        splits: splits.len(),
        difference: mean,
        same,
        t,
        p,
        factor,
    })
}

fn ratio(train: u64, test: u64) -> f64 {
    match test {
        0 => 0.0,
        _ => test as f64 / train as f64,
    }
}

/// Compares two means of repetitions that have nothing to do with each other, such as
/// ours and published ones; `None` if either has fewer than two.
///
/// Welch's test, with the variance of each mean corrected as in [`paired`] for training
/// parts that overlap; `test_over_train` is 0 where repetitions share one split. Then the
/// test is about other random starts on that split.
///
/// ```
/// use egg_results::{Summary, welch};
///
/// let (ours, theirs) = (Summary::published(74.4, 4.3, 10, 0), Summary::published(77.8, 2.2, 10, 0));
/// assert!(welch(&ours, &theirs, 0.0).unwrap().p < 0.06);
/// assert!(welch(&ours, &theirs, 0.125).unwrap().p > 0.15);
/// ```
pub fn welch(first: &Summary, second: &Summary, test_over_train: f64) -> Option<Comparison> {
    let factor = |summary: &Summary| 1.0 / summary.count as f64 + test_over_train;
    let (a, b) = (
        first.sample_variance()? * factor(first),
        second.sample_variance()? * factor(second),
    );
    let freedom = |summary: &Summary| summary.count as f64 - 1.0;
    let degrees = (a + b).powi(2) / (a.powi(2) / freedom(first) + b.powi(2) / freedom(second));
    let difference = first.mean - second.mean;
    let same = difference == 0.0 && a + b == 0.0;
    let t = if same { 0.0 } else { difference / (a + b).sqrt() };
    Some(Comparison {
        pairs: first.count.min(second.count),
        splits: first.count.min(second.count),
        difference,
        same,
        t,
        p: if same { 1.0 } else { two_sided_p(t, degrees) },
        factor: factor(first).max(factor(second)),
    })
}

/// Holm's correction for several comparisons: the least becomes `m` times as
/// large, the next `m - 1` times, never below the one before. NaN stays NaN and
/// does not count.
///
/// ```
/// assert_eq!(egg_results::holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len())
        .filter(|&i| !probabilities[i].is_nan())
        .collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]).then(a.cmp(&b)));
    let mut corrected = vec![f64::NAN; probabilities.len()];
    let mut least = 0.0f64;
    for (place, &i) in order.iter().enumerate() {
        least = least
            .max(probabilities[i] * (order.len() - place) as f64)
            .min(1.0);
        corrected[i] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    fn pairs(first: &[f64], second: &[f64], train: u64, test: u64) -> Option<Comparison> {
        let names: Vec<String> = (0..first.len()).map(|at| at.to_string()).collect();
        let both = names.iter().zip(first.iter().zip(second));
        let pairs: Vec<Pair<'_>> = both
            .map(|(split, (first, second))| Pair {
                split,
                first: *first,
                second: *second,
                train,
                test,
            })
            .collect();
        paired(&pairs)
    }

    #[test]
    fn paired_test_matches_hand_calculation() {
        // Differences 1, 2, 3: mean 2, sample deviation 1.
        let plain = pairs(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0], 1, 0).unwrap();
        assert_abs_diff_eq!(plain.t, 2.0 * 3f64.sqrt(), epsilon = 1e-12);
        let corrected = pairs(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0], 80, 10).unwrap();
        assert_abs_diff_eq!(corrected.t, 2.0 / (1.0f64 / 3.0 + 0.125).sqrt(), epsilon = 1e-12);
        assert_eq!(corrected.verdict(corrected.p, false), Verdict::Noise);
        // A difference that is always the same is no chance.
        let constant = pairs(&[1.0, 2.0], &[2.0, 3.0], 80, 10).unwrap();
        assert_eq!(
            (constant.p, constant.verdict(constant.p, false)),
            (0.0, Verdict::Worse)
        );
        assert_eq!(constant.verdict(constant.p, true), Verdict::Better);
        let equal = pairs(&[1.0, 2.0], &[1.0, 2.0], 80, 10).unwrap();
        assert_eq!(equal.verdict(equal.p, false), Verdict::Same);
        let single = pairs(&[1.0], &[2.0], 80, 10).unwrap();
        assert_eq!(single.verdict(single.p, false), Verdict::Unknown);
        assert!(pairs(&[], &[], 80, 10).is_none());
        // Sizes that are not known.
        assert!(pairs(&[1.0, 2.0], &[2.0, 4.0], 0, 10).unwrap().p.is_nan());
    }

    #[test]
    fn welch_matches_hand_calculation() {
        let of = |mean, deviation| Summary::published(mean, deviation, 10, 0);
        // Standard errors 1 and 1: t = difference / sqrt 2, 18 degrees of freedom.
        let plain = welch(&of(73.0, 3.0), &of(70.0, 3.0), 0.0).unwrap();
        assert_abs_diff_eq!(plain.t, 3.0 / 2f64.sqrt(), epsilon = 1e-12);
        assert_abs_diff_eq!(plain.p, two_sided_p(plain.t, 18.0), epsilon = 1e-12);
        let corrected = welch(&of(73.0, 3.0), &of(70.0, 3.0), 0.125).unwrap();
        assert_abs_diff_eq!(plain.t / corrected.t, 2.25f64.sqrt(), epsilon = 1e-12);
        let one = Summary::published(1.0, 0.0, 1, 0);
        assert!(welch(&one, &of(0.0, 1.0), 0.0).is_none());
        assert_eq!(welch(&of(1.0, 0.0), &of(1.0, 0.0), 0.0).unwrap().p, 1.0);
        assert_eq!(
            welch(&of(2.0, 0.0), &of(1.0, 0.0), 0.0).unwrap().p.to_bits(),
            f64::NAN.to_bits()
        );
    }
}
