//! Whether two methods differ, or only their splits did.

use std::collections::BTreeMap;

use egg_results::{Comparison, Pair, paired};

use crate::record::Method;

/// Compares two methods split by split; `None` if they share none. The test is
/// [`egg_results::paired`], with the variance corrected for overlapping training parts.
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
    let mut pairs = Vec::new();
    for (key, &(score, (train, _, test))) in &first {
        if let Some(&(other, _)) = second.get(key) {
            pairs.push(Pair {
                split: key.0,
                first: score,
                second: other,
                train,
                // Unknown sizes must not be treated as equal.
                test: if train == 0 { test.max(1) } else { test },
            });
        }
    }
    paired(&pairs)
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
