//! What the decoder should predict: the training edges and every node itself.

use std::sync::Arc;

use egg_graph::GraphView;

use crate::error::{Error, Result};

/// The target `A + I` of the likelihoods, in sparse rows, with its weights.
///
/// With n nodes and `s = sum(A)` (each edge counts twice, self loops don't):
/// `pos_weight = (n^2 - s) / s` and `norm = n^2 / (2 (n^2 - s))`.
///
/// Cheap to clone.
///
/// ```
/// use egg_cluster::vgae::LinkTarget;
/// use egg_graph::Graph;
///
/// let target = LinkTarget::new(Graph::from_edges(3, &[(0, 1), (1, 2)])?.view())?;
/// assert_eq!((target.pos_weight(), target.norm()), (5.0 / 4.0, 9.0 / 10.0));
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinkTarget {
    rows: Arc<Rows>,
}

#[derive(Debug)]
struct Rows {
    /// n + 1 positions.
    offsets: Vec<usize>,
    /// Ascending in each row, without the node itself.
    neighbours: Vec<u32>,
}

impl LinkTarget {
    /// The edges of a graph. Weights don't count, and a self loop changes
    /// nothing: every node is its own neighbour already.
    ///
    /// # Errors
    /// [`Error::NoEdges`]: the weights would be infinite.
    pub fn new(graph: GraphView<'_>) -> Result<Self> {
        let nodes = graph.node_count();
        let mut offsets = Vec::with_capacity(nodes + 1);
        let mut neighbours = Vec::with_capacity(2 * graph.edge_count());
        offsets.push(0);
        for node in 0..nodes {
            let others = graph.neighbours(node).iter();
            neighbours.extend(others.filter(|other| **other as usize != node));
            offsets.push(neighbours.len());
        }
        if neighbours.is_empty() {
            return Err(Error::NoEdges { nodes });
        }
        let rows = Rows { offsets, neighbours };
        Ok(Self { rows: Arc::new(rows) })
    }

    /// n.
    pub fn node_count(&self) -> usize {
        self.rows.offsets.len() - 1
    }

    /// Undirected edges.
    pub fn edge_count(&self) -> usize {
        self.rows.neighbours.len() / 2
    }

    /// The weight of a positive pair; a negative one has weight 1.
    pub fn pos_weight(&self) -> f64 {
        self.negatives() / self.positives()
    }

    /// The factor of the mean over all pairs.
    pub fn norm(&self) -> f64 {
        let nodes = self.node_count() as f64;
        nodes * nodes / (2.0 * self.negatives())
    }

    fn positives(&self) -> f64 {
        self.rows.neighbours.len() as f64
    }

    fn negatives(&self) -> f64 {
        let nodes = self.node_count() as f64;
        nodes * nodes - self.positives()
    }

    /// The neighbours of a node, ascending; empty for a node out of range.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        match self.rows.offsets.get(node..) {
            Some(&[start, end, ..]) => &self.rows.neighbours[start..end],
            _ => &[],
        }
    }

    /// Ordered pairs of different nodes that no edge joins.
    pub(super) fn non_edge_count(&self) -> u128 {
        self.non_edges_before(self.node_count())
    }

    /// Those of them whose first node is one of the first `node` ones.
    pub(super) fn non_edges_before(&self, node: usize) -> u128 {
        let others = self.node_count().saturating_sub(1) as u128;
        node as u128 * others - self.rows.offsets[node] as u128
    }

    /// The `rank`-th (from 0) of the nodes that a node is neither joined to nor
    /// itself, ascending. There must be so many.
    ///
    /// # Complexity
    /// `O(log degree)`.
    pub(super) fn non_neighbour(&self, node: usize, rank: usize) -> usize {
        let row = self.neighbours(node);
        let own = row.partition_point(|id| (*id as usize) < node);
        // Neighbours and the node itself, ascending.
        let taken = |index: usize| match index.cmp(&own) {
            std::cmp::Ordering::Less => row[index] as usize,
            std::cmp::Ordering::Equal => node,
            std::cmp::Ordering::Greater => row[index - 1] as usize,
        };
        // Before the index-th of them there are `taken(index) - index` others.
        let (mut low, mut high) = (0, row.len() + 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            if taken(middle) - middle <= rank {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        rank + low
    }
}

#[cfg(test)]
mod tests {
    use egg_graph::Graph;

    use super::*;

    #[test]
    fn non_neighbours_are_numbered_without_gaps() {
        let edges = [
            (0, 1),
            (0, 3),
            (0, 6),
            (2, 5),
            (5, 6),
            (4, 5),
            (1, 5),
            (3, 5),
            (0, 5),
        ];
        let target = LinkTarget::new(Graph::from_edges(7, &edges).unwrap().view()).unwrap();
        let mut before = 0;
        for node in 0..7 {
            let joined = |other: &usize| target.neighbours(node).contains(&(*other as u32));
            let expected: Vec<usize> = (0..7).filter(|other| *other != node && !joined(other)).collect();
            let found: Vec<usize> = (0..expected.len())
                .map(|rank| target.non_neighbour(node, rank))
                .collect();
            assert_eq!(found, expected, "node {node}");
            assert_eq!(target.non_edges_before(node), before);
            before += expected.len() as u128;
        }
        assert_eq!(target.non_edge_count(), before);
        assert_eq!(before, 7 * 6 - 2 * 9);
    }
}
