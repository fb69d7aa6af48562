//! The matrix that spreads node features along edges, made once per graph.

use crate::adjacency::MAX_NODES;
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::sparse::CsrMatrix;
use crate::store::Store;

/// One symmetric matrix per graph of a data set. Normalisation is computed here,
/// once; [`Self::batch`] copies the rows that a mini-batch needs.
///
/// ```
/// use egg_graph::{Graph, GraphDataset, Propagation};
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let gcn = Propagation::gcn(&dataset).batch(&[0, 0])?;
/// assert_eq!(gcn.shape(), (4, 4)); // block-diagonal
/// assert_eq!(gcn.values(), [0.5; 8]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Propagation {
    store: Store,
}

impl Propagation {
    /// `D^(-1/2) (A + I) D^(-1/2)` with `D` the row sums of `A + I`, as in GCN.
    ///
    /// Edge weights count if there are any; a node that has a self loop keeps
    /// its weight instead of getting a second one, as in PyTorch Geometric. A
    /// row sum that is not positive counts as infinite.
    pub fn gcn(dataset: &GraphDataset) -> Self {
        let all = dataset.store();
        let mut offsets = Vec::with_capacity(all.offsets.len());
        let room = all.neighbours.len() + all.node_count();
        let mut columns = Vec::with_capacity(room);
        let mut values: Vec<f32> = Vec::with_capacity(room);
        offsets.push(0);
        let mut scales = Vec::new();
        for graph in 0..all.graph_count() {
            let nodes = all.node_range(graph);
            let first = offsets.len() - 1;
            for (id, node) in (0u32..).zip(nodes.clone()) {
                let entries = all.offsets[node]..all.offsets[node + 1];
                let ids = &all.neighbours[entries.clone()];
                let weight = |at: usize| {
                    all.weights
                        .as_ref()
                        .map_or(1.0, |weights| weights[entries.start + at])
                };
                let smaller = ids.partition_point(|other| *other < id);
                let has_loop = ids.get(smaller) == Some(&id);
                for (at, other) in ids.iter().enumerate() {
                    if at == smaller && !has_loop {
                        columns.push(id);
                        values.push(1.0);
                    }
                    columns.push(*other);
                    values.push(weight(at));
                }
                if smaller == ids.len() {
                    columns.push(id);
                    values.push(1.0);
                }
                offsets.push(columns.len());
            }
            scales.clear();
            scales.extend((first..offsets.len() - 1).map(|row| {
                let sum: f64 = values[offsets[row]..offsets[row + 1]]
                    .iter()
                    .map(|value| f64::from(*value))
                    .sum();
                if sum > 0.0 { sum.sqrt().recip() } else { 0.0 }
            }));
            for (row, scale) in scales.iter().enumerate() {
                for entry in offsets[first + row]..offsets[first + row + 1] {
                    let other = scales[columns[entry] as usize];
                    // The scales first: their product is the same in both
                    // directions of an edge, and so is all that follows.
                    #[expect(clippy::cast_possible_truncation, reason = "rounded once, from f64")]
                    {
                        values[entry] = (f64::from(values[entry]) * (scale * other)) as f32;
                    }
                }
            }
        }
        Self::new(all.nodes.clone(), offsets, columns, values)
    }

    /// The adjacency matrix itself, with edge weights if there are any: the sum
    /// over neighbours, as in GIN.
    pub fn sum(dataset: &GraphDataset) -> Self {
        let all = dataset.store();
        let weights = all.weights.clone();
        let values = weights.unwrap_or_else(|| vec![1.0; all.neighbours.len()]);
        Self::new(
            all.nodes.clone(),
            all.offsets.clone(),
            all.neighbours.clone(),
            values,
        )
    }

    fn new(nodes: Vec<usize>, offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32>) -> Self {
        let mut store = Store::bare(nodes, offsets, columns);
        store.weights = Some(values);
        Self { store }
    }

    /// Where the nodes of graphs and the entries of nodes begin, and the entries: columns within
    /// their graph, and values.
    pub(crate) fn parts(&self) -> (&[usize], &[usize], &[u32], &[f32]) {
        let store = &self.store;
        let values = store.weights.as_deref().unwrap_or_default();
        (&store.nodes, &store.offsets, &store.neighbours, values)
    }

    /// How many graphs.
    pub fn len(&self) -> usize {
        self.store.graph_count()
    }

    /// Whether there is no graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The matrices of these graphs as one block-diagonal matrix, in the order
    /// of a [`crate::GraphBatch`] of the same indices.
    ///
    /// # Errors
    /// [`Error::NoSuchGraph`], [`Error::TooManyNodes`].
    pub fn batch(&self, indices: &[usize]) -> Result<CsrMatrix> {
        let mut nodes = 0;
        for &index in indices {
            if index >= self.len() {
                return Err(Error::NoSuchGraph {
                    index,
                    graphs: self.len(),
                });
            }
            nodes += self.store.node_range(index).len();
        }
        if nodes > MAX_NODES {
            return Err(Error::TooManyNodes { nodes: nodes as u64 });
        }
        let batch = self.store.gather(indices, true);
        let values = batch.weights.unwrap_or_default();
        Ok(CsrMatrix::from_checked(
            batch.offsets,
            batch.neighbours,
            values,
            nodes,
        ))
    }

    /// All matrices as one.
    ///
    /// # Errors
    /// None for a data set that exists; the type is that of [`Self::batch`].
    pub fn all(&self) -> Result<CsrMatrix> {
        self.batch(&(0..self.len()).collect::<Vec<_>>())
    }
}
