//! The inner-product decoder, and how well it predicts edges.

use candle_core::Tensor;
use egg_graph::LinkPart;
use egg_nn::check_float;
use egg_tensor::blocks::map;
use egg_tensor::{for_element, with_slices};

use super::exact::dot;
use crate::error::{Error, Result};
use crate::metrics::{Ranking, rank};

/// Pairs per block.
const PAIRS: usize = 1 << 12;

/// The logits `z_i . z_j` of pairs of nodes, from an embedding (n x d, f32 or
/// f64); the probability of an edge is their sigmoid.
///
/// # Errors
/// [`Error::Pair`] for a node out of range, [`Error::Layer`] unless `z` is
/// f32 or f64, [`Error::Candle`] unless it is a matrix.
///
/// ```
/// use candle_core::{Device, Tensor};
/// let z = Tensor::new(&[[1f32, 2.0], [0.5, 0.0]], &Device::Cpu)?;
/// assert_eq!(egg_cluster::vgae::link_logits(&z, &[(0, 1), (0, 0)])?, [0.5, 5.0]);
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
    let blocks = for_element!(z.dtype(), T => with_slices([z], |[z]: [&[T]; 1]| {
        Ok(map(pairs, PAIRS, |_, pairs| {
            pairs.iter().map(|&(a, b)| dot(&z[row(a)], &z[row(b)])).collect::<Vec<f64>>()
        }))
    }))
    .map_err(Error::Candle)?;
    Ok(blocks.concat())
}

/// How well an embedding (n x d) separates held-out edges from non-edges.
///
/// # Errors
/// As [`link_logits`], and [`Error::Undefined`] if there are none.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_graph::LinkPart;
///
/// let z = Tensor::new(&[[1f32, 0.0], [1.0, 0.0], [0.0, 1.0]], &Device::Cpu)?;
/// let held_out = LinkPart { positive: vec![(0, 1)], negative: vec![(0, 2), (1, 2)] };
/// assert_eq!(egg_cluster::vgae::rank_links(&z, &held_out)?.roc_auc, 1.0);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn rank_links(z: &Tensor, part: &LinkPart) -> Result<Ranking> {
    rank(&link_logits(z, &part.positive)?, &link_logits(z, &part.negative)?)
}
