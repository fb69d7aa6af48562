//! The graph isomorphism network's convolution.

use egg_graph::conv::{GinConv, NodeInput, SparseMatrix};
use egg_nn::{Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use super::{Convolution, ConvolutionSettings};
use crate::data::PropagationKind;
use crate::error::Result;
use crate::model::{JumpingKnowledge, LayerDefaults};
use crate::protocol::SplitRule;

/// [`GinConv`]. A model has four by default, without an activation between them, and
/// reads out each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gin;

impl ConvolutionSettings for Gin {
    const NAME: &'static str = "gin";

    fn propagation(&self) -> PropagationKind {
        PropagationKind::Sum
    }

    fn layers(&self) -> LayerDefaults {
        LayerDefaults {
            count: 4,
            activation: false,
            jumping_knowledge: JumpingKnowledge::Sum,
        }
    }

    fn paper_splits(&self) -> SplitRule {
        SplitRule::Fixed
    }

    fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn Convolution>> {
        Ok(Box::new(GinConv::new(scope, inputs, outputs)?))
    }

    fn least_parameters(&self, inputs: usize, outputs: usize) -> usize {
        inputs.saturating_add(outputs).saturating_mul(outputs)
    }
}

impl Convolution for GinConv {
    fn forward(&self, x: &NodeInput, edges: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
        Ok(GinConv::forward(self, x, edges, pass)?)
    }
}
