//! Whose rows are whose, and who is joined to whom.

use std::sync::Arc;

use egg_graph::conv::{SparseMatrix, spmm};
use egg_graph::{CsrMatrix, GraphBatch};
use egg_nn::{Segments, Tracked};

use crate::error::{Error, Result};
use crate::pooling::{Assignment, as_u32};

/// The graphs of a batch, without their features: where each one's nodes begin,
/// and the weighted neighbours of each node.
///
/// A coarsening makes a smaller one. Cheap to clone.
///
/// ```
/// use egg_graph::CsrMatrix;
/// use egg_pool::Structure;
///
/// // An edge, and a node alone.
/// let adjacency = CsrMatrix::new(vec![0, 1, 2, 2], vec![1, 0], vec![1.0, 1.0], 3)?;
/// let structure = Structure::new(&[0, 2, 3], adjacency)?;
/// assert_eq!((structure.graph_count(), structure.node_count()), (2, 3));
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Structure {
    segments: Segments,
    adjacency: Arc<CsrMatrix>,
}

impl Structure {
    /// The structure of a batch; edges without weights weigh 1.
    ///
    /// # Errors
    /// None for a batch that exists.
    pub fn from_batch(batch: &GraphBatch) -> Result<Self> {
        let entries = batch.entries();
        let weights = batch
            .edge_weights()
            .map_or_else(|| vec![1.0; entries.len()], <[f32]>::to_vec);
        let nodes = batch.node_count();
        let adjacency = CsrMatrix::new(batch.row_offsets().to_vec(), entries.to_vec(), weights, nodes)?;
        Self::from_sound(batch.offsets(), adjacency)
    }

    /// A structure from its parts: graph g owns the nodes
    /// `offsets[g]..offsets[g + 1]`.
    ///
    /// # Errors
    /// [`Error::Layer`] if the offsets don't begin with 0 and ascend,
    /// [`Error::Structure`] unless they end at the number of rows of a symmetric
    /// matrix in which no entry joins two graphs.
    ///
    /// # Complexity
    /// Linear in the nodes and entries.
    pub fn new(offsets: &[usize], adjacency: CsrMatrix) -> Result<Self> {
        let structure = Self::from_sound(offsets, adjacency)?;
        structure.check()?;
        Ok(structure)
    }

    /// Parts that are known to be undirected graphs side by side.
    pub(crate) fn from_sound(offsets: &[usize], adjacency: CsrMatrix) -> Result<Self> {
        Ok(Self {
            segments: Segments::new(offsets)?,
            adjacency: Arc::new(adjacency),
        })
    }

    fn check(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Structure { problem });
        let (matrix, nodes) = (self.adjacency(), self.segments.rows());
        if matrix.shape() != (nodes, nodes) {
            let (rows, columns) = matrix.shape();
            return refuse(format!(
                "the graphs have {nodes} nodes, the adjacency is {rows} x {columns}"
            ));
        }
        // Rows are visited in order, so that the entries of a row are met in theirs.
        let mut cursors = matrix.offsets().to_vec();
        for range in self.segments.ranges() {
            for row in range.clone() {
                for (column, value) in matrix.row(row) {
                    if !range.contains(&column) {
                        return refuse(format!("an entry joins nodes {row} and {column} of two graphs"));
                    }
                    let at = cursors[column];
                    cursors[column] += 1;
                    let mirrored = at < matrix.offsets()[column + 1]
                        && matrix.columns()[at] as usize == row
                        && matrix.values()[at] == value;
                    if !mirrored {
                        return refuse(format!(
                            "the adjacency is not symmetric at row {row}, column {column}"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// How many graphs.
    pub fn graph_count(&self) -> usize {
        self.segments.len()
    }

    /// How many nodes in all.
    pub fn node_count(&self) -> usize {
        self.segments.rows()
    }

    /// Where each graph's nodes begin, and the end.
    pub fn offsets(&self) -> &[usize] {
        self.segments.offsets()
    }

    /// The rows of each graph, to sum, average or compare.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Symmetric, block-diagonal; no self loops unless the data have them, or a
    /// coarsening made them.
    pub fn adjacency(&self) -> &CsrMatrix {
        &self.adjacency
    }

    /// `sum_v a_v h_v` over the nodes of each graph: rows n x m and weights n x 1 ->
    /// graphs x m.
    ///
    /// # Errors
    /// [`Error::Structure`] unless there are a row and a weight for each node.
    pub fn weighted_sum(&self, h: impl Into<Tracked>, weights: impl Into<Tracked>) -> Result<Tracked> {
        let (h, weights, nodes) = (h.into(), weights.into(), self.node_count());
        if h.dims().len() != 2 || h.dim(0)? != nodes || weights.dims() != [nodes, 1] {
            return Err(Error::Structure {
                problem: format!(
                    "a weighted sum over {nodes} nodes needs a row and a weight for each, found {:?} and {:?}",
                    h.dims(),
                    weights.dims()
                ),
            });
        }
        let starts = self.offsets().iter().copied().map(as_u32).collect();
        let graphs = Assignment::new(starts, (0..as_u32(nodes)).collect(), nodes);
        graphs.weighted_sum(h, weights)
    }

    /// Gives every node the row of its graph: graphs x m -> n x m.
    ///
    /// ```
    /// use candle_core::{Device, Tensor};
    /// use egg_graph::CsrMatrix;
    /// use egg_pool::Structure;
    ///
    /// let adjacency = CsrMatrix::new(vec![0, 1, 2, 2], vec![1, 0], vec![1.0, 1.0], 3)?;
    /// let structure = Structure::new(&[0, 2, 3], adjacency)?;
    /// let rows = Tensor::new(&[[1f32], [7.0]], &Device::Cpu)?;
    /// assert_eq!(structure.broadcast_to_nodes(&rows)?.to_vec2::<f32>()?, [[1.0], [1.0], [7.0]]);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Graph`] unless there is a row for each graph.
    pub fn broadcast_to_nodes(&self, rows: impl Into<Tracked>) -> Result<Tracked> {
        Ok(spmm(&SparseMatrix::membership(self.offsets())?, rows)?)
    }
}
