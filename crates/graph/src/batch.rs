//! A mini-batch: several graphs as one block-diagonal graph.

use crate::adjacency::MAX_NODES;
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::labels::{Labels, Targets};
use crate::store::Store;

/// Several graphs of a data set side by side: node ids count through, and no
/// edge joins two graphs.
///
/// Rows `offsets()[g]..offsets()[g + 1]` of every node matrix belong to the
/// g-th graph of the batch.
///
/// ```
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
///
/// let graphs = [Graph::from_edges(2, &[(0, 1)])?, Graph::from_edges(3, &[(0, 1), (1, 2)])?];
/// let dataset = GraphDataset::from_graphs("paths", &graphs)?;
/// let batch = GraphBatch::new(&dataset, &[1, 0])?;
/// assert_eq!(batch.offsets(), [0, 3, 5]);
/// assert_eq!(batch.neighbours(3), [4]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GraphBatch {
    indices: Vec<usize>,
    store: Store,
    targets: Option<Targets>,
}

impl GraphBatch {
    /// The graphs with these indices, in this order; an index may be repeated.
    ///
    /// # Complexity
    /// Linear in the nodes and edges of the batch: rows are copied, nothing is
    /// sorted or looked up.
    ///
    /// # Errors
    /// [`Error::NoSuchGraph`], [`Error::TooManyNodes`].
    pub fn new(dataset: &GraphDataset, indices: &[usize]) -> Result<Self> {
        let mut nodes = 0;
        for index in indices {
            dataset.check_index(*index)?;
            nodes += dataset.store().node_range(*index).len();
        }
        if nodes > MAX_NODES {
            return Err(Error::TooManyNodes { nodes: nodes as u64 });
        }
        Ok(Self {
            indices: indices.to_vec(),
            store: dataset.store().gather(indices, true),
            targets: dataset.targets().map(|targets| targets.select(indices)),
        })
    }

    /// The whole data set as one batch.
    ///
    /// # Errors
    /// None for a data set that exists; the type is that of [`Self::new`].
    pub fn all(dataset: &GraphDataset) -> Result<Self> {
        Self::new(dataset, &(0..dataset.len()).collect::<Vec<_>>())
    }

    /// Which graphs of the data set these are.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// How many graphs.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there is no graph.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Nodes of all graphs.
    pub fn node_count(&self) -> usize {
        self.store.node_count()
    }

    /// Where each graph's nodes begin, and the end.
    #[expect(
        clippy::misnamed_getters,
        reason = "a batch's offsets are its graphs', as in every segment operation"
    )]
    pub fn offsets(&self) -> &[usize] {
        &self.store.nodes
    }

    /// Where each node's neighbours begin in [`Self::entries`], and the end.
    pub fn row_offsets(&self) -> &[usize] {
        &self.store.offsets
    }

    /// The neighbours of all nodes, one row after the other.
    pub fn entries(&self) -> &[u32] {
        &self.store.neighbours
    }

    /// The neighbours of a node, ascending; none of a node that is not there.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        match self.store.offsets.get(node..) {
            Some(&[start, end, ..]) => &self.store.neighbours[start..end],
            _ => &[],
        }
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
    pub fn edge_attributes(&self) -> Option<ndarray::ArrayView2<'_, f32>> {
        self.store.attributes.as_ref().map(|attributes| attributes.view())
    }

    /// The class of each node.
    pub fn node_labels(&self) -> Option<&Labels> {
        self.store.labels.as_ref()
    }

    /// What is to be predicted of each graph.
    pub fn targets(&self) -> Option<&Targets> {
        self.targets.as_ref()
    }
}

/// Cuts a list of indices into batches of at most `size`; the last may be
/// smaller.
///
/// ```
/// let order = [4, 2, 0, 1, 3];
/// let batches: Vec<&[usize]> = egg_graph::batches(&order, 2).collect();
/// assert_eq!(batches, [&[4, 2][..], &[0, 1], &[3]]);
/// ```
pub fn batches(order: &[usize], size: usize) -> impl ExactSizeIterator<Item = &[usize]> {
    order.chunks(size.max(1))
}
