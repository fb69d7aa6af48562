//! Prefetching of rows.

/// Prefetches `data[start..start + len]` into the cache without waiting for it. Does nothing for a
/// range out of bounds, or on a processor without prefetch instructions.
///
/// A loop that gathers rows of a large matrix in random order waits for memory at every
/// row. Prefetching the row of a later step lets many such waits overlap.
///
/// ```
/// let (rows, order) = ([1.0f32, 2.0, 3.0, 4.0], [1usize, 0]);
/// let mut sum = 0.0;
/// for (step, row) in order.iter().enumerate() {
///     if let Some(later) = order.get(step + 1) {
///         egg_tensor::prefetch(&rows, later * 2, 2);
///     }
///     sum += rows[row * 2];
/// }
/// assert_eq!(sum, 4.0);
/// ```
#[inline(always)]
pub fn prefetch<T>(data: &[T], start: usize, len: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let Some(row) = start.checked_add(len).and_then(|end| data.get(start..end)) else {
            return;
        };
        let first = row.as_ptr().cast::<i8>();
        for offset in (0..size_of_val(row)).step_by(LINE) {
            // SAFETY: `offset` is inside the row, so the pointer stays inside its
            // allocation; the instruction changes nothing and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, start, len);
}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn prefetch_accepts_any_range() {
        let data = [1u32; 100];
        for (start, len) in [(0, 100), (99, 1), (99, 2), (1000, 5), (usize::MAX, 5), (3, 0)] {
            prefetch(&data, start, len);
        }
        prefetch::<u64>(&[], 0, 1);
        prefetch(&[(); 4], 0, 4);
        assert_eq!(data, [1; 100]);
    }
}
