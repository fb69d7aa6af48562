//! One candle operation for a likelihood: value and gradient in one pass.

use candle_core::Tensor;
use egg_nn::check_float;
use egg_tensor::blocks::map_new;
use egg_tensor::{Backward, Forward, Operand, Operation, Tracked};

use super::logistic::Logistic;
use super::target::LinkTarget;
use crate::error::{Error, Result};

/// Numbers per block.
const BLOCK: usize = 1 << 12;

/// A function of `z` (n x d, row by row) and its gradient.
pub(super) trait ValueAndGradient: Send + Sync + 'static {
    const NAME: &'static str;

    fn run<T: Logistic>(&self, z: &[T], width: usize) -> (f64, Vec<T>);
}

/// Puts the function on the tape, as a scalar.
///
/// The gradient is worked out together with the value, when the numbers are in
/// cache anyway; the backward pass only scales it.
pub(super) fn apply(function: impl ValueAndGradient, z: Tracked) -> Result<Tensor> {
    Ok(egg_tensor::apply(Fused { function }, [z])?.into())
}

/// Refuses an embedding that is not of the target's nodes.
pub(super) fn check_embedding(z: &Tracked, target: &LinkTarget) -> Result<()> {
    check_float("an embedding", z.dtype())?;
    match z.dims() {
        &[nodes, width] if nodes == target.node_count() && width > 0 => Ok(()),
        found => Err(Error::EmbeddingShape {
            nodes: target.node_count(),
            found: found.to_vec(),
        }),
    }
}

struct Fused<F> {
    function: F,
}

impl<T: Logistic, F: ValueAndGradient> Operation<T, 1> for Fused<F> {
    /// The gradient.
    type Saved = Vec<T>;
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        F::NAME
    }

    fn forward(&self, [z]: [Operand<'_, T>; 1]) -> candle_core::Result<Forward<T, Vec<T>>> {
        let (_, width) = z.dims2()?;
        let (value, saved) = self.function.run(&z, width);
        Ok(Forward {
            values: vec![T::from_f64(value)],
            shape: ().into(),
            saved,
        })
    }

    fn backward(&self, of: Backward<'_, T, Vec<T>, 1>) -> candle_core::Result<[Option<Vec<T>>; 1]> {
        let (scale, gradient) = (T::from_f64(of.scalar_gradient()), of.saved);
        let (gradient, _) = map_new(gradient.len(), BLOCK, |block, out: &mut [T]| {
            let numbers = out.iter_mut().zip(&gradient[block * BLOCK..]);
            numbers.for_each(|(out, g)| *out = *g * scale);
        });
        Ok([Some(gradient)])
    }
}
