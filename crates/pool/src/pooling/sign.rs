//! The one-number projection that PyTorch Geometric puts after a score.

use candle_core::{Tensor, Var};
use egg_nn::{Init, Scope};
use egg_tensor::{for_element, with_slices};

use crate::error::Result;

/// `x w / |w|` for a single `w`: the sign of `w`, drawn once and kept as a buffer.
#[derive(Debug, Clone)]
pub(super) struct Sign {
    weight: Var,
}

impl Sign {
    /// Registers `weight` (1 x 1), uniform on +-1.
    pub(super) fn new(scope: &mut Scope<'_>) -> Result<Self> {
        let weight = scope.buffer("weight", (1, 1), Init::linear(1))?;
        Ok(Self { weight })
    }

    /// `x` or `-x`.
    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let weight = self.weight.as_detached_tensor();
        let negative = for_element!(weight.dtype(), T => {
            with_slices([&weight], |[weight]: [&[T]; 1]| Ok(weight.first().is_some_and(|weight| *weight < 0.0)))
        })?;
        Ok(if negative { x.neg()? } else { x.clone() })
    }
}
