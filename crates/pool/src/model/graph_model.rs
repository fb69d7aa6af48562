//! What every model does.

use std::fmt::Debug;

use candle_core::{DType, Device, Tensor};
use egg_nn::{Parameters, Pass, Scope, Tracked};
use rand_chacha::ChaCha8Rng;

use crate::data::{Batch, PropagationKind};
use crate::error::{Error, Result};

/// From graphs to a row of scores for each.
///
/// Implement it to train a model of your own with the
/// [`Trainer`](crate::train::Trainer): parameters are registered in a
/// [`Scope`] when the model is built, and [`Pass`] says whether to train.
///
/// ```
/// use candle_core::DType;
/// use egg_graph::conv::GcnConv;
/// use egg_nn::{Linear, Pass, Segments};
/// use egg_pool::data::{Batch, PropagationKind};
/// use egg_pool::model::{GraphModel, Model, Output};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// #[derive(Debug)]
/// struct Largest {
///     conv: GcnConv,
///     head: Linear,
/// }
///
/// impl GraphModel for Largest {
///     fn propagation(&self) -> PropagationKind {
///         PropagationKind::Normalised
///     }
///     fn inputs(&self) -> usize {
///         7
///     }
///     fn outputs(&self) -> usize {
///         2
///     }
///     fn forward(&self, batch: &Batch, pass: &mut Pass<'_>) -> egg_pool::Result<Output> {
///         let h = self.conv.clone().with_relu().forward(&batch.input, &batch.propagation, pass)?;
///         let pooled = Segments::new(batch.structure.offsets())?.max(&h)?;
///         Ok(self.head.forward(&pooled, pass)?.into())
///     }
/// }
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let model = Model::build(DType::F32, &mut rng, |scope| {
///     Ok(Box::new(Largest {
///         conv: GcnConv::new(&mut scope.enter("conv"), 7, 16)?,
///         head: Linear::new(&mut scope.enter("head"), 16, 2)?,
///     }))
/// })?;
/// assert_eq!(model.parameters().trainable_count(), 7 * 16 + 16 + 16 * 2 + 2);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub trait GraphModel: Debug + Send + Sync {
    /// The matrices its convolutions multiply with.
    fn propagation(&self) -> PropagationKind;

    /// How many features a node must have.
    fn inputs(&self) -> usize;

    /// How many scores a graph gets.
    fn outputs(&self) -> usize;

    /// B graphs -> B x [`Self::outputs`]. In evaluation no tape is built.
    ///
    /// # Errors
    /// If the batch does not fit the model.
    fn forward(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Output>;

    /// What [`Self::forward`] judges by, without a tape. A model of one's own
    /// need not have it; then it can't be asked for embeddings.
    ///
    /// # Errors
    /// As [`Self::forward`].
    fn embed(&self, _batch: &Batch) -> Result<Embedded> {
        Err(Error::setting(
            "embeddings",
            "none",
            "this model does not implement GraphModel::embed",
        ))
    }
}

/// Nodes and graphs as a model sees them before it judges.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// B rows: what the pooling gave; of several layers side by side.
    pub graphs: Tensor,
    /// n rows: the nodes after the last convolution before any was left out;
    /// `None` of a model that has no convolutions.
    pub nodes: Option<Tensor>,
}

/// What a model gives for a batch.
#[derive(Debug, Clone)]
pub struct Output {
    /// B x outputs: logits of classes, or predicted numbers.
    pub scores: Tracked,
    /// For each pooling that makes subspaces, how many directions each graph
    /// kept.
    pub ranks: Vec<Vec<usize>>,
}

impl<T: Into<Tracked>> From<T> for Output {
    fn from(scores: T) -> Self {
        Self {
            scores: scores.into(),
            ranks: Vec::new(),
        }
    }
}

/// A model and the parameters it was built with.
#[derive(Debug)]
pub struct Model {
    network: Box<dyn GraphModel>,
    parameters: Parameters,
}

impl Model {
    /// A model whose layers are registered in `parameters`.
    pub fn new(network: Box<dyn GraphModel>, parameters: Parameters) -> Self {
        Self { network, parameters }
    }

    /// Builds a model in new parameters, whose first values come from `rng`.
    ///
    /// # Errors
    /// Those of `build`; [`egg_nn::Error::DType`] unless `dtype` is f32 or f64.
    pub fn build(
        dtype: DType,
        rng: &mut ChaCha8Rng,
        build: impl FnOnce(&mut Scope<'_>) -> Result<Box<dyn GraphModel>>,
    ) -> Result<Self> {
        let mut parameters = Parameters::new(dtype, &Device::Cpu)?;
        let network = build(&mut parameters.root(rng))?;
        Ok(Self::new(network, parameters))
    }

    /// The model.
    pub fn network(&self) -> &dyn GraphModel {
        &*self.network
    }

    /// Its parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}
