//! Which node goes into which node of the coarser graph, and its gradient.

use std::sync::Arc;

use egg_graph::CsrMatrix;
use egg_nn::Tracked;
use egg_tensor::blocks::map_chunks;
use egg_tensor::{Backward, Element, Forward, Operand, Operation, apply};

use super::project::dot;
use crate::error::Result;
use crate::structure::Structure;

/// The cluster of a node that is left out.
const NOWHERE: u32 = u32::MAX;

/// Rows that one task takes.
const ROWS: usize = 128;

/// Disjoint clusters of the nodes of a batch; nodes may be left out.
///
/// The literature's `S`, sparse: `X' = S^T X`, `A' = S^T A S`.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    /// Of each node.
    cluster: Vec<u32>,
    /// Cluster c has the members `starts[c]..starts[c + 1]`.
    starts: Vec<u32>,
    members: Vec<u32>,
}

/// What an entry of the coarser graph weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Weigh {
    /// As it did.
    AsBefore,
    /// 1, however many entries became one.
    One,
}

impl Assignment {
    /// Clusters of one node each.
    pub(super) fn of_single(kept: Vec<u32>, nodes: usize) -> Self {
        let starts = (0..=kept.len()).map(as_u32).collect();
        Self::new(starts, kept, nodes)
    }

    /// Clusters with these members, out of so many nodes.
    pub(crate) fn new(starts: Vec<u32>, members: Vec<u32>, nodes: usize) -> Self {
        let mut cluster = vec![NOWHERE; nodes];
        for (index, range) in (0u32..).zip(starts.windows(2)) {
            for member in &members[range[0] as usize..range[1] as usize] {
                cluster[*member as usize] = index;
            }
        }
        let parts = Arc::new(Parts {
            cluster,
            starts,
            members,
        });
        Self { parts }
    }

    /// How many clusters.
    pub(super) fn len(&self) -> usize {
        self.parts.starts.len() - 1
    }

    /// The nodes of a cluster.
    pub(super) fn members(&self, cluster: usize) -> &[u32] {
        let range = self.parts.starts[cluster] as usize..self.parts.starts[cluster + 1] as usize;
        &self.parts.members[range]
    }

    /// The cluster of a node, unless it is left out.
    pub(super) fn cluster(&self, node: usize) -> Option<usize> {
        match self.parts.cluster[node] {
            NOWHERE => None,
            cluster => Some(cluster as usize),
        }
    }

    /// The clusters as nodes, joined where members are. `offsets` says where each
    /// graph's clusters begin.
    ///
    /// An edge inside a cluster becomes a self loop.
    pub(super) fn coarsen(
        &self,
        structure: &Structure,
        offsets: &[usize],
        weigh: Weigh,
    ) -> Result<Structure> {
        let adjacency = structure.adjacency();
        let mut row_offsets = Vec::with_capacity(self.len() + 1);
        row_offsets.push(0);
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let mut row: Vec<(u32, f32)> = Vec::new();
        for cluster in 0..self.len() {
            row.clear();
            for member in self.members(cluster) {
                let member = *member as usize;
                let range = adjacency.offsets()[member]..adjacency.offsets()[member + 1];
                let entries = adjacency.columns()[range.clone()]
                    .iter()
                    .zip(&adjacency.values()[range]);
                for (node, value) in entries {
                    let to = self.parts.cluster[*node as usize];
                    if to != NOWHERE {
                        row.push((to, if weigh == Weigh::One { 1.0 } else { *value }));
                    }
                }
            }
            row.sort_unstable_by_key(|(to, _)| *to);
            row.dedup_by_key(|(to, _)| *to);
            columns.extend(row.iter().map(|(to, _)| *to));
            values.extend(row.iter().map(|(_, value)| *value));
            row_offsets.push(columns.len());
        }
        let adjacency = CsrMatrix::new(row_offsets, columns, values, self.len())?;
        Structure::from_sound(offsets, adjacency)
    }

    /// The sum of each cluster's rows: n x m -> clusters x m.
    pub(super) fn sum(&self, h: Tracked) -> Result<Tracked> {
        let assignment = self.clone();
        Ok(apply(Gather { assignment }, [h])?)
    }

