//! Measures of link prediction: how well scores tell edges from non-edges.

use egg_geometry::Scalar;

use crate::error::{Error, Result};

/// The area under the ROC curve and the average precision of scores.
///
/// ```
/// use egg_cluster::metrics::Ranking;
///
/// // Of 3 x 2 pairs of an edge and a non-edge, 5 are in order.
/// let ranking = Ranking::new(&[0.9f32, 0.8, 0.3], &[0.4, 0.1])?;
/// assert!((ranking.roc_auc - 5.0 / 6.0).abs() < 1e-15);
/// assert!((ranking.average_precision - (1.0 + 1.0 + 0.75) / 3.0).abs() < 1e-15);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ranking {
    /// The share of pairs (positive, negative) whose scores are in order, ties
    /// counted half.
    pub roc_auc: f64,
    /// `sum_t (R_t - R_{t-1}) P_t` over the different scores t from the highest
    /// down, with precision P and recall R of what scores at least t; as in
    /// scikit-learn, without interpolation.
    pub average_precision: f64,
}

impl Ranking {
    /// From the scores of the positives and of the negatives.
    ///
    /// # Complexity
    /// `O(n log n)`.
    ///
    /// # Errors
    /// [`Error::Undefined`] if there is no positive or no negative,
    /// [`Error::NonFinite`] for a score that is NaN. Infinite scores are scores.
    pub fn new<T: Scalar>(positives: &[T], negatives: &[T]) -> Result<Self> {
        if positives.is_empty() || negatives.is_empty() {
            return Err(Error::Undefined {
                measure: "a ranking of positives and negatives",
                reason: "there must be at least one of each",
            });
        }
        let positives = descending("scores of positives", positives)?;
        let negatives = descending("scores of negatives", negatives)?;
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
        let pairs = positives.len() as f64 * negatives.len() as f64;
        Ok(Self {
            roc_auc: ordered as f64 / (2.0 * pairs),
            average_precision: precision / positives.len() as f64,
        })
    }
}

/// How many at the front have this score.
fn run<T: Scalar>(sorted: &[T], score: T) -> usize {
    sorted.iter().take_while(|other| **other == score).count()
}

fn descending<T: Scalar>(what: &'static str, scores: &[T]) -> Result<Vec<T>> {
    if let Some(row) = scores.iter().position(|score| score.is_nan()) {
        return Err(Error::NonFinite {
            what,
            row,
            column: 0,
            value: f64::NAN,
        });
    }
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    Ok(sorted)
}
