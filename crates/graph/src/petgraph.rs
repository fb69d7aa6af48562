//! To and from petgraph.

use petgraph::graph::UnGraph;
use petgraph::visit::EdgeRef;

use crate::error::Result;
use crate::graph::Graph;

impl Graph {
    /// This graph as a petgraph of the same node numbers, each edge once, with
    /// its weight (1 if there are none).
    ///
    /// ```
    /// use egg_graph::Graph;
    /// let path = Graph::from_edges(3, &[(0, 1), (1, 2)])?.to_petgraph();
    /// assert_eq!(petgraph::algo::connected_components(&path), 1);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn to_petgraph(&self) -> UnGraph<(), f32> {
        let mut graph = UnGraph::with_capacity(self.node_count(), self.entries().len() / 2 + 1);
        let nodes: Vec<_> = (0..self.node_count()).map(|_| graph.add_node(())).collect();
        for (node, row) in self.offsets().windows(2).enumerate() {
            for entry in row[0]..row[1] {
                let other = self.entries()[entry] as usize;
                if node <= other {
                    let weight = self.edge_weights().map_or(1.0, |weights| weights[entry]);
                    graph.add_edge(nodes[node], nodes[other], weight);
                }
            }
        }
        graph
    }

    /// A graph with the nodes and edges of a petgraph, whatever they carry.
    /// Parallel edges are merged, self loops dropped.
    ///
    /// # Errors
    /// [`crate::Error::TooManyNodes`].
    ///
    /// ```
    /// use egg_graph::Graph;
    /// let peers = petgraph::graph::UnGraph::<&str, ()>::from_edges([(0, 1), (1, 2)]);
    /// assert_eq!(Graph::from_petgraph(&peers)?.neighbours(1), [0, 2]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn from_petgraph<N, E>(graph: &UnGraph<N, E>) -> Result<Self> {
        let edges: Vec<_> = graph
            .edge_references()
            .map(|edge| (edge.source().index(), edge.target().index()))
            .collect();
        Self::from_edges(graph.node_count(), &edges)
    }

    /// [`Self::from_petgraph`] with weights; of parallel edges the first counts.
    ///
    /// # Errors
    /// As [`Graph::from_weighted_edges`].
    ///
    /// ```
    /// use egg_graph::Graph;
    /// let graph = Graph::from_weighted_edges(3, &[(0, 1, 2.5), (1, 2, 0.5)])?;
    /// let back = Graph::from_weighted_petgraph(&graph.to_petgraph(), |weight| *weight)?;
    /// assert_eq!(back, graph);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn from_weighted_petgraph<N, E>(graph: &UnGraph<N, E>, weight: impl Fn(&E) -> f32) -> Result<Self> {
        let edges: Vec<_> = graph
            .edge_references()
            .map(|edge| {
                (
                    edge.source().index(),
                    edge.target().index(),
                    weight(edge.weight()),
                )
            })
            .collect();
        Self::from_weighted_edges(graph.node_count(), &edges)
    }
}
