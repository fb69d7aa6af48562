//! Sum, mean and maximum of each graph's rows.

use egg_nn::{Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::Result;
use crate::structure::Structure;

/// The sum, [`SegmentPooling::sum`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum;

impl PoolingSettings for Sum {
    const NAME: &'static str = "sum";
    const ALIASES: &'static [&'static str] = &["add"];

    fn build(&self, _scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(SegmentPooling::sum(features)?))
    }
}

/// The mean, [`SegmentPooling::avg`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Avg;

impl PoolingSettings for Avg {
    const NAME: &'static str = "avg";
    const ALIASES: &'static [&'static str] = &["mean"];

    fn build(&self, _scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(SegmentPooling::avg(features)?))
    }
}

/// The maximum, [`SegmentPooling::max`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Max;

impl PoolingSettings for Max {
    const NAME: &'static str = "max";

    fn build(&self, _scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(SegmentPooling::max(features)?))
    }
}

/// SUM, AVG and MAX: column by column over the nodes of each graph. A graph
/// without nodes gives zeros.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::Pass;
/// use egg_pool::pooling::SegmentPooling;
/// use egg_pool::{Pooling, Structure};
///
/// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let h = Tensor::new(&[[1f32, 5.0], [3.0, 4.0]], &Device::Cpu)?;
/// let read = |pooling: SegmentPooling| pooling.pool(&(&h).into(), &structure, &mut Pass::Evaluation);
/// assert_eq!(read(SegmentPooling::sum(2)?)?.readout.to_vec2::<f32>()?, [[4.0, 9.0]]);
/// assert_eq!(read(SegmentPooling::avg(2)?)?.readout.to_vec2::<f32>()?, [[2.0, 4.5]]);
/// assert_eq!(read(SegmentPooling::max(2)?)?.readout.to_vec2::<f32>()?, [[3.0, 5.0]]);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SegmentPooling {
    kind: Kind,
    features: usize,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Sum,
    Avg,
    Max,
}

impl SegmentPooling {
    /// `sum_v h_v`.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) if there is no
    /// feature.
    pub fn sum(features: usize) -> Result<Self> {
        Self::new(Kind::Sum, features)
    }

    /// `sum_v h_v / n`.
    ///
    /// # Errors
    /// As [`Self::sum`].
    pub fn avg(features: usize) -> Result<Self> {
        Self::new(Kind::Avg, features)
    }

    /// `max_v h_v`. Of several nodes with the maximum the first gets the gradient.
    ///
    /// # Errors
    /// As [`Self::sum`].
    pub fn max(features: usize) -> Result<Self> {
        Self::new(Kind::Max, features)
    }

    fn new(kind: Kind, features: usize) -> Result<Self> {
        let pooling = Self { kind, features };
        check_features(pooling.name(), features)?;
        Ok(pooling)
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Sum => "sum",
            Kind::Avg => "avg",
            Kind::Max => "max",
        }
    }
}

impl Pooling for SegmentPooling {
    fn width(&self) -> usize {
        self.features
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input(self.name(), h, structure, self.features, None)?;
        let (h, segments) = (pass.input(h), structure.segments());
        let readout = match self.kind {
            Kind::Sum => segments.sum(&h)?,
            Kind::Avg => segments.mean(&h)?,
            Kind::Max => segments.max(&h)?,
        };
        Ok(readout.into())
    }
}
