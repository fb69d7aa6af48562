//! How well scores rank the positive items above the negative ones.

/// The area under the ROC curve and the average precision of scores.
///
/// ```
/// use egg_results::Ranking;
///
/// // Of 3 x 2 pairs of a positive and a negative item, 5 are in order.
/// let ranking = Ranking::from_scores(&[0.9, 0.8, 0.3], &[0.4, 0.1]).unwrap();
/// assert!((ranking.roc_auc - 5.0 / 6.0).abs() < 1e-15);
/// assert!((ranking.average_precision - (1.0 + 1.0 + 0.75) / 3.0).abs() < 1e-15);
/// assert_eq!(Ranking::from_scores(&[], &[1.0]), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Ranking {
    /// The share of pairs (positive, negative) whose scores are in order, ties
    /// counted half: scikit-learn's `roc_auc_score`, and so OGB's for one task.
    pub roc_auc: f64,
    /// `sum_t (R_t - R_{t-1}) P_t` over the different scores t from the highest
    /// down, with precision P and recall R of what scores at least t; as in
    /// scikit-learn's `average_precision_score`, without interpolation.
    pub average_precision: f64,
}

impl Ranking {
    /// From the scores of the positive and of the negative items; `None` if there are
    /// none of either, or if a score is NaN. Infinite scores are scores.
    ///
    /// # Complexity
    /// `O(n log n)`. Pairs are counted in integers: one rounding, at the end.
    pub fn from_scores(positives: &[f64], negatives: &[f64]) -> Option<Self> {
        let (positives, negatives) = (descending(positives)?, descending(negatives)?);
        let (mut hits, mut misses) = (0usize, 0usize);
        // Twice the number of pairs in order, and the sum of new hits times precision.
        let (mut ordered, mut precision) = (0u128, 0.0);
        while hits < positives.len() {
            let score = match negatives.get(misses) {
                Some(&negative) if negative > positives[hits] => negative,
                _ => positives[hits],
            };
            let new_hits = run(&positives[hits..], score);
            let new_misses = run(&negatives[misses..], score);
            let below = negatives.len() - misses - new_misses;
            ordered += new_hits as u128 * (2 * below + new_misses) as u128;
            hits += new_hits;
            misses += new_misses;
            precision += new_hits as f64 * (hits as f64 / (hits + misses) as f64);
        }
        let pairs = positives.len() as u128 * negatives.len() as u128;
        Some(Self {
            roc_auc: ordered as f64 / (2 * pairs) as f64,
            average_precision: precision / positives.len() as f64,
        })
    }
}

/// How many at the front have this score.
fn run(sorted: &[f64], score: f64) -> usize {
    sorted.iter().take_while(|other| **other == score).count()
}

fn descending(scores: &[f64]) -> Option<Vec<f64>> {
    if scores.is_empty() || scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let mut sorted = scores.to_vec();
    // 0 and -0 are equal, which `total_cmp` does not say.
    sorted.sort_unstable_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    Some(sorted)
}
