//! Small matrices in rows of whole vectors: the padding is 0, and no loop over a
//! row has a remainder.

use pulp::Simd;

/// The widest vector there is, in numbers.
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
