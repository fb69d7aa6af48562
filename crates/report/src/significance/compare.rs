//! The paired test of two methods on the same splits.

use std::collections::BTreeMap;

use super::student::two_sided_p;
use crate::record::Method;

/// How two methods differ on the splits they share.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How many splits they share.
    pub pairs: usize,
    /// How many of those have parts that no other has. If all repetitions share
    /// one split this is 1, and nothing can be said about other splits.
    pub splits: usize,
    /// The mean of first minus second, in the metric's units.
    pub difference: f64,
    /// Whether they are equal on each split they share.
    pub same: bool,
    /// Student's t, with the variance corrected for overlapping training parts.
    pub t: f64,
    /// The two-sided probability of such a difference if there is none; NaN if
    /// it can't be known.
    pub p: f64,
    /// By how much the variance of the mean is larger than for independent
    /// parts: `1 / k + test / train` instead of `1 / k`.
    pub factor: f64,
}

/// What a [`Comparison`] says, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Fewer than two shared splits, or sizes that are not known.
    Unknown,
    /// No difference on any split.
    Same,
    /// No more than chance would do.
    Noise,
    /// The first is better.
    Better,
    /// The first is worse.
    Worse,
}

impl Comparison {
    /// At 5%, with the probability `p` after a correction for several comparisons.
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

/// Compares two methods split by split; `None` if they share none.
///
/// Repetitions train on overlapping parts, so their results are not
/// independent, and the plain t-test finds differences where there are none.
/// Nadeau and Bengio (2003) correct the variance of the mean of k differences d:
///
/// `t = mean(d) / sqrt((1 / k + n_test / n_train) var(d))`, with k - 1 degrees of freedom.
///
/// ```
/// use egg_report::{Method, Repetition, compare};
///
/// let method = |scores: [f64; 3]| Method {
///     repetitions: (0..3)
///         .map(|i| Repetition {
///             split: format!("fold {i}"),
///             parts: (80, 10, 10),
///             test: Some(scores[i]),
///             ..Repetition::default()
///         })
///         .collect(),
///     ..Method::default()
/// };
/// let comparison = compare(&method([0.8, 0.7, 0.9]), &method([0.7, 0.7, 0.8])).unwrap();
/// assert!((comparison.difference - 0.2 / 3.0).abs() < 1e-12);
/// assert!(comparison.p > 0.05);
/// ```
pub fn compare(first: &Method, second: &Method) -> Option<Comparison> {
    let (first, second) = (by_split(first), by_split(second));
    let mut differences = Vec::new();
    let mut ratios = Vec::new();
    let mut splits = std::collections::BTreeSet::new();
    for (key, &(score, parts)) in &first {
        let Some(&(other, other_parts)) = second.get(key) else {
            continue;
        };
        differences.push(score - other);
        splits.insert(key.0);
        let ratio = |(train, _, test): (u64, u64, u64)| test as f64 / train as f64;
        ratios.push(ratio(parts).max(ratio(other_parts)));
    }
    if differences.is_empty() {
        return None;
    }
    let k = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / k;
    // The mean ratio: folds differ by a graph or so.
    let factor = 1.0 / k + ratios.iter().sum::<f64>() / k;
    let squares = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>();
    let same = differences.iter().all(|&d| d == 0.0);
    let (t, p) = if same {
        (0.0, 1.0)
    } else if differences.len() < 2 || !factor.is_finite() {
        (f64::NAN, f64::NAN)
    } else {
        let t = mean / (factor * squares / (k - 1.0)).sqrt();
        (t, two_sided_p(t, k - 1.0))
    };
    Some(Comparison {
        pairs: differences.len(),
        splits: splits.len(),
        difference: mean,
        same,
        t,
        p,
        factor,
    })
}

type Parts = (u64, u64, u64);

/// Test scores by split and by how many times the split was met before.
fn by_split(method: &Method) -> BTreeMap<(&str, usize), (f64, Parts)> {
    let mut met = BTreeMap::new();
    let mut scores = BTreeMap::new();
    for repetition in &method.repetitions {
        let count: &mut usize = met.entry(repetition.split.as_str()).or_default();
        let key = (repetition.split.as_str(), *count);
        *count += 1;
        if let Some(score) = repetition.test.filter(|score| score.is_finite()) {
            scores.insert(key, (score, repetition.parts));
        }
    }
    scores
}

/// Holm's correction for several comparisons: the least becomes `m` times as
/// large, the next `m - 1` times, never below the one before. NaN stays NaN and
/// does not count.
///
/// ```
/// assert_eq!(egg_report::holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
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
