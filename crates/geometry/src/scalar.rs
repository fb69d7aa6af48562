//! The two number types the crate works in.

use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;

use ndarray::{ArrayView2, LinalgScalar, ScalarOperand};
use num_traits::{Float, FloatConst, NumAssign};

use crate::linalg::Decompose;
use crate::linalg::entrywise;

/// `f32` or `f64`. Sealed: nothing else implements it.
///
/// The constants are the tolerances that depend on how many digits the *input*
/// carries, independent of the internal precision.
///
/// ```
/// use egg_geometry::Scalar;
///
/// assert!(f32::TIE_TOLERANCE > f64::TIE_TOLERANCE);
/// ```
#[expect(private_bounds, reason = "seals the trait and hides the backend")]
pub trait Scalar:
    Decompose
    + Float
    + FloatConst
    + NumAssign
    + LinalgScalar
    + ScalarOperand
    + Sum
    + Debug
    + Display
    + LowerExp
    + Send
    + Sync
    + 'static
{
    /// Singular values closer than this, relative to the larger, count as tied,
    /// and a rank rule never cuts between them.
    const TIE_TOLERANCE: f64;
    /// The half-width of the Lorentzian guard on the gap at the cut, a hundredth
    /// of the tie tolerance: where a rule has cut, it changes the gradient by no
    /// more than 2.5e-5 of itself.
    const GAP_GUARD: f64;
    /// Whether an f64 Gram matrix is exact enough for any numerical rank this
    /// type can resolve.
    const GRAM_IS_EXACT: bool;

    /// The largest entry of a gradient; larger ones are clamped to it. A gradient of the projector
    /// is as large as `1 / H`: for subnormal f32 rows it, or its sums over nodes, would overflow
    /// f32, and infinities become NaN in the next product.
    const LARGEST_GRADIENT: f64;

    /// The machine epsilon of this type, as f64.
    ///
    /// ```
    /// use egg_geometry::Scalar;
    /// assert_eq!(f32::eps(), f64::from(f32::EPSILON));
    /// ```
    fn eps() -> f64 {
        Self::epsilon().as_f64()
    }

    /// Widens to f64; exact.
    ///
    /// ```
    /// use egg_geometry::Scalar;
    /// assert_eq!(0.5f32.as_f64(), 0.5);
    /// ```
    fn as_f64(self) -> f64;

    /// Rounds from f64. Finite values beyond the range become the largest
    /// finite value, so that no infinity is made from finite numbers.
    ///
    /// ```
    /// use egg_geometry::Scalar;
    /// assert_eq!(f32::rounded(1e300), f32::MAX);
    /// ```
    fn rounded(value: f64) -> Self;
}

impl Scalar for f64 {
    const TIE_TOLERANCE: f64 = 1e-10;
    const GAP_GUARD: f64 = 1e-12;
    const GRAM_IS_EXACT: bool = false;
    const LARGEST_GRADIENT: f64 = f64::MAX;

    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn rounded(value: f64) -> Self {
        value
    }
}

impl Scalar for f32 {
    const TIE_TOLERANCE: f64 = 1e-5;
    const GAP_GUARD: f64 = 1e-7;
    // The noise floor of an f64 Gram matrix, 1.5e-8 sigma_1, lies below eps(f32).
    const GRAM_IS_EXACT: bool = true;
    // 2^104, a share of 2^-24 of the range.
    const LARGEST_GRADIENT: f64 = f32::MAX as f64 / (1 << 24) as f64;

    #[inline(always)]
    fn as_f64(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
    #[inline(always)]
    fn rounded(value: f64) -> Self {
        if value.is_finite() {
            value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
        } else {
            value as f32
        }
    }
}

/// `max |A|`, 0 for an empty matrix.
pub(crate) fn max_abs<T: Scalar>(matrix: &ArrayView2<'_, T>) -> T {
    if let Some(entries) = matrix.as_slice_memory_order() {
        return entrywise::max_abs(entries);
    }
    let larger = |a: T, b: T| if b > a { b } else { a };
    matrix.iter().fold(T::zero(), |most, x| larger(most, x.abs()))
}

/// The power of two at or below a positive `value`, such that it has an inverse;
/// 1 for 0. Dividing by it is exact.
pub(crate) fn power_of_two_below(value: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    if value == 0.0 {
        return 1.0;
    }
    f64::from_bits(value.to_bits() & EXPONENT).clamp(f64::MIN_POSITIVE, 1.0 / f64::MIN_POSITIVE)
}
