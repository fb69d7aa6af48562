//! Who is whose neighbour: symmetric compressed rows, made from a list of edges.
//!
//! The cost of making it is linear in the number of edges: a counting sort by
//! the smaller end, a sort within each (short) row, and a mirror pass.

use rayon::prelude::*;

use crate::error::{Error, Result};

/// The most nodes that one graph or one data set can hold: 2^31 - 1.
///
/// One bit of a 32-bit index is needed while edges are sorted.
pub const MAX_NODES: usize = (1 << 31) - 1;

/// What an edge list had beyond a set of undirected edges.
///
/// ```
/// use egg_graph::Graph;
///
/// let (graph, notes) = Graph::from_edges_noting(3, &[(0, 1), (1, 0), (1, 2), (1, 2), (2, 2)])?;
/// assert_eq!(graph.edge_count(), 2);
/// assert_eq!((notes.self_loops, notes.duplicates, notes.one_way), (1, 1, 1));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct EdgeNotes {
    /// Rows that were listed.
    pub listed: u64,
    /// Nodes with an edge to themselves, each counted once.
    pub self_loops: u64,
    /// Rows that repeat a row in the same direction.
    pub duplicates: u64,
    /// Edges listed in one direction only; the other was added.
    pub one_way: u64,
}

impl EdgeNotes {
    /// Of another graph of the same data set.
    pub(crate) fn add(&mut self, other: Self) {
        self.listed += other.listed;
        self.self_loops += other.self_loops;
        self.duplicates += other.duplicates;
        self.one_way += other.one_way;
    }
}

/// A list of directed rows on its way to becoming an [`Adjacency`].
#[derive(Debug, Clone, Default)]
pub(crate) struct EdgeRows {
    pub(crate) sources: Vec<u32>,
    pub(crate) targets: Vec<u32>,
}

/// Symmetric compressed rows with sorted, distinct neighbours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Adjacency {
    /// n + 1 positions in `neighbours`.
    pub(crate) offsets: Vec<usize>,
    pub(crate) neighbours: Vec<u32>,
}

impl Adjacency {
    /// Counts the nodes of each graph from 0. `starts` are the first nodes of the
    /// graphs and the number of all; edges stay within a graph.
    pub(crate) fn count_within(&mut self, starts: &[usize]) {
        for &[first, end] in starts.array_windows() {
            let entries = self.offsets[first]..self.offsets[end];
            #[expect(clippy::cast_possible_truncation, reason = "at most MAX_NODES")]
            let first = first as u32;
            self.neighbours[entries].iter_mut().for_each(|id| *id -= first);
        }
    }
}

/// Whether edges from a node to itself stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SelfLoops {
    /// They go, as in PyTorch Geometric's readers; their number is noted.
    #[default]
    Remove,
    /// They stay.
    Keep,
}

/// The result of [`EdgeRows::into_adjacency`].
pub(crate) struct Built {
    pub(crate) adjacency: Adjacency,
    pub(crate) notes: EdgeNotes,
    /// For each entry of the adjacency, the first listed row that it came
    /// from, in either direction; empty unless asked for.
    pub(crate) rows: Vec<u32>,
}

impl EdgeRows {
    pub(crate) fn push(&mut self, source: u32, target: u32) {
        self.sources.push(source);
        self.targets.push(target);
    }

    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    /// Sorts, merges and mirrors. Every id must be below `nodes`, which is at
    /// most [`MAX_NODES`]; `keep_rows` asks for [`Built::rows`] and needs fewer
    /// than 2^32 listed rows.
    pub(crate) fn into_adjacency(self, nodes: usize, self_loops: SelfLoops, keep_rows: bool) -> Built {
        debug_assert!(nodes <= MAX_NODES);
        let listed = self.sources.len();
        // A listed row is kept under its smaller end, as the larger end and a
        // bit for the direction.
        let mut offsets = vec![0usize; nodes + 1];
        for (source, target) in self.sources.iter().zip(&self.targets) {
            offsets[*source.min(target) as usize + 1] += 1;
        }
        accumulate(&mut offsets);
        let mut cursors = offsets.clone();
        let mut codes = vec![0u32; listed];
        let mut rows = vec![0u32; if keep_rows { listed } else { 0 }];
        for (row, (&source, &target)) in self.sources.iter().zip(&self.targets).enumerate() {
            let (small, large) = (source.min(target), source.max(target));
            let cursor = &mut cursors[small as usize];
            codes[*cursor] = large << 1 | u32::from(source > target);
            if keep_rows {
                #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 rows")]
                {
                    rows[*cursor] = row as u32;
                }
            }
            *cursor += 1;
        }
        drop(self);
        drop(cursors);

        let mut notes = EdgeNotes {
            listed: listed as u64,
            ..EdgeNotes::default()
        };
        let (uppers, codes, rows) = merge_rows(&offsets, codes, rows, self_loops, &mut notes);
        let (adjacency, rows) = mirror(nodes, &uppers, &codes, &rows);
        Built {
            adjacency,
            notes,
            rows,
        }
    }
}

