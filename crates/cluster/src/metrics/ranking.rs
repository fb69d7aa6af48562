//! Measures of link prediction: how well scores separate edges from non-edges.

use egg_geometry::Scalar;
use egg_results::Ranking;

use crate::error::{Error, Result};

/// The area under the ROC curve and the average precision of the scores of edges
/// and of non-edges.
///
/// # Complexity
/// `O(n log n)`.
///
/// # Errors
/// [`Error::Undefined`] if there is no positive or no negative,
/// [`Error::NonFinite`] for a score that is NaN. Infinite scores are scores.
///
/// ```
/// // Of 3 x 2 pairs of an edge and a non-edge, 5 are in order.
/// let ranking = egg_cluster::metrics::rank(&[0.9f32, 0.8, 0.3], &[0.4, 0.1])?;
/// assert!((ranking.roc_auc - 5.0 / 6.0).abs() < 1e-15);
/// assert!((ranking.average_precision - (1.0 + 1.0 + 0.75) / 3.0).abs() < 1e-15);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn rank<T: Scalar>(positives: &[T], negatives: &[T]) -> Result<Ranking> {
    let wide = |what, scores: &[T]| {
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(Error::NonFinite {
                what,
                row,
                column: 0,
                value: f64::NAN,
            });
        }
        Ok(scores.iter().map(|score| score.as_f64()).collect::<Vec<f64>>())
    };
    let positives = wide("scores of positives", positives)?;
    let negatives = wide("scores of negatives", negatives)?;
    Ranking::from_scores(&positives, &negatives).ok_or(Error::Undefined {
        measure: "a ranking of positives and negatives",
        reason: "there must be at least one of each",
    })
}
