//! Whose rows are whose, and who is joined to whom.

use std::sync::Arc;

use egg_graph::{CsrMatrix, GraphBatch};

use crate::error::Result;

/// The graphs of a batch, without their features: where each one's nodes begin,
/// and the weighted neighbours of each node.
///
/// A coarsening makes a smaller one. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Structure {
    offsets: Arc<[usize]>,
    adjacency: Arc<CsrMatrix>,
}

impl Structure {
    /// The structure of a batch; edges without weights weigh 1.
    ///
    /// # Errors
    /// None for a batch that exists.
    pub fn of(batch: &GraphBatch) -> Result<Self> {
        let entries = batch.entries();
        let weights = batch
            .edge_weights()
            .map_or_else(|| vec![1.0; entries.len()], <[f32]>::to_vec);
        let nodes = batch.node_count();
        let adjacency = CsrMatrix::new(batch.row_offsets().to_vec(), entries.to_vec(), weights, nodes)?;
        Ok(Self {
            offsets: batch.offsets().into(),
            adjacency: Arc::new(adjacency),
        })
    }

    /// How many graphs.
    pub fn graph_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many nodes in all.
    pub fn node_count(&self) -> usize {
        self.adjacency.shape().0
    }

    /// Where each graph's nodes begin, and the end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Symmetric, block-diagonal; no self loops unless the data have them.
    pub fn adjacency(&self) -> &CsrMatrix {
        &self.adjacency
    }
}
