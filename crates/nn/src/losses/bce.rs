//! Binary cross entropy of logits.

use candle_core::{DType, Tensor};
use egg_tensor::{Element, Tracked};

use super::pair_loss::{PairLoss, pair_loss};
use crate::{Error, Reduction, Result};

/// `w y softplus(-x) + (1 - y) softplus(x)` for each logit x and target y in
/// `[0, 1]`, summed or averaged: a scalar.
///
/// `w` is `pos_weight`, the weight of the positive side (1 for none), as in
/// PyTorch's `binary_cross_entropy_with_logits`. Both tensors have the same
/// shape, any. `softplus(x) = max(x, 0) + ln(1 + exp(-|x|))`, and the gradient
/// `(1 - y) sigmoid(x) - w y sigmoid(-x)`, are finite for every finite logit.
///
/// # Errors
/// [`Error::Shape`] unless the shapes agree and, for [`Reduction::Mean`], there
/// is an element; [`Error::DType`] unless both are f32 or both f64;
/// [`Error::Parameter`] if `pos_weight` is negative or not finite.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_nn::{Reduction, bce_with_logits};
///
/// let x = Var::new(&[1000f64, 0.0, -1000.0], &Device::Cpu)?;
/// let y = Tensor::new(&[0f64, 1.0, 0.0], &Device::Cpu)?;
/// let loss = bce_with_logits(&x, &y, 2.0, Reduction::Sum)?;
/// assert!((loss.to_scalar::<f64>()? - (1000.0 + 2.0 * 2f64.ln())).abs() < 1e-12);
///
/// let gradients = loss.backward()?;
/// let gradient = gradients.get(&x).map(|g| g.to_vec1::<f64>()).transpose()?;
/// assert_eq!(gradient, Some(vec![1.0, -1.0, 0.0]));
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn bce_with_logits(
    logits: impl Into<Tracked>,
    targets: &Tensor,
    pos_weight: f64,
    reduction: Reduction,
) -> Result<Tensor> {
    if !(pos_weight >= 0.0 && pos_weight.is_finite()) {
        return Err(Error::Parameter {
            name: "pos_weight",
            value: pos_weight,
            requirement: "it must be finite and at least 0",
        });
    }
    pair_loss(Bce { pos_weight }, logits, targets, reduction)
}

/// The value of [`bce_with_logits`], without a tape.
///
/// # Errors
/// As [`bce_with_logits`].
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_nn::{Reduction, bce_with_logits_value};
///
/// let x = Tensor::new(&[0f64, 0.0], &Device::Cpu)?;
/// let y = Tensor::new(&[0f64, 1.0], &Device::Cpu)?;
/// let loss = bce_with_logits_value(&x, &y, 1.0, Reduction::Mean)?;
/// assert!((loss - 2f64.ln()).abs() < 1e-15);
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn bce_with_logits_value(
    logits: impl Into<Tracked>,
    targets: &Tensor,
    pos_weight: f64,
    reduction: Reduction,
) -> Result<f64> {
    let loss = bce_with_logits(Tracked::constant(logits), targets, pos_weight, reduction)?;
    Ok(loss.to_dtype(DType::F64)?.to_scalar::<f64>()?)
}

struct Bce {
    pos_weight: f64,
}

impl PairLoss for Bce {
    const NAME: &'static str = "egg-bce-with-logits";

    #[inline(always)]
    fn value<T: Element>(&self, x: T, y: T) -> T {
        let tail = (-x.abs()).exp().ln_1p();
        let (above, below) = if x > T::zero() {
            (x, T::zero())
        } else {
            (T::zero(), -x)
        };
        T::from_f64(self.pos_weight) * y * (below + tail) + (T::one() - y) * (above + tail)
    }

    #[inline(always)]
    fn slope<T: Element>(&self, x: T, y: T) -> T {
        // sigmoid(-|x|) and sigmoid(|x|), both without overflow or cancellation.
        let small = (-x.abs()).exp();
        let (far, near) = (small / (T::one() + small), T::one() / (T::one() + small));
        let (plus, minus) = if x > T::zero() { (near, far) } else { (far, near) };
        (T::one() - y) * plus - T::from_f64(self.pos_weight) * y * minus
    }
}
