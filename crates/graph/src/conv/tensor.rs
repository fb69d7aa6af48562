//! Getting at the numbers of candle's tensors.

use std::borrow::Cow;

use candle_core::{CpuStorage, Layout, Result, Storage, Tensor, WithDType, bail};

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

/// The numbers in row-major order; copied only if they lie otherwise.
pub(super) fn in_order<'a, T: Element>(storage: &'a CpuStorage, layout: &Layout) -> Result<Cow<'a, [T]>> {
    let data = T::cpu_storage_as_slice(storage)?;
    if let Some((start, end)) = layout.contiguous_offsets() {
        return Ok(Cow::Borrowed(&data[start..end]));
    }
    let mut positions = vec![layout.start_offset()];
    for (&size, &stride) in layout.dims().iter().zip(layout.stride()) {
        let along = |&position: &usize| (0..size).map(move |step| position + step * stride);
        positions = positions.iter().flat_map(along).collect();
    }
    Ok(Cow::Owned(positions.into_iter().map(|at| data[at]).collect()))
}

/// Runs a kernel on the numbers of a tensor.
pub(super) fn with_values<T: Element, R>(tensor: &Tensor, kernel: impl FnOnce(&[T]) -> R) -> Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => Ok(kernel(&in_order(storage, layout)?)),
        _ => bail!("graph convolutions run on the CPU; move the tensor there with to_device(&Device::Cpu)"),
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