    /// The sum of each cluster's rows, each weighted by its node's number in
    /// `weights` (n x 1): n x m -> clusters x m.
    pub(crate) fn weighted_sum(&self, h: Tracked, weights: Tracked) -> Result<Tracked> {
        let assignment = self.clone();
        Ok(apply(Gather { assignment }, [h, weights])?)
    }

    fn forward<T: Element>(&self, h: &[T], weights: Option<&[T]>, width: usize) -> Vec<T> {
        let mut out = vec![T::default(); self.len() * width];
        map_chunks(&mut out, ROWS * width, |block, out| {
            for (index, out) in out.chunks_exact_mut(width.max(1)).enumerate() {
                for member in self.members(block * ROWS + index) {
                    let member = *member as usize;
                    let row = &h[member * width..(member + 1) * width];
                    match weights {
                        Some(weights) => {
                            let weight = weights[member];
                            out.iter_mut().zip(row).for_each(|(out, h)| *out += weight * *h);
                        }
                        None => out.iter_mut().zip(row).for_each(|(out, h)| *out += *h),
                    }
                }
            }
        });
        out
    }

    /// The gradients of the rows and of the weights.
    fn backward<T: Element>(
        &self,
        h: &[T],
        weights: Option<&[T]>,
        g: &[T],
        width: usize,
    ) -> (Vec<T>, Vec<T>) {
        let mut dh = vec![T::default(); self.parts.cluster.len() * width];
        let parts = map_chunks(&mut dh, ROWS * width, |block, dh| {
            let mut dw = Vec::with_capacity(if weights.is_some() { ROWS } else { 0 });
            for (index, dh) in dh.chunks_exact_mut(width.max(1)).enumerate() {
                let node = block * ROWS + index;
                let g = match self.parts.cluster[node] {
                    NOWHERE => None,
                    cluster => Some(&g[cluster as usize * width..(cluster as usize + 1) * width]),
                };
                match (g, weights) {
                    (None, None) => {}
                    (None, Some(_)) => dw.push(T::default()),
                    (Some(g), None) => dh.copy_from_slice(g),
                    (Some(g), Some(weights)) => {
                        let weight = weights[node];
                        dh.iter_mut().zip(g).for_each(|(dh, g)| *dh = weight * *g);
                        dw.push(dot(g, &h[node * width..(node + 1) * width]));
                    }
                }
            }
            dw
        });
        (dh, parts.concat())
    }
}

/// Node numbers are below 2^32 by [`egg_graph::MAX_NODES`].
pub(crate) fn as_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

struct Gather {
    assignment: Assignment,
}

impl<T: Element> Operation<T, 1> for Gather {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "egg-pool-cluster-sum"
    }

    fn forward(&self, [h]: [Operand<'_, T>; 1]) -> candle_core::Result<Forward<T>> {
        let (_, width) = h.dims2()?;
        let sums = self.assignment.forward(&h, None, width);
        Ok(Forward::new(sums, (self.assignment.len(), width)))
    }

    fn backward(&self, of: Backward<'_, T, (), 1>) -> candle_core::Result<[Option<Vec<T>>; 1]> {
        let (_, width) = of.output.dims2()?;
        let (dh, _) = self.assignment.backward(&[], None, of.gradient, width);
        Ok([Some(dh)])
    }
}

impl<T: Element> Operation<T, 2> for Gather {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "egg-pool-weighted-cluster-sum"
    }

    fn forward(&self, [h, weights]: [Operand<'_, T>; 2]) -> candle_core::Result<Forward<T>> {
        let (_, width) = h.dims2()?;
        let sums = self.assignment.forward(&h, Some(weights.values), width);
        Ok(Forward::new(sums, (self.assignment.len(), width)))
    }

    fn backward(&self, of: Backward<'_, T, (), 2>) -> candle_core::Result<[Option<Vec<T>>; 2]> {
        let ([h, weights], (_, width)) = (of.inputs, of.output.dims2()?);
        let (dh, dw) = self
            .assignment
            .backward(&h, Some(weights.values), of.gradient, width);
        Ok([Some(dh), Some(dw)])
    }
}
