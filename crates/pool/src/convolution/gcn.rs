//! Kipf and Welling's convolution.

use egg_graph::conv::{GcnConv, NodeInput, SparseMatrix};
use egg_nn::{Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::{Convolution, ConvolutionSettings};
use crate::data::PropagationKind;
use crate::error::Result;

/// [`GcnConv`]. A model has two by default, with a ReLU behind each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gcn;

impl ConvolutionSettings for Gcn {
    const NAME: &'static str = "gcn";

    fn propagation(&self) -> PropagationKind {
        PropagationKind::Normalised
    }

    fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn Convolution>> {
        let linear = GcnConv::new(scope, inputs, outputs)?;
        let relu = linear.clone().with_relu();
        Ok(Box::new(Layer { linear, relu }))
    }

    fn least_parameters(&self, inputs: usize, outputs: usize) -> usize {
        inputs.saturating_mul(outputs)
    }
}

/// The same layer without and with its ReLU.
#[derive(Debug)]
struct Layer {
    linear: GcnConv,
    relu: GcnConv,
}

impl Convolution for Layer {
    fn forward(&self, x: &NodeInput, edges: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
        Ok(self.linear.forward(x, edges, pass)?)
    }

    fn forward_relu(&self, x: &NodeInput, edges: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
        Ok(self.relu.forward(x, edges, pass)?)
    }

    fn takes_propagated(&self) -> bool {
        true
    }
}