/// Turns counts at 1.. into positions.
pub(crate) fn accumulate(counts: &mut [usize]) {
    let mut total = 0;
    for count in counts {
        total += *count;
        *count = total;
    }
}

/// Sorts each row's codes and keeps one of each larger end. Returns positions,
/// larger ends and (if there are any) the first listed rows.
fn merge_rows(
    offsets: &[usize],
    mut codes: Vec<u32>,
    mut listed: Vec<u32>,
    self_loops: SelfLoops,
    notes: &mut EdgeNotes,
) -> (Vec<usize>, Vec<u32>, Vec<u32>) {
    let nodes = offsets.len() - 1;
    sort_rows(offsets, &mut codes, &mut listed);
    let mut uppers = vec![0usize; nodes + 1];
    let mut kept = 0;
    for node in 0..nodes {
        let mut at = offsets[node];
        let end = offsets[node + 1];
        while at < end {
            let large = codes[at] >> 1;
            let group = at;
            while at < end && codes[at] >> 1 == large {
                at += 1;
            }
            let forward = codes[group..at].partition_point(|code| code & 1 == 0);
            let (forward, backward) = (forward as u64, (at - group - forward) as u64);
            let is_loop = large as usize == node;
            if is_loop {
                notes.self_loops += 1;
                notes.duplicates += forward - 1;
            } else {
                notes.duplicates += forward.saturating_sub(1) + backward.saturating_sub(1);
                notes.one_way += u64::from(forward == 0 || backward == 0);
            }
            if is_loop && self_loops == SelfLoops::Remove {
                continue;
            }
            codes[kept] = large;
            if !listed.is_empty() {
                listed[kept] = listed[group..at].iter().copied().min().unwrap_or_default();
            }
            kept += 1;
        }
        uppers[node + 1] = kept;
    }
    codes.truncate(kept);
    if !listed.is_empty() {
        listed.truncate(kept);
    }
    (uppers, codes, listed)
}

fn sort_rows(offsets: &[usize], codes: &mut [u32], listed: &mut [u32]) {
    if listed.is_empty() {
        let mut rows = Vec::with_capacity(offsets.len() - 1);
        let mut rest = codes;
        for bounds in offsets.windows(2) {
            let (row, after) = rest.split_at_mut(bounds[1] - bounds[0]);
            rows.push(row);
            rest = after;
        }
        rows.into_par_iter().with_min_len(256).for_each(|row| {
            // Most files list neighbours in order.
            if !row.is_sorted() {
                row.sort_unstable();
            }
        });
        return;
    }
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for bounds in offsets.windows(2) {
        let (codes, listed) = (
            &mut codes[bounds[0]..bounds[1]],
            &mut listed[bounds[0]..bounds[1]],
        );
        if codes.is_sorted() {
            continue;
        }
        pairs.clear();
        pairs.extend(codes.iter().copied().zip(listed.iter().copied()));
        pairs.sort_unstable();
        for (index, (code, row)) in pairs.iter().enumerate() {
            codes[index] = *code;
            listed[index] = *row;
        }
    }
}

/// From rows of larger (or equal) ends to full rows.
fn mirror(nodes: usize, uppers: &[usize], larger: &[u32], listed: &[u32]) -> (Adjacency, Vec<u32>) {
    let mut offsets = vec![0usize; nodes + 1];
    for node in 0..nodes {
        offsets[node + 1] += uppers[node + 1] - uppers[node];
        for &other in &larger[uppers[node]..uppers[node + 1]] {
            offsets[other as usize + 1] += usize::from(other as usize != node);
        }
    }
    accumulate(&mut offsets);
    let total = offsets[nodes];
    let mut neighbours = vec![0u32; total];
    let mut rows = vec![0u32; if listed.is_empty() { 0 } else { total }];
    // The smaller neighbours of a node arrive in ascending order, before the
    // node's own turn; its larger ones follow when its turn comes.
    let mut cursors = offsets[..nodes].to_vec();
    for node in 0..nodes {
        let (start, end) = (uppers[node], uppers[node + 1]);
        let at = cursors[node];
        neighbours[at..at + end - start].copy_from_slice(&larger[start..end]);
        if !listed.is_empty() {
            rows[at..at + end - start].copy_from_slice(&listed[start..end]);
        }
        for entry in start..end {
            let other = larger[entry] as usize;
            if other == node {
                continue;
            }
            let cursor = cursors[other];
            #[expect(clippy::cast_possible_truncation, reason = "nodes <= MAX_NODES")]
            {
                neighbours[cursor] = node as u32;
            }
            if !listed.is_empty() {
                rows[cursor] = listed[entry];
            }
            cursors[other] += 1;
        }
    }
    (Adjacency { offsets, neighbours }, rows)
}

