//! Which edges are contracted: the greedy matching of edge pooling.

use std::ops::Range;

use candle_core::Result;
use egg_tensor::{Backward, Element, Forward, Operand, Operation};
use rayon::prelude::*;

use super::assignment::{Assignment, as_u32};
use super::sort_key::SortKey;
use crate::structure::Structure;

/// Fewer entries than this are worked on one thread.
const PARALLEL_FROM: usize = 1 << 12;

/// Added to an edge's softmax, so that what is contracted is not made small.
const ADDED: f64 = 0.5;

/// What a batch contracts to.
#[derive(Debug)]
pub(super) struct Contraction {
    pub(super) assignment: Assignment,
    /// Where each graph's clusters begin.
    pub(super) offsets: Vec<usize>,
    edges: Vec<Edge>,
}

/// Contracts a batch: from the nodes' `a` (n x 1) to what each of them is multiplied with, the score
/// of the edge it was contracted along, or 1.
pub(super) struct Contract {
    pub(super) structure: Structure,
}

impl<T: SortKey> Operation<T, 1> for Contract {
    type Saved = Contraction;
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "egg-pool-edge-scores"
    }

    fn forward(&self, [a]: [Operand<'_, T>; 1]) -> Result<Forward<T, Contraction>> {
        let (values, saved) = contract(&a, &self.structure);
        Ok(Forward {
            values,
            shape: a.dims.into(),
            saved,
        })
    }

    /// Only the edges that were contracted have a gradient to hand on.
    fn backward(&self, of: Backward<'_, T, Contraction, 1>) -> Result<[Option<Vec<T>>; 1]> {
        let ([a], g) = (of.inputs, of.gradient);
        let adjacency = self.structure.adjacency();
        let mut da = vec![T::default(); a.len()];
        let mut softmax = Vec::new();
        for edge in &of.saved.edges {
            let target = edge.target as usize;
            let mut gradient = g[target];
            if edge.source != edge.target {
                gradient += g[edge.source as usize];
            }
            let range = adjacency.offsets()[target]..adjacency.offsets()[target + 1];
            let sources = &adjacency.columns()[range];
            softmax_into(&a, sources, &mut softmax);
            // d y_u / d a_w = y_u (delta_uw - y_w)
            let of_edge = of.output[target] - T::from_f64(ADDED);
            let gradient = gradient * of_edge;
            da[edge.source as usize] += gradient;
            for (source, share) in sources.iter().zip(&softmax) {
                da[*source as usize] -= gradient * *share;
            }
        }
        Ok([Some(da)])
    }
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    source: u32,
    target: u32,
}

/// The contraction of one graph.
struct Contracted<T> {
    edges: Vec<Edge>,
    scores: Vec<T>,
    /// Nodes that no edge took, ascending.
    single: Vec<u32>,
}

/// Contracts every graph of a batch.
///
/// An edge u -> v scores `1/2 + exp(a_u) / sum_{w ~ v} exp(a_w)`. In descending
/// order (equal scores in the order of source and target) an edge is contracted
/// if neither of its ends is yet.
///
/// # Complexity
/// A sort of each graph's entries; all else is linear.
fn contract<T: SortKey>(a: &[T], structure: &Structure) -> (Vec<T>, Contraction) {
    let ranges: Vec<Range<usize>> = structure.segments().ranges().collect();
    let one = |range: &Range<usize>| of_graph(a, structure, range.clone());
    let graphs: Vec<Contracted<T>> = if structure.adjacency().nonzeros() < PARALLEL_FROM {
        ranges.iter().map(one).collect()
    } else {
        ranges.par_iter().map(one).collect()
    };
    let nodes = structure.node_count();
    let (mut starts, mut members) = (vec![0], Vec::with_capacity(nodes));
    let mut offsets = vec![0];
    let mut of_node = vec![T::one(); nodes];
    let mut contracted = Vec::new();
    for graph in &graphs {
        for (edge, score) in graph.edges.iter().zip(&graph.scores) {
            of_node[edge.source as usize] = *score;
            of_node[edge.target as usize] = *score;
            members.push(edge.source);
            if edge.source != edge.target {
                members.push(edge.target);
            }
            starts.push(as_u32(members.len()));
        }
        for node in &graph.single {
            members.push(*node);
            starts.push(as_u32(members.len()));
        }
        contracted.extend_from_slice(&graph.edges);
        offsets.push(starts.len() - 1);
    }
    let contraction = Contraction {
        assignment: Assignment::new(starts, members, nodes),
        offsets,
        edges: contracted,
    };
    (of_node, contraction)
}

fn of_graph<T: SortKey>(a: &[T], structure: &Structure, nodes: Range<usize>) -> Contracted<T> {
    let adjacency = structure.adjacency();
    let (offsets, columns) = (adjacency.offsets(), adjacency.columns());
    let (first, base) = (nodes.start, offsets[nodes.start]);
    let entries = offsets[nodes.end] - base;

    // Row v lists the sources of the edges into v. The entry of edge u -> v is in
    // row u; targets are visited in order, so each row's are met in theirs.
    let mut cursors: Vec<u32> = offsets[nodes.clone()]
        .iter()
        .map(|at| as_u32(at - base))
        .collect();
    let mut edges = vec![Edge { source: 0, target: 0 }; entries];
    let mut scores = vec![T::default(); entries];
    let mut keys = Vec::with_capacity(entries);
    let mut softmax = Vec::new();
    for target in nodes.clone() {
        let sources = &columns[offsets[target]..offsets[target + 1]];
        softmax_into(a, sources, &mut softmax);
        for (source, share) in sources.iter().zip(&softmax) {
            let cursor = &mut cursors[*source as usize - first];
            let (entry, score) = (*cursor, *share + T::from_f64(ADDED));
            *cursor += 1;
            edges[entry as usize] = Edge {
                source: *source,
                target: as_u32(target),
            };
            scores[entry as usize] = score;
            keys.push(score.key(entry));
        }
    }
    keys.sort_unstable();

    let mut free = vec![true; nodes.len()];
    let mut left = nodes.len();
    let mut found = Contracted {
        edges: Vec::with_capacity(nodes.len() / 2),
        scores: Vec::with_capacity(nodes.len() / 2),
        single: Vec::new(),
    };
    for key in keys {
        let entry = T::position(key);
        let edge = edges[entry];
        let (source, target) = (edge.source as usize - first, edge.target as usize - first);
        if free[source] && free[target] {
            found.edges.push(edge);
            found.scores.push(scores[entry]);
            (free[source], free[target]) = (false, false);
            left -= if source == target { 1 } else { 2 };
            if left == 0 {
                break;
            }
        }
    }
    found
        .single
        .extend(nodes.filter(|node| free[node - first]).map(as_u32));
    found
}

/// The softmax of `a` over these nodes.
fn softmax_into<T: Element>(a: &[T], nodes: &[u32], out: &mut Vec<T>) {
    out.clear();
    let Some(first) = nodes.first() else { return };
    let mut most = a[*first as usize];
    for node in &nodes[1..] {
        let value = a[*node as usize];
        most = if value > most { value } else { most };
    }
    out.extend(nodes.iter().map(|node| (a[*node as usize] - most).exp()));
    let mut total = T::default();
    out.iter().for_each(|share| total += *share);
    out.iter_mut().for_each(|share| *share /= total);
}
