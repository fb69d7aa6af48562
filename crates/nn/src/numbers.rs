//! How the kernels of custom operations get at the numbers of a tensor.

use std::borrow::Cow;

use candle_core::{CpuStorage, Layout, Result, Storage, Tensor, WithDType, bail};

/// The numbers of a tensor in row-major order, copied only if they lie
/// otherwise in memory. For the forward pass of a custom operation.
///
/// # Errors
/// If the storage is of another type.
pub fn in_order<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> Result<Cow<'a, [T]>> {
    let data = T::cpu_storage_as_slice(storage)?;
    Ok(match layout.contiguous_offsets() {
        Some((start, end)) => Cow::Borrowed(&data[start..end]),
        None => Cow::Owned(gathered(data, layout)),
    })
}

/// The numbers a layout with any strides points at, in row-major order.
fn gathered<T: WithDType>(data: &[T], layout: &Layout) -> Vec<T> {
    let mut offsets = vec![layout.start_offset()];
    for (&size, &stride) in layout.dims().iter().zip(layout.stride()) {
        let along = |&offset: &usize| (0..size).map(move |step| offset + step * stride);
        offsets = offsets.iter().flat_map(along).collect();
    }
    offsets.into_iter().map(|offset| data[offset]).collect()
}

/// Runs `kernel` on the numbers of a tensor in row-major order.
///
/// # Errors
/// If the tensor is of another type, or not on the CPU.
///
/// ```
/// use candle_core::{Device, Tensor};
/// let x = Tensor::new(&[[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
/// let first_column = egg_nn::numbers::with_values::<f32, _>(&x.t()?, |x| Ok([x[0], x[1]]))?;
/// assert_eq!(first_column, [1.0, 3.0]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn with_values<T: WithDType, R>(tensor: &Tensor, kernel: impl FnOnce(&[T]) -> Result<R>) -> Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => kernel(&in_order(storage, layout)?),
        _ => bail!("this operation runs on the CPU; move the tensor there with to_device(&Device::Cpu)"),
    }
}