/// Checks rows that came from outside: positions ascend and end where the
/// neighbours do, ids are in range, sorted and distinct, and every edge is
/// there in both directions.
pub(crate) fn check(offsets: &[usize], neighbours: &[u32]) -> Result<()> {
    let base = check_offsets("adjacency", offsets, neighbours.len())?;
    let nodes = offsets.len() - 1;
    let row = |node: usize| &neighbours[offsets[node] - base..offsets[node + 1] - base];
    for node in 0..nodes {
        let ids = row(node);
        let problem = if let Some(id) = ids.iter().find(|id| **id as usize >= nodes) {
            format!("neighbour {id} is out of range: there are {nodes} nodes")
        } else if let Some(pair) = ids.windows(2).find(|pair| pair[0] >= pair[1]) {
            format!(
                "neighbours {} and {} are not in ascending order",
                pair[0], pair[1]
            )
        } else {
            continue;
        };
        return Err(Error::Rows {
            what: "adjacency",
            row: node,
            problem,
        });
    }
    // Rows are sorted, so the entries of a column, met row by row, must be the
    // entries of that row in order.
    let mut cursors: Vec<usize> = offsets[..nodes].iter().map(|offset| offset - base).collect();
    for node in 0..nodes {
        for &other in row(node) {
            let cursor = cursors[other as usize];
            if cursor >= offsets[other as usize + 1] - base || neighbours[cursor] as usize != node {
                return Err(Error::Rows {
                    what: "adjacency",
                    row: node,
                    problem: format!("neighbour {other} does not list it in return; edges are undirected"),
                });
            }
            cursors[other as usize] += 1;
        }
    }
    Ok(())
}

/// Checks that positions ascend and span `entries`; returns the first.
pub(crate) fn check_offsets(what: &'static str, offsets: &[usize], entries: usize) -> Result<usize> {
    let (Some(&base), Some(&end)) = (offsets.first(), offsets.last()) else {
        return Err(Error::Length {
            what,
            unit: "row positions",
            expected: 1,
            found: 0,
        });
    };
    if let Some(row) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(Error::Rows {
            what,
            row,
            problem: format!(
                "its end {} lies before its start {}",
                offsets[row + 1],
                offsets[row]
            ),
        });
    }
    if end - base != entries {
        return Err(Error::Length {
            what,
            unit: "entries",
            expected: end - base,
            found: entries,
        });
    }
    if offsets.len() - 1 > MAX_NODES {
        return Err(Error::TooManyNodes {
            nodes: offsets.len() as u64 - 1,
        });
    }
    Ok(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn rows(edges: &[(u32, u32)]) -> EdgeRows {
        let mut rows = EdgeRows::default();
        for &(source, target) in edges {
            rows.push(source, target);
        }
        rows
    }

    proptest! {
        #[test]
        fn adjacency_equals_a_set_of_pairs(
            edges in prop::collection::vec((0u32..9, 0u32..9), 0..60),
            keep in any::<bool>(),
        ) {
            let self_loops = if keep { SelfLoops::Keep } else { SelfLoops::Remove };
            let built = rows(&edges).into_adjacency(9, self_loops, true);
            let mut expected = BTreeSet::new();
            let mut first = BTreeMap::new();
            for (row, &(a, b)) in edges.iter().enumerate() {
                if a != b || keep {
                    expected.extend([(a, b), (b, a)]);
                    first.entry((a.min(b), a.max(b))).or_insert(row as u32);
                }
            }
            let adjacency = &built.adjacency;
            let mut found = Vec::new();
            for node in 0..9u32 {
                for entry in adjacency.offsets[node as usize]..adjacency.offsets[node as usize + 1] {
                    let other = adjacency.neighbours[entry];
                    found.push((node, other));
                    prop_assert_eq!(built.rows[entry], first[&(node.min(other), node.max(other))]);
                }
            }
            prop_assert!(found.is_sorted());
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            prop_assert!(check(&adjacency.offsets, &adjacency.neighbours).is_ok());

            let distinct: BTreeSet<_> = edges.iter().copied().collect();
            let loops = distinct.iter().filter(|(a, b)| a == b).count() as u64;
            prop_assert_eq!(built.notes.self_loops, loops);
            prop_assert_eq!(built.notes.duplicates, (edges.len() - distinct.len()) as u64);
            let one_way = distinct.iter().filter(|(a, b)| !distinct.contains(&(*b, *a))).count();
            prop_assert_eq!(built.notes.one_way, one_way as u64);
            let unlabelled = rows(&edges).into_adjacency(9, self_loops, false);
            prop_assert_eq!(&unlabelled.adjacency, adjacency);
        }
    }

    #[test]
    fn invalid_csr_is_refused() {
        for (offsets, neighbours, words) in [
            (vec![], vec![], "row positions"),
            (vec![0, 2, 1], vec![1], "before its start"),
            (vec![0, 1, 3], vec![1, 0], "entries"),
            (vec![0, 1, 2], vec![1, 2], "out of range"),
            (vec![0, 2, 4, 4], vec![2, 1, 0, 0], "ascending"),
            (vec![0, 1, 1], vec![1], "in return"),
            (vec![0, 1, 2, 3], vec![1, 2, 0], "in return"),
        ] {
            let error = check(&offsets, &neighbours).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
