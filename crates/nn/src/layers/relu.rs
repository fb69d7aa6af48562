//! ReLU, with gradient 0 at 0.

use egg_tensor::blocks::map_new;
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply};

use crate::check::check_float;
use crate::{Error, Result};

/// Numbers per block.
const BLOCK: usize = 1 << 13;

/// `max(x, 0)`, elementwise, for any shape; NaN stays NaN.
///
/// The gradient at 0 is 0, as in PyTorch. (In candle's own `relu` it is 1; a new layer with zero
/// input is exactly there.)
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
pub fn relu(x: impl Into<Tracked>) -> Result<Tracked> {
    let x = x.into();
    check_float("the input of relu", x.dtype())?;
    apply(Relu, [x])
}

struct Relu;

impl<T: Element> Operation<T, 1> for Relu {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-relu"
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T>> {
        let (out, _) = map_new(x.len(), BLOCK, |block, out: &mut [T]| {
            let x = &x[block * BLOCK..][..out.len()];
            for (out, &x) in out.iter_mut().zip(x) {
                *out = x.relu();
            }
        });
        Ok(Forward::new(out, x.dims))
    }

    fn backward(&self, of: Backward<'_, T, (), 1>) -> Result<[Option<Vec<T>>; 1]> {
        let (y, g) = (of.output, of.gradient);
        let (out, _) = map_new(y.len(), BLOCK, |block, out: &mut [T]| {
            let y = &y[block * BLOCK..][..out.len()];
            let g = &g[block * BLOCK..][..out.len()];
            for ((out, &y), &g) in out.iter_mut().zip(y).zip(g) {
                *out = g.gated_by(y);
            }
        });
        Ok([Some(out)])
    }
}
