//! EGG: the subspace that a graph's rows span, with a hard cut and a soft one.

use egg_autodiff::{Embedder, Filter, Flatten, RankRule, SoftEmbedder};
use egg_nn::{Pass, Tracked};

use super::{Pooled, Pooling, check_features, check_input};
use crate::error::Result;
use crate::structure::Structure;

/// The upper triangle of `P = U_p U_p^T`, the projector on the leading p
/// directions of the rows of `H`: m (m + 1) / 2 numbers.
///
/// The ranks p are reported with the result. A graph without nodes, or with
/// zeros only, gives zeros and p = 0.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Flatten, RankRule};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::Pass;
/// use egg_pool::{EggPooling, Pooling, Structure};
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::of(&GraphBatch::all(&dataset)?)?;
/// let pooling = EggPooling::new(2, RankRule::Threshold(0.5), Flatten::Upper)?;
/// let h = Tensor::new(&[[2f32, 0.0], [0.0, 0.1]], &Device::Cpu)?.into();
/// let pooled = pooling.pool(&h, &structure, &mut Pass::Evaluation)?;
/// assert_eq!(pooled.readout.to_vec2::<f32>()?, [[1.0, 0.0, 0.0]]);
/// assert_eq!(pooled.ranks, Some(vec![1]));
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EggPooling {
    embedder: Embedder,
    features: usize,
}

impl EggPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::Embedding`](crate::Error::Embedding) if the rule's number is
    /// outside its range, [`Error::PoolingParameter`](crate::Error::PoolingParameter)
    /// if there is no feature.
    pub fn new(features: usize, rank: RankRule, flatten: Flatten) -> Result<Self> {
        check_features("egg", features)?;
        let embedder = Embedder::new(rank, flatten)?;
        Ok(Self { embedder, features })
    }
}

impl Pooling for EggPooling {
    fn width(&self) -> usize {
        Flatten::length(self.features)
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input("egg", h, structure, self.features, None)?;
        let (readout, spectra) = self
            .embedder
            .embed_with_spectra(pass.input(h), structure.offsets())?;
        Ok(Pooled {
            ranks: Some(spectra.iter().map(|graph| graph.choice.p).collect()),
            ..readout.into()
        })
    }
}

/// The upper triangle of `P_f = U f(lambda) U^T`, a smooth [`Filter`] of the
/// spectrum in the place of a cut: m (m + 1) / 2 numbers.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Filter, Flatten};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::Pass;
/// use egg_pool::{Pooling, SoftEggPooling, Structure};
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::of(&GraphBatch::all(&dataset)?)?;
/// let pooling = SoftEggPooling::new(2, Filter::resolvent(1.0)?, Flatten::Upper)?;
/// let h = Tensor::new(&[[1f32, 0.0], [0.0, 2.0]], &Device::Cpu)?.into();
/// let pooled = pooling.pool(&h, &structure, &mut Pass::Evaluation)?;
/// assert_eq!(pooled.readout.to_vec2::<f32>()?, [[0.5, 0.0, 0.8]]);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SoftEggPooling {
    embedder: SoftEmbedder,
    features: usize,
}

impl SoftEggPooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) if there is no
    /// feature.
    pub fn new(features: usize, filter: Filter, flatten: Flatten) -> Result<Self> {
        check_features("soft-egg", features)?;
        let embedder = SoftEmbedder::new(filter, flatten);
        Ok(Self { embedder, features })
    }
}

impl Pooling for SoftEggPooling {
    fn width(&self) -> usize {
        Flatten::length(self.features)
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input("soft-egg", h, structure, self.features, None)?;
        let readout = self.embedder.embed(pass.input(h), structure.offsets())?;
        Ok(readout.into())
    }
}
