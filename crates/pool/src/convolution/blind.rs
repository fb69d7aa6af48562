//! No convolution at all: the control that sees no edges.

use egg_nn::Scope;
use serde::{Deserialize, Serialize};

use super::{Convolution, ConvolutionSettings};
use crate::data::PropagationKind;
use crate::error::{Error, Result};

/// The structure-blind control: a model of it is the sum of a graph's node features
/// and a head, whatever its layers and its pooling. A model that is no better has
/// learnt nothing from edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blind;

impl ConvolutionSettings for Blind {
    const NAME: &'static str = "blind";

    fn has_layers(&self) -> bool {
        false
    }

    fn propagation(&self) -> PropagationKind {
        PropagationKind::Sum
    }

    fn build(&self, _: &mut Scope<'_>, _: usize, _: usize) -> Result<Box<dyn Convolution>> {
        Err(Error::setting(
            "convolution",
            Self::NAME,
            "one that has layers: this control has none",
        ))
    }
}
