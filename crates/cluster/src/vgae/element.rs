//! The two element types of a model.

use candle_core::{DType, WithDType};

use super::logistic;

/// f32 or f64: what the kernels are compiled for.
pub(crate) trait Element: WithDType + Default {
    /// Replaces each number by its sigmoid; gives the sum of the softplus.
    fn activate(x: &mut [Self]) -> f64;
}

impl Element for f32 {
    fn activate(x: &mut [Self]) -> f64 {
        logistic::activate_f32(x)
    }
}

impl Element for f64 {
    fn activate(x: &mut [Self]) -> f64 {
        logistic::activate_f64(x)
    }
}

/// Refuses element types that no kernel is compiled for.
pub(crate) fn check_float(what: &str, dtype: DType) -> crate::Result<()> {
    match dtype {
        DType::F32 | DType::F64 => Ok(()),
        found => Err(egg_nn::Error::DType {
            what: what.to_owned(),
            found,
            expected: "f32 or f64",
        }
        .into()),
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
            other => Err(candle_core::Error::Msg(format!(
                "egg-cluster computes in f32 or f64, not {other:?}"
            ))
            .into()),
        }
    };
}
pub(crate) use for_element;
