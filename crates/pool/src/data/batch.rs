//! What one step of training looks at.

use std::sync::Arc;

use candle_core::{DType, Device, Tensor};
use egg_graph::conv::{NodeInput, SparseMatrix};
use egg_graph::{CsrMatrix, GraphBatch, Targets};

use crate::error::{Error, Result};
use crate::structure::Structure;

/// Several graphs, ready for a model.
#[derive(Debug, Clone)]
pub struct Batch {
    /// One row per node.
    pub input: NodeInput,
    /// What convolutions multiply with, as
    /// [`GraphModel::propagation`](crate::model::GraphModel::propagation) asks.
    pub propagation: SparseMatrix,
    /// The propagation times the input, where it was made beforehand: for a first layer that
    /// can do with it ([`egg_graph::PropagatedFeatures`]).
    pub propagated: Option<Arc<CsrMatrix>>,
    /// Whose rows are whose, and who is joined to whom.
    pub structure: Structure,
    /// What is to be predicted, if it is known.
    pub targets: Option<BatchTargets>,
}

impl Batch {
    /// How many graphs.
    pub fn len(&self) -> usize {
        self.structure.graph_count()
    }

    /// Whether there is no graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is to be predicted of each graph of a batch.
#[derive(Debug, Clone)]
pub enum BatchTargets {
    /// One class per graph, u32.
    Classes(Tensor),
    /// One row of numbers per graph, of the model's type.
    Values(Tensor),
}

impl BatchTargets {
    /// The targets of a batch; none if the data set has none.
    ///
    /// # Errors
    /// [`Error::UnknownTarget`] for a graph without a known one.
    pub(super) fn from_batch(batch: &GraphBatch, dtype: DType) -> Result<Option<Self>> {
        let unknown = |at: usize| Error::UnknownTarget {
            graph: batch.indices().get(at).copied().unwrap_or(at),
        };
        Ok(match batch.targets() {
            None => None,
            Some(Targets::Classes(labels)) => {
                let classes = labels.iter().enumerate();
                let classes = classes.map(|(at, class)| class.ok_or_else(|| unknown(at)));
                let classes = classes.collect::<Result<Vec<u32>>>()?;
                let count = classes.len();
                Some(Self::Classes(Tensor::from_vec(classes, count, &Device::Cpu)?))
            }
            Some(Targets::Values(values)) => {
                if let Some(((at, _), _)) = values.indexed_iter().find(|(_, value)| value.is_nan()) {
                    return Err(unknown(at));
                }
                let numbers: Vec<f32> = values.iter().copied().collect();
                let tensor = Tensor::from_vec(numbers, values.dim(), &Device::Cpu)?;
                Some(Self::Values(tensor.to_dtype(dtype)?))
            }
        })
    }
}
