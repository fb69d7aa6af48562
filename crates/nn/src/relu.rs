//! The rectifier, with gradient 0 at 0.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp1, Layout, Shape, Tensor};

use crate::Result;
use crate::blocks::map_new;
use crate::element::{Element, check_float, for_element};
use crate::numbers::{in_order, with_values};

/// Numbers per block.
const BLOCK: usize = 1 << 13;

/// `max(x, 0)`, elementwise, for any shape; NaN stays NaN.
///
/// The gradient at 0 is 0, as in PyTorch (candle's own `relu` has 1 there,
/// which is where every row of a fresh layer with zero input stands).
///
/// # Errors
/// [`Error::DType`](crate::Error::DType) for anything but f32 and f64.
///
/// # Example
/// ```
/// use candle_core::{Device, Var};
///
/// let x = Var::new(&[-1f64, 0.0, 2.0], &Device::Cpu)?;
/// let y = egg_nn::relu(&x)?;
/// assert_eq!(y.to_vec1::<f64>()?, [0.0, 0.0, 2.0]);
/// let gradients = y.sum_all()?.backward()?;
/// let gradient = gradients.get(&x).map(|g| g.to_vec1::<f64>()).transpose()?;
/// assert_eq!(gradient, Some(vec![0.0, 0.0, 1.0]));
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn relu(x: &Tensor) -> Result<Tensor> {
    check_float("the input of relu", x.dtype())?;
    Ok(x.apply_op1(Relu)?)
}

/// `max(v, 0)` that keeps NaN.
#[inline(always)]
pub(crate) fn rectified<T: Element>(v: T) -> T {
    if v < T::zero() { T::zero() } else { v }
}

/// `gradient` where the rectified `output` is positive, 0 elsewhere.
#[inline(always)]
pub(crate) fn gated<T: Element>(gradient: T, output: T) -> T {
    if output > T::zero() { gradient } else { T::zero() }
}

struct Relu;

impl Relu {
    fn forward<T: Element>(storage: &CpuStorage, layout: &Layout) -> candle_core::Result<CpuStorage> {
        let x = in_order::<T>(storage, layout)?;
        let (out, _) = map_new(x.len(), BLOCK, |block, out: &mut [T]| {
            let x = &x[block * BLOCK..][..out.len()];
            for (out, &x) in out.iter_mut().zip(x) {
                *out = rectified(x);
            }
        });
        Ok(T::to_cpu_storage_owned(out))
    }

    fn backward<T: Element>(output: &Tensor, gradient: &Tensor) -> candle_core::Result<Tensor> {
        let out = with_values::<T, _>(output, |y| {
            with_values::<T, _>(gradient, |g| {
                let (out, _) = map_new(y.len(), BLOCK, |block, out: &mut [T]| {
                    let y = &y[block * BLOCK..][..out.len()];
                    let g = &g[block * BLOCK..][..out.len()];
                    for ((out, &y), &g) in out.iter_mut().zip(y).zip(g) {
                        *out = gated(g, y);
                    }
                });
                Ok(out)
            })
        })?;
        Tensor::from_vec(out, output.shape(), output.device())
    }
}

impl CustomOp1 for Relu {
    fn name(&self) -> &'static str {
        "egg-relu"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        let out = for_element!(storage.dtype(), T => Self::forward::<T>(storage, layout))?;
        Ok((out, layout.shape().clone()))
    }

    fn bwd(&self, _: &Tensor, output: &Tensor, gradient: &Tensor) -> candle_core::Result<Option<Tensor>> {
        let gradient = for_element!(output.dtype(), T => Self::backward::<T>(output, gradient))?;
        Ok(Some(gradient))
    }
}
