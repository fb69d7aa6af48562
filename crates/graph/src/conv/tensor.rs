//! The element types of candle's tensors, as sparse products need them.

use candle_core::WithDType;

/// f32 or f64.
pub(super) trait Element: WithDType + Default {
    /// An entry of a sparse matrix.
    fn widened(entry: f32) -> Self;
}

impl Element for f32 {
    fn widened(entry: f32) -> Self {
        entry
    }
}

impl Element for f64 {
    fn widened(entry: f32) -> Self {
        entry.into()
    }
}

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
