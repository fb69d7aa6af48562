//! One undirected graph.

use ndarray::{Array2, ArrayView2, s};

use crate::adjacency::{self, Built, EdgeNotes, EdgeRows, MAX_NODES, SelfLoops};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::labels::Labels;
use crate::store::Store;

/// An undirected graph: sorted neighbour lists, node features, and, where there
/// are any, edge weights, edge attributes and node labels.
///
/// ```
/// use egg_graph::{Features, Graph};
/// use ndarray::array;
///
/// // A path of three nodes. Each edge may be given in one direction or both.
/// let graph = Graph::from_edges(3, &[(0, 1), (2, 1)])?
///     .with_features(Features::dense(array![[1.0], [0.0], [1.0]])?)?;
/// assert_eq!(graph.neighbours(1), [0, 2]);
/// assert_eq!((graph.node_count(), graph.edge_count()), (3, 2));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    store: Store,
}

impl Graph {
    /// A graph from a list of edges, each in one direction or both, repeated or
    /// not. Self loops are dropped; [`Self::from_edges_noting`] counts them.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`] for an edge to a node that is not below
    /// `nodes`, [`Error::TooManyNodes`] above [`MAX_NODES`].
    ///
    /// ```
    /// use egg_graph::Graph;
    /// let triangle = Graph::from_edges(3, &[(0, 1), (1, 2), (2, 0), (0, 2)])?;
    /// assert_eq!(triangle.edge_count(), 3);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn from_edges(nodes: usize, edges: &[(usize, usize)]) -> Result<Self> {
        Self::from_edges_noting(nodes, edges).map(|(graph, _)| graph)
    }

    /// [`Self::from_edges`], with what the list had beyond a set of edges.
    ///
    /// # Errors
    /// As [`Self::from_edges`].
    pub fn from_edges_noting(nodes: usize, edges: &[(usize, usize)]) -> Result<(Self, EdgeNotes)> {
        let rows = checked_rows(nodes, edges.iter().copied())?;
        let built = rows.into_adjacency(nodes, SelfLoops::Remove, false);
        Ok((Self::from_built(built.adjacency), built.notes))
    }

    /// A graph from weighted edges; of an edge that is listed more than once
    /// the first weight counts.
    ///
    /// # Errors
    /// As [`Self::from_edges`], and [`Error::NonFinite`] for a weight that is
    /// NaN or infinite.
    ///
    /// ```
    /// use egg_graph::Graph;
    /// let graph = Graph::from_weighted_edges(2, &[(0, 1, 0.5)])?;
    /// assert_eq!(graph.edge_weights(), Some(&[0.5, 0.5][..]));
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn from_weighted_edges(nodes: usize, edges: &[(usize, usize, f32)]) -> Result<Self> {
        let rows = checked_rows(nodes, edges.iter().map(|&(source, target, _)| (source, target)))?;
        if u32::try_from(rows.len()).is_err() {
            return Err(Error::parameter(
                "edges",
                rows.len(),
                "fewer than 2^32 weighted edges",
            ));
        }
        let Built { adjacency, rows, .. } = rows.into_adjacency(nodes, SelfLoops::Remove, true);
        let weights = rows.iter().map(|row| edges[*row as usize].2).collect();
        Self::from_built(adjacency).with_edge_weights(weights)
    }

    /// A graph from compressed rows, as another library may have them: node v's
    /// neighbours are `neighbours[offsets[v]..offsets[v + 1]]`.
    ///
    /// # Errors
    /// [`Error::Rows`] if neighbours are not ascending, distinct and below n, or
    /// if an edge is there in one direction only; [`Error::Length`] if the
    /// parts don't fit. [`Self::from_edges`] takes edges in any state.
    ///
    /// ```
    /// use egg_graph::Graph;
    /// assert!(Graph::from_csr(vec![0, 1, 2], vec![1, 0]).is_ok());
    /// assert!(Graph::from_csr(vec![0, 1, 1], vec![1]).is_err()); // one way only
    /// ```
    pub fn from_csr(offsets: Vec<usize>, neighbours: Vec<u32>) -> Result<Self> {
        adjacency::check(&offsets, &neighbours)?;
        if offsets.first() != Some(&0) {
            return Err(Error::Rows {
                what: "adjacency",
                row: 0,
                problem: "the first position must be 0".into(),
            });
        }
        Ok(Self::from_built(adjacency::Adjacency { offsets, neighbours }))
    }

    pub(crate) fn from_built(adjacency: adjacency::Adjacency) -> Self {
        let nodes = vec![0, adjacency.offsets.len() - 1];
        Self {
            store: Store::bare(nodes, adjacency.offsets, adjacency.neighbours),
        }
    }

    pub(crate) fn from_store(store: Store) -> Self {
        Self { store }
    }

    pub(crate) fn into_store(self) -> Store {
        self.store
    }

    /// Gives the nodes features, one row per node.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one row per node.
    ///
    /// ```
    /// use egg_graph::{Features, Graph};
    /// let graph = Graph::from_edges(2, &[(0, 1)])?;
    /// assert!(graph.with_features(Features::none(3)).is_err());
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn with_features(mut self, features: Features) -> Result<Self> {
        self.store.features = features;
        self.checked()
    }

    /// Gives the edges weights, one per entry of [`Self::offsets`]'s rows, so
    /// each edge twice, with the same weight.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NonFinite`] or [`Error::Rows`].
    pub fn with_edge_weights(mut self, weights: Vec<f32>) -> Result<Self> {
        self.store.weights = Some(weights);
        self.checked()
    }

    /// Gives the edges attributes, one row per entry, so each edge twice, with
    /// the same attributes.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NonFinite`] or [`Error::Rows`].
    pub fn with_edge_attributes(mut self, attributes: Array2<f32>) -> Result<Self> {
        self.store.attributes = Some(attributes);
        self.checked()
    }

    /// Gives the nodes classes.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one per node.
    ///
    /// ```
    /// use egg_graph::{Graph, Labels};
    /// let graph = Graph::from_edges(2, &[(0, 1)])?.with_node_labels(Labels::from_values(&[5, 6]))?;
    /// assert_eq!(graph.node_labels().and_then(|labels| labels.get(1)), Some(1));
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn with_node_labels(mut self, labels: Labels) -> Result<Self> {
        self.store.labels = Some(labels);
        self.checked()
    }

    /// Takes the nodes' classes away, for whoever must not see them.
    ///
    /// ```
    /// use egg_graph::{Graph, Labels};
    /// let graph = Graph::from_edges(2, &[(0, 1)])?.with_node_labels(Labels::from_values(&[5, 6]))?;
    /// assert!(graph.without_node_labels().node_labels().is_none());
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn without_node_labels(mut self) -> Self {
        self.store.labels = None;
        self
    }

    fn checked(self) -> Result<Self> {
        self.store.check()?;
        Ok(self)
    }

    /// A view of this graph, the same type that a data set gives.
    pub fn view(&self) -> GraphView<'_> {
        GraphView::new(&self.store, 0)
    }

    /// n.
    pub fn node_count(&self) -> usize {
        self.store.node_count()
    }

    /// Undirected edges, without self loops.
    pub fn edge_count(&self) -> usize {
        self.store.edge_counts(0).0
    }

    /// Nodes with an edge to themselves.
    pub fn self_loop_count(&self) -> usize {
        self.store.edge_counts(0).1
    }

    /// Where each node's neighbours begin, and the end: n + 1 positions.
    pub fn offsets(&self) -> &[usize] {
        &self.store.offsets
    }

    /// The neighbours of all nodes, one row after the other: each edge is there
    /// twice, a self loop once.
    pub fn entries(&self) -> &[u32] {
        &self.store.neighbours
    }

    /// The neighbours of a node, ascending; none of a node that is not there.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        self.view().neighbours(node)
    }

    /// One row per node.
    pub fn features(&self) -> &Features {
        &self.store.features
    }

    /// One per entry.
    pub fn edge_weights(&self) -> Option<&[f32]> {
        self.store.weights.as_deref()
    }

    /// One row per entry.
    pub fn edge_attributes(&self) -> Option<ArrayView2<'_, f32>> {
        self.store.attributes.as_ref().map(|attributes| attributes.view())
    }

    /// One per node.
    pub fn node_labels(&self) -> Option<&Labels> {
        self.store.labels.as_ref()
    }
}

