//! Losses that compare two tensors number by number, as one operation.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp2, DType, Layout, Shape, Tensor, WithDType};

use crate::blocks::{map, map_chunks};
use crate::element::{Element, check_dtype, check_float, for_element};
use crate::numbers::{in_order, with_values};
use crate::{Error, Reduction, Result};

/// Numbers per block.
const BLOCK: usize = 1 << 12;

/// The loss of one prediction, and its derivative by the prediction.
pub(crate) trait PairLoss: Send + Sync + 'static {
    const NAME: &'static str;

    fn value<T: Element>(&self, prediction: T, target: T) -> T;
    fn slope<T: Element>(&self, prediction: T, target: T) -> T;
}

/// The loss of all predictions, a scalar. No gradient goes to the targets.
pub(crate) fn pair_loss(
    loss: impl PairLoss,
    prediction: &Tensor,
    target: &Tensor,
    reduction: Reduction,
) -> Result<Tensor> {
    check_float("a prediction", prediction.dtype())?;
    check_dtype("a target", target, prediction.dtype())?;
    if target.dims() != prediction.dims() {
        // No broadcasting: (n) against (n, 1) would silently compare all pairs.
        return Err(Error::Shape {
            what: "a target".to_owned(),
            found: target.dims().to_vec(),
            expected: format!("{:?}, as the predictions", prediction.dims()),
        });
    }
    let scale = reduction.scale("a prediction", prediction.elem_count(), prediction.dims())?;
    Ok(prediction.apply_op2(&target.detach(), Pairs { loss, scale })?)
}

struct Pairs<L> {
    loss: L,
    scale: f64,
}

impl<L: PairLoss> Pairs<L> {
    fn forward<T: Element>(&self, x: &[T], y: &[T]) -> T {
        let blocks = map(x, BLOCK, |block, x| {
            let pairs = x.iter().zip(&y[block * BLOCK..]);
            pairs.map(|(&x, &y)| self.loss.value(x, y).to_f64()).sum::<f64>()
        });
        T::from_f64(self.scale * blocks.iter().sum::<f64>())
    }

    fn backward<T: Element>(&self, x: &[T], y: &[T], gradient: f64) -> Vec<T> {
        let scale = T::from_f64(self.scale * gradient);
        let mut out = vec![T::zero(); x.len()];
        map_chunks(&mut out, BLOCK, |block, out| {
            let pairs = x[block * BLOCK..].iter().zip(&y[block * BLOCK..]);
            for (out, (&x, &y)) in out.iter_mut().zip(pairs) {
                *out = self.loss.slope(x, y) * scale;
            }
        });
        out
    }
}

impl<L: PairLoss> CustomOp2 for Pairs<L> {
    fn name(&self) -> &'static str {
        L::NAME
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        y: &CpuStorage,
        y_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let out = for_element!(x.dtype(), T => {
            let loss = self.forward(&in_order::<T>(x, x_layout)?, &in_order::<T>(y, y_layout)?);
            candle_core::Result::Ok(<T as WithDType>::to_cpu_storage_owned(vec![loss]))
        })?;
        Ok((out, ().into()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        y: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let gradient = gradient.to_dtype(DType::F64)?.to_scalar::<f64>()?;
        for_element!(x.dtype(), T => {
            let dx = with_values::<T, _>(x, |xs| {
                with_values::<T, _>(y, |ys| Ok(self.backward(xs, ys, gradient)))
            })?;
            Ok((Some(Tensor::from_vec(dx, x.shape(), x.device())?), None))
        })
    }
}
