//! A pooling: mean and standard deviation of each column, the second with a learned weight.

use egg_gnn::candle_core::{Tensor, Var};
use egg_gnn::nn::{Init, Pass, Scope, Tracked};
use egg_gnn::pool::pooling::check_input;
use egg_gnn::pool::{Pooled, Pooling, PoolingSettings, Result, Structure};
use serde::{Deserialize, Serialize};

/// Its settings. They are plain data with defaults; serde makes files and texts of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Deviation {
    /// Added to the variance, whose root has no gradient at 0.
    pub epsilon: f64,
}

impl Default for Deviation {
    fn default() -> Self {
        Self { epsilon: 1e-6 }
    }
}

impl PoolingSettings for Deviation {
    const NAME: &'static str = "deviation";

    fn width(&self, features: usize) -> usize {
        2 * features
    }

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        // Parameters are named and drawn in a scope: seeded, saved and restored with the rest.
        let weight = scope.parameter("weight", features, Init::Ones)?;
        Ok(Box::new(DeviationPooling { weight, features, epsilon: self.epsilon }))
    }
}

/// Mean and standard deviation of each column.
#[derive(Debug)]
pub struct DeviationPooling {
    weight: Var,
    features: usize,
    epsilon: f64,
}

impl Pooling for DeviationPooling {
    fn width(&self) -> usize {
        2 * self.features
    }

    /// `h` has the rows of all graphs of the batch; `structure` says which are whose.
    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        check_input(Deviation::NAME, h, structure, self.features, Some(self.weight.dtype()))?;
        let (h, graphs) = (pass.input(h), structure.segments()); // no tape in evaluation
        let mean = graphs.mean(&h)?;
        // Around the mean of its own graph, which every node is given.
        let centred = (&h - structure.broadcast_to_nodes(&mean)?)?;
        let variance = graphs.mean(&centred.sqr()?)?;
        // Zero, as it has to be, for a graph without nodes.
        let deviation = variance.affine(1.0, self.epsilon)?.sqrt()?.affine(1.0, -self.epsilon.sqrt())?;
        let weighted = deviation.broadcast_mul(&pass.parameter(&self.weight))?;
        Ok(Tensor::cat(&[mean.tensor(), &weighted], 1)?.into())
    }
}
