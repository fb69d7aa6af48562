//! A convolution: `H = X W_1 + b + s A X W_2` (Morris et al. 2019), with a scale s.

use egg_gnn::graph::conv::{NodeInput, SparseMatrix, spmm};
use egg_gnn::nn::{Linear, Pass, Scope, Tracked};
use egg_gnn::pool::data::PropagationKind;
use egg_gnn::pool::{Convolution, ConvolutionSettings, Result};
use serde::{Deserialize, Serialize};

/// Its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphConv {
    /// The weight of the neighbours.
    pub scale: f64,
}

impl Default for GraphConv {
    fn default() -> Self {
        Self { scale: 1.0 }
    }
}

impl ConvolutionSettings for GraphConv {
    const NAME: &'static str = "graph-conv";

    /// The matrix that layers are given: A as it is.
    fn propagation(&self) -> PropagationKind {
        PropagationKind::Sum
    }

    /// So that a file which describes an absurdly large model is refused before it is built.
    fn least_parameters(&self, inputs: usize, outputs: usize) -> usize {
        2usize.saturating_mul(inputs).saturating_mul(outputs)
    }

    fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn Convolution>> {
        Ok(Box::new(Layer {
            own: Linear::new(&mut scope.enter("own"), inputs, outputs)?,
            neighbours: Linear::without_bias(&mut scope.enter("neighbours"), inputs, outputs)?,
            scale: self.scale,
        }))
    }
}

#[derive(Debug)]
struct Layer {
    own: Linear,
    neighbours: Linear,
    scale: f64,
}

impl Convolution for Layer {
    /// `x` is dense or sparse; a ReLU behind the layer is the model's.
    fn forward(&self, x: &NodeInput, edges: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
        let own = x.linear(&self.own, pass)?;
        let sum = spmm(edges, x.linear(&self.neighbours, pass)?)?;
        Ok((own + sum.affine(self.scale, 0.0)?)?.into())
    }
}
