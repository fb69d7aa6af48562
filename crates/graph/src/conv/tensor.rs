//! The element types of candle's tensors, as sparse products need them.

use candle_core::WithDType;
use pulp::Simd;

/// f32 or f64.
pub(super) trait Element: WithDType + Default {
    /// As many numbers as an instruction takes.
    type Vector<S: Simd>: Copy;

    /// An entry of a sparse matrix.
    fn widened(entry: f32) -> Self;

    /// The whole vectors at the beginning of a row.
    fn vectors<S: Simd>(row: &[Self]) -> &[Self::Vector<S>];
    fn vectors_mut<S: Simd>(row: &mut [Self]) -> &mut [Self::Vector<S>];

    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

    /// `sum + a b`, rounded twice: the same on all processors.
    fn add_product<S: Simd>(
        simd: S,
        sum: Self::Vector<S>,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
    ) -> Self::Vector<S>;

    fn sum<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// `value` where `sign` is above 0, 0 elsewhere.
    fn where_positive<S: Simd>(simd: S, sign: Self::Vector<S>, value: Self::Vector<S>) -> Self::Vector<S>;

    /// Negative numbers become 0, a NaN comes through.
    fn rectified<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
}

macro_rules! element {
    ($T:ident, $vector:ident, $vectors:ident, $vectors_mut:ident, $splat:ident, $add:ident, $multiply:ident,
     $less:ident, $select:ident) => {
        impl Element for $T {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn widened(entry: f32) -> Self {
                entry.into()
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
            fn sum<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
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
            fn rectified<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S> {
                // Not `max`, which may lose a NaN.
                let zero = simd.$splat(0.0);
                simd.$select(simd.$less(a, zero), zero, a)
            }
        }
    };
}

element!(
    f32,
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
    f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    mul_f64s,
    less_than_f64s,
    select_f64s
);

/// Calls a generic expression for the element type of a tensor or storage.
macro_rules! for_element {
    ($dtype:expr, $T:ident => $call:expr) => {
        match $dtype {
            candle_core::DType::F32 => {
                type $T = f32;
                $call
            }
            candle_core::DType::F64 => {
                type $T = f64;
                $call
            }
            other => candle_core::bail!("graph convolutions compute in f32 or f64, not {other:?}"),
        }
    };
}
pub(super) use for_element;
