//! One candle operation for a likelihood: value and gradient in one pass.

use std::sync::{Mutex, PoisonError};

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp1, DType, Layout, Shape, Tensor, WithDType};
use egg_nn::blocks::map_new;
use egg_nn::numbers::in_order;

use super::element::{Element, check_float, for_element};
use super::target::LinkTarget;
use crate::error::{Error, Result};

/// Numbers per block.
const BLOCK: usize = 1 << 12;

/// A function of `z` (n x d, row by row) and its gradient.
pub(super) trait ValueAndGradient: Send + Sync + 'static {
    const NAME: &'static str;

    fn run<T: Element>(&self, z: &[T], width: usize) -> (f64, Vec<T>);
}

/// Puts the function on the tape, as a scalar.
///
/// The gradient is worked out together with the value, when the numbers are in
/// cache anyway; the backward pass only scales it.
pub(super) fn apply(function: impl ValueAndGradient, z: &Tensor) -> Result<Tensor> {
    let op = Fused {
        function,
        gradient: Mutex::new(None),
    };
    Ok(z.apply_op1(op)?)
}

/// Refuses an embedding that is not of the target's nodes.
pub(super) fn check_embedding(z: &Tensor, target: &LinkTarget) -> Result<()> {
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
    gradient: Mutex<Option<CpuStorage>>,
}

impl<F: ValueAndGradient> CustomOp1 for Fused<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn cpu_fwd(&self, z: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        let (_, width) = layout.shape().dims2()?;
        let (value, gradient) = for_element!(z.dtype(), T => {
            let (value, gradient) = self.function.run::<T>(&in_order(z, layout)?, width);
            let value = <T as WithDType>::to_cpu_storage_owned(vec![T::from_f64(value)]);
            let gradient = <T as WithDType>::to_cpu_storage_owned(gradient);
            candle_core::Result::Ok((value, gradient))
        })?;
        *self.gradient.lock().unwrap_or_else(PoisonError::into_inner) = Some(gradient);
        Ok((value, ().into()))
    }

    fn bwd(&self, z: &Tensor, _: &Tensor, g: &Tensor) -> candle_core::Result<Option<Tensor>> {
        let scale = g.to_dtype(DType::F64)?.to_scalar::<f64>()?;
        let saved = self.gradient.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(saved) = saved.as_ref() else {
            candle_core::bail!("{} has no gradient before its forward pass", F::NAME);
        };
        for_element!(z.dtype(), T => {
            let scale = T::from_f64(scale);
            let gradient = <T as WithDType>::cpu_storage_as_slice(saved)?;
            let (gradient, _) = map_new(gradient.len(), BLOCK, |block, out: &mut [T]| {
                let numbers = out.iter_mut().zip(&gradient[block * BLOCK..]);
                numbers.for_each(|(out, g)| *out = *g * scale);
            });
            Ok(Some(Tensor::from_vec(gradient, z.shape(), z.device())?))
        })
    }
}
