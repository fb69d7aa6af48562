//! A data set whose propagation matrices are made, once.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use candle_core::{DType, Device};
use egg_graph::conv::NodeInput;
use egg_graph::{GraphBatch, GraphDataset, PropagatedFeatures, Propagation, Targets};
use serde::{Deserialize, Serialize};

use super::batch::{Batch, BatchTargets};
use crate::error::{Error, Result};
use crate::structure::Structure;

/// What a convolution multiplies node features with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PropagationKind {
    /// `D^(-1/2) (A + I) D^(-1/2)`, GCN's.
    Normalised,
    /// `A`, GIN's.
    Sum,
}

/// A data set and its propagation matrices, from which batches are gathered.
/// Cheap to clone, and shared by parallel runs.
///
/// ```
/// use candle_core::DType;
/// use egg_graph::synthetic::CovarianceSet;
/// use egg_pool::data::{PropagationKind, PreparedGraphs};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let dataset = CovarianceSet::default().generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// let graphs = PreparedGraphs::new(dataset, PropagationKind::Normalised, DType::F32)?;
/// let batch = graphs.batch(&[3, 0, 8])?;
/// assert_eq!((batch.len(), batch.input.width()), (3, 10));
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PreparedGraphs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dataset: GraphDataset,
    propagation: Propagation,
    propagated: Option<PropagatedFeatures>,
    kind: PropagationKind,
    dtype: DType,
    fingerprint: OnceLock<String>,
}

impl PreparedGraphs {
    /// Makes the matrices, for models that compute in `dtype`.
    ///
    /// # Errors
    /// [`Error::NoFeatures`] if nodes have none.
    pub fn new(dataset: GraphDataset, kind: PropagationKind, dtype: DType) -> Result<Self> {
        if dataset.features().width() == 0 {
            return Err(Error::NoFeatures {
                dataset: dataset.name().to_owned(),
            });
        }
        let propagation = match kind {
            PropagationKind::Normalised => Propagation::gcn(&dataset),
            PropagationKind::Sum => Propagation::sum(&dataset),
        };
        // GIN's first layer has a number to learn before its weight; and entries are f32.
        let propagated = match (kind, dtype) {
            (PropagationKind::Normalised, DType::F32) => {
                PropagatedFeatures::new(&propagation, dataset.features())
            }
            _ => None,
        };
        Ok(Self {
            shared: Arc::new(Shared {
                dataset,
                propagation,
                propagated,
                kind,
                dtype,
                fingerprint: OnceLock::new(),
            }),
        })
    }

    /// The data set.
    pub fn dataset(&self) -> &GraphDataset {
        &self.shared.dataset
    }

    /// Which matrices were made.
    pub fn propagation(&self) -> PropagationKind {
        self.shared.kind
    }

    /// The type that models on it compute in.
    pub fn dtype(&self) -> DType {
        self.shared.dtype
    }

    /// Node features.
    pub fn inputs(&self) -> usize {
        self.dataset().features().width()
    }

    /// What a model should give for each graph: a score per class, or as many
    /// numbers as there are to predict; `None` without targets.
    pub fn outputs(&self) -> Option<usize> {
        match self.dataset().targets()? {
            Targets::Classes(labels) => Some(labels.class_count()),
            Targets::Values(values) => Some(values.ncols()),
        }
    }

    /// [`GraphDataset::fingerprint`], computed once.
    pub fn fingerprint(&self) -> &str {
        let shared = &self.shared;
        shared.fingerprint.get_or_init(|| shared.dataset.fingerprint())
    }

    /// These graphs, in this order.
    ///
    /// # Errors
    /// [`egg_graph::Error::NoSuchGraph`], and [`Error::UnknownTarget`] for a
    /// graph whose target is not known.
    pub fn batch(&self, graphs: &[usize]) -> Result<Batch> {
        self.gather(graphs, true)
    }

    /// These graphs without what is to be predicted.
    ///
    /// # Errors
    /// [`egg_graph::Error::NoSuchGraph`].
    pub fn batch_without_targets(&self, graphs: &[usize]) -> Result<Batch> {
        self.gather(graphs, false)
    }

    /// Calls `work` with the [batch](Self::batch) of each part, in order, until it breaks
    /// off. While it works on one, another thread of the pool makes the next, if there is
    /// another.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// # use candle_core::DType;
    /// # use egg_graph::synthetic::CovarianceSet;
    /// # use egg_pool::data::{PropagationKind, PreparedGraphs};
    /// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// # let dataset = CovarianceSet::default().generate(&mut ChaCha8Rng::seed_from_u64(0))?;
    /// # let no_such = dataset.len();
    /// let graphs = PreparedGraphs::new(dataset, PropagationKind::Normalised, DType::F32)?;
    /// let mut sizes = Vec::new();
    /// let ended = graphs.each_batch([&[3, 0][..], &[8], &[no_such], &[1]], |batch| match batch {
    ///     Ok(batch) => {
    ///         sizes.push(batch.len());
    ///         ControlFlow::Continue(())
    ///     }
    ///     Err(error) => ControlFlow::Break(error),
    /// });
    /// assert!(ended.is_break());
    /// assert_eq!(sizes, [2, 1]);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn each_batch<'a, B>(
        &self,
        parts: impl IntoIterator<Item = &'a [usize]>,
        mut work: impl FnMut(Result<Batch>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut parts = parts.into_iter();
        // Alone there is nothing to gain, and no need to hold two.
        if rayon::current_num_threads() == 1 {
            return parts.try_for_each(|part| work(self.batch(part)));
        }
        let mut made = parts.next().map(|part| self.batch(part));
        while let Some(batch) = made {
            let next = parts.next();
            let (after, flow) =
                egg_tensor::threads::join(|| next.map(|part| self.batch(part)), || work(batch));
            flow?;
            made = after;
        }
        ControlFlow::Continue(())
    }

    fn gather(&self, graphs: &[usize], with_targets: bool) -> Result<Batch> {
        let shared = &self.shared;
        let batch = GraphBatch::new(&shared.dataset, graphs)?;
        Ok(Batch {
            input: NodeInput::from_batch(&batch, shared.dtype, &Device::Cpu)?,
            propagation: shared.propagation.matrix(graphs)?,
            propagated: match &shared.propagated {
                Some(propagated) => Some(Arc::new(propagated.batch(graphs)?)),
                None => None,
            },
            structure: Structure::from_batch(&batch)?,
            targets: match with_targets {
                true => BatchTargets::from_batch(&batch, shared.dtype)?,
                false => None,
            },
        })
    }
}
