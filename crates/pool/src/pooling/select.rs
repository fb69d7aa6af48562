//! Keeping the best nodes of each graph: what TopK, SAG and PAN share.

use candle_core::Result as CandleResult;
use egg_nn::Tracked;
use egg_tensor::{for_element, with_slices};

use super::assignment::{Assignment, Weigh, as_u32};
use super::sort_key::SortKey;
use super::{Coarser, Pooled};
use crate::error::{Error, Result};
use crate::structure::Structure;

/// The share that poolings keep if nobody says otherwise.
pub(super) const DEFAULT_RATIO: f64 = 0.5;

/// Refuses a share that is none.
pub(super) fn check_ratio(pooling: &'static str, ratio: f64) -> Result<()> {
    if ratio > 0.0 && ratio < 1.0 {
        return Ok(());
    }
    Err(Error::PoolingParameter {
        pooling,
        name: "ratio",
        value: ratio,
        requirement: "the share of nodes to keep is above 0 and below 1",
    })
}

/// The `ceil(ratio n)` nodes of each graph with the highest scores (n x 1), in
/// descending order, those with the same score in the order of their numbers;
/// and where each graph's begin.
pub(super) fn best(
    score: &Tracked,
    structure: &Structure,
    ratio: f64,
) -> CandleResult<(Vec<u32>, Vec<usize>)> {
    fn run<T: SortKey>(score: &[T], structure: &Structure, ratio: f64) -> (Vec<u32>, Vec<usize>) {
        let mut offsets = Vec::with_capacity(structure.graph_count() + 1);
        offsets.push(0);
        let (mut kept, mut keys) = (Vec::new(), Vec::new());
        for range in structure.segments().ranges() {
            let count = T::share(ratio, range.len()).min(range.len());
            keys.clear();
            keys.extend(range.map(|node| score[node].key(as_u32(node))));
            if count < keys.len() {
                keys.select_nth_unstable(count);
            }
            keys[..count].sort_unstable();
            kept.extend(keys[..count].iter().map(|key| as_u32(T::position(*key))));
            offsets.push(kept.len());
        }
        (kept, offsets)
    }
    for_element!(score.dtype(), T => {
        with_slices([score.values()], |[score]: [&[T]; 1]| Ok(run(score, structure, ratio)))
    })
}

/// The rows of the kept nodes, each times its score, and their mean; the
/// structure is made by `connect`.
pub(super) fn gated(
    h: Tracked,
    score: Tracked,
    structure: &Structure,
    ratio: f64,
    connect: impl FnOnce(&Assignment, &[usize]) -> Result<Structure>,
) -> Result<Pooled> {
    let (kept, offsets) = best(&score, structure, ratio)?;
    let assignment = Assignment::of_single(kept, structure.node_count());
    let rows = assignment.weighted_sum(h, score)?;
    mean_of(rows, connect(&assignment, &offsets)?)
}

/// The subgraph of the kept nodes, edges weighing what they did.
pub(super) fn induced(
    assignment: &Assignment,
    structure: &Structure,
    offsets: &[usize],
) -> Result<Structure> {
    assignment.coarsen(structure, offsets, Weigh::AsBefore)
}

/// The coarser graphs with the mean of their rows.
pub(super) fn mean_of(h: Tracked, structure: Structure) -> Result<Pooled> {
    Ok(Pooled {
        readout: structure.segments().mean(&h)?,
        coarser: Some(Coarser { h, structure }),
        ranks: None,
    })
}

/// The kept nodes, for those who ask.
pub(super) fn as_indices(kept: &[u32]) -> Vec<usize> {
    kept.iter().map(|node| *node as usize).collect()
}
