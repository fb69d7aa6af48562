//! Squared and absolute errors.

use candle_core::Tensor;
use egg_tensor::{Element, Tracked};

use super::pair_loss::{PairLoss, pair_loss};
use crate::{Reduction, Result};

/// `(prediction - target)^2`, summed or averaged over all numbers: a scalar.
///
/// Both have the same shape, any; nothing is broadcast, and no gradient goes to
/// the target.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) unless the shapes agree and, for
/// [`Reduction::Mean`], there is an element;
/// [`Error::DType`](crate::Error::DType) unless both are f32 or both f64.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_nn::{Reduction, mse};
///
/// let x = Var::new(&[1f64, 3.0], &Device::Cpu)?;
/// let loss = mse(&x, &Tensor::new(&[1f64, 1.0], &Device::Cpu)?, Reduction::Mean)?;
/// assert_eq!(loss.to_scalar::<f64>()?, 2.0);
/// let gradients = loss.backward()?;
/// let gradient = gradients.get(&x).map(|g| g.to_vec1::<f64>()).transpose()?;
/// assert_eq!(gradient, Some(vec![0.0, 2.0]));
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn mse(prediction: impl Into<Tracked>, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
    pair_loss(Squared, prediction, target, reduction)
}

/// `|prediction - target|`, summed or averaged over all numbers: a scalar. The
/// gradient where both are equal is 0, as in PyTorch.
///
/// # Errors
/// As [`mse`].
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_nn::{Reduction, mae};
///
/// let x = Var::new(&[1f64, 3.0], &Device::Cpu)?;
/// let loss = mae(&x, &Tensor::new(&[1f64, 1.0], &Device::Cpu)?, Reduction::Sum)?;
/// assert_eq!(loss.to_scalar::<f64>()?, 2.0);
/// let gradients = loss.backward()?;
/// let gradient = gradients.get(&x).map(|g| g.to_vec1::<f64>()).transpose()?;
/// assert_eq!(gradient, Some(vec![0.0, 1.0]));
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn mae(prediction: impl Into<Tracked>, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
    pair_loss(Absolute, prediction, target, reduction)
}

struct Squared;

impl PairLoss for Squared {
    const NAME: &'static str = "egg-mse";

    #[inline(always)]
    fn value<T: Element>(&self, x: T, y: T) -> T {
        (x - y) * (x - y)
    }

    #[inline(always)]
    fn slope<T: Element>(&self, x: T, y: T) -> T {
        (x - y) + (x - y)
    }
}

struct Absolute;

impl PairLoss for Absolute {
    const NAME: &'static str = "egg-mae";

    #[inline(always)]
    fn value<T: Element>(&self, x: T, y: T) -> T {
        (x - y).abs()
    }

    #[inline(always)]
    fn slope<T: Element>(&self, x: T, y: T) -> T {
        let apart = x - y;
        if apart > T::zero() {
            T::one()
        } else if apart < T::zero() {
            -T::one()
        } else {
            // 0, or NaN.
            apart
        }
    }
}
