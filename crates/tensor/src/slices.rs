//! The numbers of tensors as slices.

use std::borrow::Cow;

use candle_core::{CpuStorage, Layout, Result, Storage, Tensor, WithDType, bail};

/// Runs `kernel` on the numbers of some tensors, each in row-major order: copied only if
/// they lie otherwise in memory.
///
/// # Errors
/// If a tensor is of another type, or not on the CPU.
///
/// ```
/// use candle_core::{Device, Tensor};
/// let x = Tensor::new(&[[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
/// let w = Tensor::new(&[10f32, 100.0], &Device::Cpu)?;
/// let dot = egg_tensor::with_slices([&x.t()?, &w], |[x, w]: [&[f32]; 2]| Ok(x[0] * w[0] + x[1] * w[1]))?;
/// assert_eq!(dot, 310.0); // the first column
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn with_slices<T: WithDType, R, const N: usize>(
    tensors: [&Tensor; N],
    kernel: impl FnOnce([&[T]; N]) -> Result<R>,
) -> Result<R> {
    let storages = tensors.map(Tensor::storage_and_layout);
    let mut slices: [Cow<'_, [T]>; N] = [const { Cow::Borrowed(&[]) }; N];
    for (slice, (storage, layout)) in slices.iter_mut().zip(&storages) {
        let Storage::Cpu(storage) = &**storage else {
            bail!("this operation runs on the CPU; move the tensor there with to_device(&Device::Cpu)");
        };
        *slice = row_major(storage, layout)?;
    }
    kernel(slices.each_ref().map(|slice| &**slice))
}

/// The numbers of a storage in row-major order.
///
/// # Errors
/// If it is of another type.
pub fn row_major<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> Result<Cow<'a, [T]>> {
    let data = T::cpu_storage_as_slice(storage)?;
    Ok(match layout.contiguous_offsets() {
        Some((start, end)) => Cow::Borrowed(&data[start..end]),
        None => Cow::Owned(gather(data, layout)),
    })
}

/// The numbers a layout with any strides points at, in row-major order.
fn gather<T: WithDType>(data: &[T], layout: &Layout) -> Vec<T> {
    let mut offsets = vec![layout.start_offset()];
    for (&size, &stride) in layout.dims().iter().zip(layout.stride()) {
        let along = |&offset: &usize| (0..size).map(move |step| offset + step * stride);
        offsets = offsets.iter().flat_map(along).collect();
    }
    offsets.into_iter().map(|offset| data[offset]).collect()
}
