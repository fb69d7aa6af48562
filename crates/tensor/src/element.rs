//! The two element types.

use std::ops::Neg;

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, DType, Error, Result, WithDType, bail};
use pulp::Simd;

/// f32 or f64: what kernels are compiled for.
pub trait Element: WithDType + Default + Neg<Output = Self> {
    /// Below every other number.
    const NEGATIVE_INFINITY: Self;
    /// The smallest number that arithmetic has at full speed: below it a processor
    /// needs a hundred times as long.
    const SMALLEST_NORMAL: Self;

    /// As many numbers as an instruction takes.
    type Vector<S: Simd>: Copy;

    /// The absolute value.
    fn abs(self) -> Self;
    /// The exponential.
    fn exp(self) -> Self;
    /// `ln(1 + self)`.
    fn ln_1p(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// A number of a file or a sparse matrix.
    fn from_f32(number: f32) -> Self;

    /// `max(self, 0)` that keeps NaN.
    #[inline(always)]
    fn relu(self) -> Self {
        if self < Self::zero() { Self::zero() } else { self }
    }

    /// This gradient where the output of a ReLU is above 0, and 0 elsewhere.
    #[inline(always)]
    fn gated_by(self, output: Self) -> Self {
        if output > Self::zero() { self } else { Self::zero() }
    }

    /// The numbers of a storage, to be written.
    ///
    /// # Errors
    /// If the storage is of another type.
    fn values_mut(storage: &mut CpuStorage) -> Result<&mut [Self]>;

    /// The whole vectors at the beginning of a row.
    fn vectors<S: Simd>(row: &[Self]) -> &[Self::Vector<S>];
    /// The same, to be written.
    fn vectors_mut<S: Simd>(row: &mut [Self]) -> &mut [Self::Vector<S>];
    /// A vector of one number.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// `sum + a b`, rounded twice: the same on all processors.
    fn add_product<S: Simd>(
        simd: S,
        sum: Self::Vector<S>,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// `a + b`.
    fn add_vectors<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `value` where `sign` is above 0, 0 elsewhere.
    fn where_positive<S: Simd>(simd: S, sign: Self::Vector<S>, value: Self::Vector<S>) -> Self::Vector<S>;
    /// [`Self::relu`] of each number.
    fn relu_vector<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
}

macro_rules! element {
    ($T:ident, $variant:ident, $vector:ident, $vectors:ident, $vectors_mut:ident, $splat:ident, $add:ident,
     $multiply:ident, $less:ident, $select:ident) => {
        impl Element for $T {
            const NEGATIVE_INFINITY: Self = $T::NEG_INFINITY;
            const SMALLEST_NORMAL: Self = $T::MIN_POSITIVE;

            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn abs(self) -> Self {
                $T::abs(self)
            }

            #[inline(always)]
            fn exp(self) -> Self {
                $T::exp(self)
            }

            #[inline(always)]
            fn ln_1p(self) -> Self {
                $T::ln_1p(self)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                $T::sqrt(self)
            }

            #[inline(always)]
            fn from_f32(number: f32) -> Self {
                number.into()
            }

            fn values_mut(storage: &mut CpuStorage) -> Result<&mut [Self]> {
                match storage {
                    CpuStorage::$variant(values) => Ok(values),
                    other => bail!("expected {}, got {:?}", stringify!($T), other.dtype()),
                }
            }

            #[inline(always)]
            fn vectors<S: Simd>(row: &[Self]) -> &[Self::Vector<S>] {
                S::$vectors(row).0
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(row: &mut [Self]) -> &mut [Self::Vector<S>] {
                S::$vectors_mut(row).0
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S> {
                simd.$splat(value)
            }

            #[inline(always)]
            fn add_product<S: Simd>(
                simd: S,
                sum: Self::Vector<S>,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$add(sum, simd.$multiply(a, b))
            }

            #[inline(always)]
            fn add_vectors<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn where_positive<S: Simd>(
                simd: S,
                sign: Self::Vector<S>,
                value: Self::Vector<S>,
            ) -> Self::Vector<S> {
                let zero = simd.$splat(0.0);
                simd.$select(simd.$less(zero, sign), value, zero)
            }

            #[inline(always)]
            fn relu_vector<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S> {
                // Not `max`, which may lose a NaN.
                let zero = simd.$splat(0.0);
                simd.$select(simd.$less(a, zero), zero, a)
            }
        }
    };
}

element!(
    f32,
    F32,
    f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    add_f32s,
    mul_f32s,
    less_than_f32s,
    select_f32s
);
element!(
    f64,
    F64,
    f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    mul_f64s,
    less_than_f64s,
    select_f64s
);

/// The error for element types that nothing is compiled for.
pub fn unsupported(dtype: Option<DType>) -> Error {
    let found = dtype.map_or("nothing", |dtype| dtype.as_str());
    Error::Msg(format!("this is computed in f32 or f64, not {found}"))
}

/// Evaluates a generic expression for the element type that a `DType` names; for others it
/// is an `Err` of candle's error, or of one that can be made from it.
///
/// ```
/// use candle_core::{DType, WithDType};
///
/// fn bytes(dtype: DType) -> candle_core::Result<usize> {
///     egg_tensor::for_element!(dtype, T => Ok(size_of::<T>()))
/// }
/// assert_eq!(bytes(DType::F64)?, 8);
/// assert!(bytes(DType::U8).is_err());
/// # Ok::<(), candle_core::Error>(())
/// ```
#[macro_export]
macro_rules! for_element {
    ($dtype:expr, $T:ident => $call:expr) => {
        match $dtype {
            $crate::macros::DType::F32 => {
                type $T = f32;
                $call
            }
            $crate::macros::DType::F64 => {
                type $T = f64;
                $call
            }
            other => Err($crate::macros::unsupported(Some(other)).into()),
        }
    };
}
