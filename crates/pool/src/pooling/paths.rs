//! Paths up to a length: what PAN's maximal entropy transition matrix is made of.

use egg_graph::CsrMatrix;
use rayon::prelude::*;

use super::assignment::{Assignment, as_u32};
use super::neighbours::summed;
use crate::error::Result;
use crate::structure::Structure;

/// The parts of `M = Z^(-1/2) (sum_k c_k A^k) Z^(-1/2)` that don't depend on the
/// coefficients. `A` counts every edge once; `Z_v` is the number of nodes within
/// L steps of v, itself included, which is how many entries row v of M has.
#[derive(Debug)]
pub(super) struct Paths {
    length: usize,
    /// `Z^(-1/2)`.
    scale: Vec<f64>,
}

impl Paths {
    pub(super) fn new(structure: &Structure, length: usize) -> Self {
        let ranges: Vec<_> = structure.segments().ranges().collect();
        let of_graph = |range: &std::ops::Range<usize>| {
            let mut walk = Walk::new(structure, range.start, range.len());
            let reach = |node| walk.reach(node, length);
            range.clone().map(reach).collect::<Vec<_>>()
        };
        let reach: Vec<Vec<usize>> = ranges.par_iter().map(of_graph).collect();
        let scale = reach.into_iter().flatten().map(|z| 1.0 / (z as f64).sqrt());
        Self {
            length,
            scale: scale.collect(),
        }
    }

    /// n x (L + 1): column k is `Z^(-1/2) A^k Z^(-1/2) 1`, so that the column sums
    /// of M are this times c.
    pub(super) fn column_sums(&self, structure: &Structure) -> Vec<f64> {
        let columns = self.length + 1;
        let mut out = vec![0.0; self.scale.len() * columns];
        let mut power = self.scale.clone();
        for k in 0..columns {
            if k > 0 {
                power = summed(&power, structure);
            }
            let rows = out.chunks_exact_mut(columns);
            for (row, (scale, power)) in rows.zip(self.scale.iter().zip(&power)) {
                row[k] = scale * power;
            }
        }
        out
    }

    /// The entries of M among the kept nodes, as a graph.
    pub(super) fn restricted(
        &self,
        structure: &Structure,
        coefficients: &[f64],
        kept: &Assignment,
        offsets: &[usize],
    ) -> Result<Structure> {
        let ranges: Vec<_> = structure.segments().ranges().zip(offsets.windows(2)).collect();
        let of_graph = |(range, clusters): &(std::ops::Range<usize>, &[usize])| {
            let mut walk = Walk::new(structure, range.start, range.len());
            let of_cluster = |cluster: usize| {
                let node = kept.members(cluster)[0] as usize;
                let entries = walk.sum(node, coefficients).filter_map(|(to, sum)| {
                    let value = sum * (self.scale[node] * self.scale[to]);
                    #[expect(clippy::cast_possible_truncation, reason = "matrices are kept in f32")]
                    kept.cluster(to).map(|to| (as_u32(to), value as f32))
                });
                let mut row: Vec<(u32, f32)> = entries.collect();
                row.sort_unstable_by_key(|(to, _)| *to);
                row
            };
            (clusters[0]..clusters[1]).map(of_cluster).collect::<Vec<_>>()
        };
        let rows: Vec<Vec<Vec<(u32, f32)>>> = ranges.par_iter().map(of_graph).collect();
        let mut row_offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in rows.iter().flatten() {
            columns.extend(row.iter().map(|(to, _)| *to));
            values.extend(row.iter().map(|(_, value)| *value));
            row_offsets.push(columns.len());
        }
        let adjacency = CsrMatrix::new(row_offsets, columns, values, kept.len())?;
        Structure::from_sound(offsets, adjacency)
    }
}

/// Walks from one node after the other of a graph, in memory that is kept.
struct Walk<'a> {
    structure: &'a Structure,
    first: usize,
    /// Of each node, how many walks end there after the last step, and after this.
    now: Vec<f64>,
    next: Vec<f64>,
    /// Where they are not 0.
    now_at: Vec<usize>,
    next_at: Vec<usize>,
    /// The weighted sum over all steps, and where there is one.
    sum: Vec<f64>,
    reached: Vec<bool>,
    reached_at: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn new(structure: &'a Structure, first: usize, nodes: usize) -> Self {
        Self {
            structure,
            first,
            now: vec![0.0; nodes],
            next: vec![0.0; nodes],
            now_at: Vec::new(),
            next_at: Vec::new(),
            sum: vec![0.0; nodes],
            reached: vec![false; nodes],
            reached_at: Vec::new(),
        }
    }

    fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> + use<'a> {
        let (structure, first) = (self.structure, self.first);
        let adjacency = structure.adjacency();
        let range = adjacency.offsets()[first + node]..adjacency.offsets()[first + node + 1];
        adjacency.columns()[range]
            .iter()
            .map(move |to| *to as usize - first)
    }

    fn mark(&mut self, node: usize) -> bool {
        let new = !std::mem::replace(&mut self.reached[node], true);
        if new {
            self.reached_at.push(node);
        }
        new
    }

    fn forget(&mut self) {
        for node in self.reached_at.drain(..) {
            self.reached[node] = false;
        }
    }

    /// How many nodes are within `length` steps.
    fn reach(&mut self, node: usize, length: usize) -> usize {
        self.mark(node - self.first);
        let mut ring = 0..1;
        for _ in 0..length {
            for at in ring.clone() {
                // In dense graphs all are found long before all edges are seen.
                if self.reached_at.len() == self.reached.len() {
                    break;
                }
                for to in self.neighbours(self.reached_at[at]) {
                    self.mark(to);
                }
            }
            ring = ring.end..self.reached_at.len();
        }
        let count = self.reached_at.len();
        self.forget();
        count
    }

    /// `sum_k c_k (A^k)_node,to` for every `to` within reach.
    fn sum(&mut self, node: usize, coefficients: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        self.forget();
        self.now_at.clear();
        self.now_at.push(node - self.first);
        self.now[node - self.first] = 1.0;
        for (k, coefficient) in coefficients.iter().enumerate() {
            if k > 0 {
                self.step();
            }
            for index in 0..self.now_at.len() {
                let at = self.now_at[index];
                if self.mark(at) {
                    self.sum[at] = 0.0;
                }
                self.sum[at] += coefficient * self.now[at];
            }
        }
        for at in self.now_at.drain(..) {
            self.now[at] = 0.0;
        }
        let first = self.first;
        let sum = &self.sum;
        self.reached_at.iter().map(move |at| (first + at, sum[*at]))
    }

    /// One more step of every walk.
    fn step(&mut self) {
        for index in 0..self.now_at.len() {
            let at = self.now_at[index];
            let walks = std::mem::take(&mut self.now[at]);
            for to in self.neighbours(at) {
                if self.next[to] == 0.0 {
                    self.next_at.push(to);
                }
                self.next[to] += walks;
            }
        }
        self.now_at.clear();
        std::mem::swap(&mut self.now, &mut self.next);
        std::mem::swap(&mut self.now_at, &mut self.next_at);
    }
}
