//! The two element types, and the checks that layers share.

use std::ops::Neg;

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, DType, Result, Tensor, WithDType, bail};

use crate::Error;

/// f32 or f64: what the kernels of this crate are compiled for.
pub(crate) trait Element: WithDType + Default + Neg<Output = Self> {
    const NEGATIVE_INFINITY: Self;
    /// The smallest number that arithmetic has at full speed: below it a processor
    /// needs a hundred times as long.
    const SMALLEST_NORMAL: Self;

    fn abs(self) -> Self;
    fn exp(self) -> Self;
    /// `ln(1 + self)`.
    fn ln_1p(self) -> Self;
    fn sqrt(self) -> Self;

    /// The numbers of a storage, to be written.
    fn values_mut(storage: &mut CpuStorage) -> Result<&mut [Self]>;
}

macro_rules! element {
    ($T:ident, $variant:ident) => {
        impl Element for $T {
            const NEGATIVE_INFINITY: Self = $T::NEG_INFINITY;
            const SMALLEST_NORMAL: Self = $T::MIN_POSITIVE;

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

            fn values_mut(storage: &mut CpuStorage) -> Result<&mut [Self]> {
                match storage {
                    CpuStorage::$variant(values) => Ok(values),
                    other => bail!("expected {}, got {:?}", stringify!($T), other.dtype()),
                }
            }
        }
    };
}

element!(f32, F32);
element!(f64, F64);

/// Refuses element types that no kernel is compiled for.
pub(crate) fn check_float(what: &str, dtype: DType) -> crate::Result<()> {
    match dtype {
        DType::F32 | DType::F64 => Ok(()),
        found => Err(Error::DType {
            what: what.to_owned(),
            found,
            expected: "f32 or f64",
        }),
    }
}

/// Refuses `tensor` unless its elements are of the type that its partner has.
pub(crate) fn check_dtype(what: &str, tensor: &Tensor, expected: DType) -> crate::Result<()> {
    if tensor.dtype() == expected {
        return Ok(());
    }
    Err(Error::DType {
        what: what.to_owned(),
        found: tensor.dtype(),
        expected: expected.as_str(),
    })
}

/// Refuses `tensor` unless it is a matrix with `columns` columns; gives its
/// number of rows.
pub(crate) fn check_columns(what: &str, tensor: &Tensor, columns: usize) -> crate::Result<usize> {
    match tensor.dims() {
        &[rows, found] if found == columns => Ok(rows),
        found => Err(Error::Shape {
            what: what.to_owned(),
            found: found.to_vec(),
            expected: format!("(rows, {columns})"),
        }),
    }
}

/// Calls a generic function for the element type of `$dtype`.
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
            other => {
                Err(candle_core::Error::Msg(format!("egg-nn computes in f32 or f64, not {other:?}")).into())
            }
        }
    };
}
pub(crate) use for_element;
