//! What every pooling does, and what it checks of its input.

use std::fmt::Debug;

use candle_core::DType;
use egg_nn::{Pass, Tracked};

use crate::component::Registry;
use crate::error::{Error, Result};
use crate::structure::Structure;

mod assignment;
mod attention;
mod concat;
mod config;
mod contraction;
mod edge;
mod egg;
mod neighbours;
mod pan;
mod paths;
mod project;
mod random;
mod readout;
mod sag;
mod select;
mod sign;
mod soft_egg;
mod sort_key;
mod topk;

pub(crate) use assignment::{Assignment, as_u32};
pub use attention::{Attention, AttentionPooling};
pub use concat::{Concat, ConcatPooling};
pub use config::{PoolingConfig, PoolingSettings, register_pooling};
pub use edge::{Edge, EdgePooling};
pub use egg::{Egg, EggPooling};
pub use pan::{Pan, PanPooling};
pub use random::{Random, RandomPooling};
pub use readout::{Avg, Max, SegmentPooling, Sum};
pub use sag::{Sag, SagPooling};
pub use soft_egg::{FilterConfig, SoftEgg, SoftEggPooling};
pub use topk::{TopK, TopKPooling};

/// The poolings that are built in. A new one is its file and its line here.
static POOLINGS: Registry<PoolingConfig> = Registry::new(
    "pooling",
    &[
        PoolingConfig::entry::<Egg>(),
        PoolingConfig::entry::<SoftEgg>(),
        PoolingConfig::entry::<Sum>(),
        PoolingConfig::entry::<Avg>(),
        PoolingConfig::entry::<Max>(),
        PoolingConfig::entry::<Attention>(),
        PoolingConfig::entry::<TopK>(),
        PoolingConfig::entry::<Sag>(),
        PoolingConfig::entry::<Edge>(),
        PoolingConfig::entry::<Pan>(),
        PoolingConfig::entry::<Random>(),
        PoolingConfig::entry::<Concat>(),
    ],
);

/// Raised whenever EGG with the same settings would keep other directions of the same
/// rows: from 2 on, the numerical rank depends on the norm of the rows, not on their number.
pub(crate) const RANK_RULES: u64 = 2;

/// Turns the nodes of each graph of a batch into one row of fixed width.
///
/// A *readout* does only that. A *coarsening* also makes smaller graphs, which
/// the next layer of a model may go on with.
///
/// | name | pooling | of a graph's rows h_v |
/// |---|---|---|
/// | `egg` | [`EggPooling`] | the projector on the subspace they span |
/// | `soft-egg` | [`SoftEggPooling`] | a smooth filter of their spectrum |
/// | `sum`, `avg`, `max` | [`SegmentPooling`] | sum, mean, maximum |
/// | `attention` | [`AttentionPooling`] | the mean with learned weights |
/// | `topk` | [`TopKPooling`] | the mean of those furthest along a learned direction |
/// | `sag` | [`SagPooling`] | the mean of those a graph convolution scores best |
/// | `edge` | [`EdgePooling`] | the mean after the best edges are contracted |
/// | `pan` | [`PanPooling`] | the mean of those with the best rows and paths |
/// | `random` | [`RandomPooling`] | the mean of some (a control) |
/// | `concat` | [`ConcatPooling`] | several poolings side by side |
///
/// A [`PoolingConfig`] names one. Readouts, the first six names and `concat`, give the same
/// however a graph's nodes are numbered, to rounding. Coarsenings do so where scores
/// are distinct; of equal ones the lower number wins.
///
/// # Your own
/// A readout of two lines is a pooling like any other. This one gives the
/// standard deviation of each column:
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::{Pass, Tracked};
/// use egg_pool::{Pooled, Pooling, Result, Structure};
///
/// #[derive(Debug)]
/// struct Deviation {
///     features: usize,
/// }
///
/// impl Pooling for Deviation {
///     fn width(&self) -> usize {
///         self.features
///     }
///
///     fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
///         let (h, graphs) = (pass.input(h), structure.segments());
///         let variance = (graphs.mean(&h.sqr()?)? - graphs.mean(&h)?.sqr()?)?;
///         Ok(variance.relu()?.affine(1.0, 1e-12)?.sqrt()?.into())
///     }
/// }
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let h = Tensor::new(&[[1.0, 4.0], [3.0, 4.0]], &Device::Cpu)?.into();
/// let pooled = Deviation { features: 2 }.pool(&h, &structure, &mut Pass::Evaluation)?;
/// let row = &pooled.readout.to_vec2::<f64>()?[0];
/// assert!((row[0] - 1.0).abs() < 1e-9 && row[1] < 1e-5);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub trait Pooling: Debug + Send + Sync {
    /// How many columns a graph's row has.
    fn width(&self) -> usize;

    /// `h` (n x m, the rows of all graphs) -> one row per graph.
    ///
    /// In evaluation no tape is built. A graph without nodes gives zeros.
    ///
    /// # Errors
    /// [`Error::PoolingInput`] if `h` does not have
    /// the nodes of `structure`, or the width the pooling was made for;
    /// [`Error::Layer`] if it is not of the type of the
    /// parameters; [`Error::Embedding`], for EGG, if it
    /// has a NaN or an infinity.
    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled>;
}

/// What a pooling gives.
#[derive(Debug, Clone)]
pub struct Pooled {
    /// B x [`Pooling::width`].
    pub readout: Tracked,
    /// The smaller graphs, if the pooling makes such.
    pub coarser: Option<Coarser>,
    /// How many directions each graph's subspace kept, if there is one.
    pub ranks: Option<Vec<usize>>,
}

impl<T: Into<Tracked>> From<T> for Pooled {
    /// Of a readout, with nothing besides.
    fn from(readout: T) -> Self {
        Self {
            readout: readout.into(),
            coarser: None,
            ranks: None,
        }
    }
}

/// Smaller graphs, to go on with.
#[derive(Debug, Clone)]
pub struct Coarser {
    /// One row per node that is left or was made.
    pub h: Tracked,
    /// How these are joined.
    pub structure: Structure,
}

/// Refuses rows that aren't the nodes', a width the pooling wasn't built for,
/// and a type that is not that of its parameters.
///
/// For a pooling's first line; its other inputs are trusted.
///
/// # Errors
/// [`Error::PoolingInput`] or [`Error::Layer`].
pub fn check_input(
    pooling: &'static str,
    h: &Tracked,
    structure: &Structure,
    features: usize,
    dtype: Option<DType>,
) -> Result<()> {
    if h.dims() != [structure.node_count(), features] {
        return Err(Error::PoolingInput {
            pooling,
            found: h.dims().to_vec(),
            rows: structure.node_count(),
            columns: features,
        });
    }
    let expected = match dtype {
        Some(dtype) if dtype == h.dtype() => return Ok(()),
        Some(dtype) => dtype.as_str(),
        None if matches!(h.dtype(), DType::F32 | DType::F64) => return Ok(()),
        None => "f32 or f64",
    };
    Err(Error::Layer(egg_nn::Error::DType {
        what: format!("the input of {pooling} pooling"),
        found: h.dtype(),
        expected,
    }))
}

/// Refuses rows without numbers.
///
/// # Errors
/// [`Error::PoolingParameter`].
pub fn check_features(pooling: &'static str, features: usize) -> Result<()> {
    if features > 0 {
        return Ok(());
    }
    Err(Error::PoolingParameter {
        pooling,
        name: "features",
        value: 0.0,
        requirement: "there is nothing to pool without a feature",
    })
}
