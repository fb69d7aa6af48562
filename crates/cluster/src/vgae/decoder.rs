//! The inner-product decoder, and how well it predicts edges.

use candle_core::Tensor;
use egg_graph::LinkPart;
use egg_nn::blocks::map;
use egg_nn::numbers::with_values;
use serde::{Deserialize, Serialize};

use super::element::{check_float, for_element};
use super::exact::dot;
use crate::error::{Error, Result};

/// Pairs per block.
const PAIRS: usize = 1 << 12;

/// The logits `z_i . z_j` of pairs of nodes, from an embedding (n x d, f32 or
/// f64); the probability of an edge is their sigmoid.
///
/// # Errors
/// [`Error::Pair`] for a node that is not there, [`Error::Layer`] unless `z` is
/// f32 or f64, [`Error::Candle`] unless it is a matrix.
///
/// ```
/// use candle_core::{Device, Tensor};
/// let z = Tensor::new(&[[1f32, 2.0], [0.5, 0.0]], &Device::Cpu)?;
/// assert_eq!(egg_cluster::link_logits(&z, &[(0, 1), (0, 0)])?, [0.5, 5.0]);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn link_logits(z: &Tensor, pairs: &[(usize, usize)]) -> Result<Vec<f64>> {
    check_float("an embedding", z.dtype())?;
    let (nodes, width) = z.dims2()?;
    for (pair, &(a, b)) in pairs.iter().enumerate() {
        if let Some(&node) = [a, b].iter().find(|node| **node >= nodes) {
            return Err(Error::Pair { pair, node, nodes });
        }
    }
    let row = |node: usize| node * width..(node + 1) * width;
    let blocks = for_element!(z.dtype(), T => with_values::<T, _>(z, |z| {
        Ok(map(pairs, PAIRS, |_, pairs| {
            pairs.iter().map(|&(a, b)| dot(&z[row(a)], &z[row(b)])).collect::<Vec<f64>>()
        }))
    }))
    .map_err(Error::Candle)?;
    Ok(blocks.concat())
}

/// How well held-out edges are told from non-edges.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LinkScores {
    /// Area under the receiver operating characteristic.
    pub auc: f64,
    /// Average precision.
    pub average_precision: f64,
}

impl LinkScores {
    /// Of an embedding, on held-out pairs.
    ///
    /// # Errors
    /// As [`link_logits`].
    pub fn of(z: &Tensor, part: &LinkPart) -> Result<Self> {
        let (positive, negative) = (link_logits(z, &part.positive)?, link_logits(z, &part.negative)?);
        let mut scored: Vec<(f64, bool)> = positive.iter().map(|score| (*score, true)).collect();
        scored.extend(negative.iter().map(|score| (*score, false)));
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(Self {
            auc: auc(&scored),
            average_precision: average_precision(&scored),
        })
    }
}

/// The share of (positive, negative) pairs in the right order, ties half. From
/// scores in descending order.
fn auc(scored: &[(f64, bool)]) -> f64 {
    let (mut above, mut sum, mut negatives) = (0u64, 0.0, 0u64);
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let positive = tied.iter().filter(|(_, positive)| *positive).count() as u64;
        let negative = tied.len() as u64 - positive;
        sum += negative as f64 * (above as f64 + positive as f64 / 2.0);
        above += positive;
        negatives += negative;
    }
    sum / (above as f64 * negatives as f64)
}

/// `sum (recall step) * precision` over distinct scores, as scikit-learn's.
fn average_precision(scored: &[(f64, bool)]) -> f64 {
    let (mut seen, mut found, mut sum) = (0u64, 0u64, 0.0);
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let positive = tied.iter().filter(|(_, positive)| *positive).count() as u64;
        seen += tied.len() as u64;
        found += positive;
        sum += positive as f64 * (found as f64 / seen as f64);
    }
    sum / found as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_equal_values_worked_by_hand() {
        // scikit-learn's own example: 0.75 and 0.8333.
        let scored = [(0.8, true), (0.4, false), (0.35, true), (0.1, false)];
        assert!((auc(&scored) - 0.75).abs() < 1e-15);
        assert!((average_precision(&scored) - 5.0 / 6.0).abs() < 1e-15);
        let tied = [(1.0, true), (1.0, false), (1.0, true), (1.0, false)];
        assert!((auc(&tied) - 0.5).abs() < 1e-15 && (average_precision(&tied) - 0.5).abs() < 1e-15);
    }
}