fn checked_rows(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Result<EdgeRows> {
    if nodes > MAX_NODES {
        return Err(Error::TooManyNodes { nodes: nodes as u64 });
    }
    let mut rows = EdgeRows::default();
    for (edge, (source, target)) in edges.enumerate() {
        for node in [source, target] {
            if node >= nodes {
                return Err(Error::NodeOutOfRange {
                    edge,
                    node: node as u64,
                    nodes,
                });
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "below nodes <= MAX_NODES")]
        rows.push(source as u32, target as u32);
    }
    Ok(rows)
}

/// A graph inside a data set, borrowed.
///
/// ```
/// use egg_graph::{Graph, GraphDataset};
///
/// let pair = Graph::from_edges(2, &[(0, 1)])?;
/// let dataset = GraphDataset::from_graphs("pairs", &[pair.clone(), pair.clone()])?;
/// let second = dataset.graph(1)?;
/// assert_eq!(second.neighbours(0), [1]);
/// assert_eq!(second.to_graph(), pair);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct GraphView<'a> {
    store: &'a Store,
    index: usize,
}

impl<'a> GraphView<'a> {
    /// The graph must be there, with local ids.
    pub(crate) fn new(store: &'a Store, index: usize) -> Self {
        Self { store, index }
    }

    /// n.
    pub fn node_count(self) -> usize {
        self.store.node_range(self.index).len()
    }

    /// Undirected edges, without self loops.
    pub fn edge_count(self) -> usize {
        self.store.edge_counts(self.index).0
    }

    /// The neighbours of a node, ascending; none of a node that is not there.
    pub fn neighbours(self, node: usize) -> &'a [u32] {
        let nodes = self.store.node_range(self.index);
        match nodes.start.checked_add(node) {
            Some(node) if node < nodes.end => {
                &self.store.neighbours[self.store.offsets[node]..self.store.offsets[node + 1]]
            }
            _ => &[],
        }
    }

    /// How many neighbours a node has; a self loop counts once.
    pub fn degree(self, node: usize) -> usize {
        self.neighbours(node).len()
    }

    /// Each undirected edge once, smaller end first, ascending; self loops
    /// are among them.
    pub fn edges(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        (0..self.node_count()).flat_map(move |node| {
            let row = self.neighbours(node);
            let larger = row.partition_point(|id| (*id as usize) < node);
            row[larger..].iter().map(move |id| (node, *id as usize))
        })
    }

    /// The features of this graph's nodes if they are dense.
    pub fn dense_features(self) -> Option<ArrayView2<'a, f32>> {
        let range = self.store.node_range(self.index);
        let all = self.store.features.as_dense()?;
        Some(all.slice_move(s![range, ..]))
    }

    /// An owned copy.
    pub fn to_graph(self) -> Graph {
        Graph::from_store(self.store.gather(&[self.index], false))
    }
}
