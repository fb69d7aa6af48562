//! The two element types, and how kernels get at the numbers of a tensor.

use std::borrow::Cow;

use candle_core::{CpuStorage, DType, Layout, Storage, Tensor, WithDType};
use egg_geometry::Scalar;

use crate::{Error, Result};

/// f32 or f64: what tensors hold and the geometry computes with.
pub(crate) trait Element: WithDType + Scalar {}

impl Element for f32 {}
impl Element for f64 {}

/// Refuses element types that no kernel is compiled for.
pub(crate) fn check_float(what: &'static str, tensor: &Tensor) -> Result<()> {
    match tensor.dtype() {
        DType::F32 | DType::F64 => Ok(()),
        found => Err(Error::DType {
            what,
            found,
            expected: "f32 or f64",
        }),
    }
}

/// Refuses anything but a matrix of f32 or f64; gives its shape.
pub(crate) fn check_matrix(what: &'static str, tensor: &Tensor) -> Result<(usize, usize)> {
    check_float(what, tensor)?;
    match tensor.dims() {
        &[rows, columns] => Ok((rows, columns)),
        found => Err(Error::Shape {
            what,
            found: found.to_vec(),
            expected: "(rows, columns)".to_owned(),
        }),
    }
}

/// The numbers of a tensor in row-major order, copied only if they lie
/// otherwise in memory.
fn in_order<'a, T: Element>(storage: &'a CpuStorage, layout: &Layout) -> Result<Cow<'a, [T]>> {
    let data = T::cpu_storage_as_slice(storage)?;
    Ok(match layout.contiguous_offsets() {
        Some((start, end)) => Cow::Borrowed(&data[start..end]),
        None => Cow::Owned(gathered(data, layout)),
    })
}

/// The numbers a layout with any strides points at, in row-major order.
fn gathered<T: Element>(data: &[T], layout: &Layout) -> Vec<T> {
    let mut offsets = vec![layout.start_offset()];
    for (&size, &stride) in layout.dims().iter().zip(layout.stride()) {
        let along = |&offset: &usize| (0..size).map(move |step| offset + step * stride);
        offsets = offsets.iter().flat_map(along).collect();
    }
    offsets.into_iter().map(|offset| data[offset]).collect()
}

/// Runs `kernel` on the numbers of a tensor in row-major order.
pub(crate) fn with_values<T: Element, R>(
    tensor: &Tensor,
    kernel: impl FnOnce(&[T]) -> Result<R>,
) -> Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => kernel(&in_order(storage, layout)?),
        // Whoever can moves tensors to the host first.
        _ => Err(Error::Candle(candle_core::Error::msg(
            "a kernel was given a tensor that is not on the CPU",
        ))),
    }
}

/// Calls a generic function for the element type of `$dtype`, which
/// [`check_float`] has seen.
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
            found => Err($crate::Error::DType {
                what: "a tensor",
                found,
                expected: "f32 or f64",
            }),
        }
    };
}
pub(crate) use for_element;
