//! Small matrices in rows of whole vectors, in memory aligned to cache lines: the padding is 0, no
//! loop over a row has a remainder, and no vector crosses a cache line, which doubles the speed of
//! a reduction.

use pulp::Simd;

/// The widest vector of any processor, in numbers.
pub(super) const WIDEST: usize = 8;

/// The first number of the vector that number `index` is in.
#[inline(always)]
pub(super) fn start_of_vector(index: usize) -> usize {
    index / WIDEST * WIDEST
}

/// Copies an `order x order` matrix, divided by the power of two `scale`, into
/// `rows` of length `stride`, a multiple of [`WIDEST`].
pub(super) fn load(order: usize, stride: usize, a: &[f64], scale: f64, rows: &mut [f64]) {
    let inverse = scale.recip();
    for (to, from) in rows.chunks_exact_mut(stride).zip(a.chunks_exact(order)) {
        let (to, padding) = to.split_at_mut(order);
        for (to, from) in to.iter_mut().zip(from) {
            *to = from * inverse;
        }
        padding.fill(0.0);
    }
}

/// A padded row as vectors.
#[inline(always)]
pub(super) fn vectors<S: Simd>(row: &[f64]) -> &[S::f64s] {
    S::as_simd_f64s(row).0
}

#[inline(always)]
pub(super) fn vectors_mut<S: Simd>(row: &mut [f64]) -> &mut [S::f64s] {
    S::as_mut_simd_f64s(row).0
}

/// The length of a cache line in bytes.
const LINE: usize = 64;

/// Reusable memory, aligned to cache lines. A copy may be unaligned: that makes it slower, not
/// wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Aligned {
    numbers: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// Makes it `length` long; what it held is lost.
    pub(super) fn reset(&mut self, length: usize) {
        let room = length + LINE / size_of::<f64>();
        if self.numbers.len() < room {
            self.numbers.resize(room, 0.0);
        }
        // 0 if the allocator can't say, which is allowed and only slower.
        let start = self.numbers.as_ptr().align_offset(LINE);
        self.start = if start <= room - length { start } else { 0 };
        self.length = length;
    }

    pub(super) fn get(&self) -> &[f64] {
        &self.numbers[self.start..self.start + self.length]
    }

    pub(super) fn get_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_memory_keeps_length_and_contents() {
        let mut aligned = Aligned::default();
        assert!(aligned.get().is_empty());
        for length in [0, 1, 7, 8, 4096, 3] {
            aligned.reset(length);
            assert_eq!(aligned.get().len(), length);
            assert_eq!(aligned.get().as_ptr() as usize % LINE, 0);
            aligned.get_mut().fill(length as f64);
            let copy = aligned.clone();
            assert_eq!(copy.get(), aligned.get());
            assert!(copy.get().iter().all(|number| *number == length as f64));
        }
    }
}
