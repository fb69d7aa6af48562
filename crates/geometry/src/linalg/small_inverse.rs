//! The inverse of a small symmetric positive definite matrix by Cholesky, in
//! loops over whole vectors: twice as fast as LAPACK's `dpotrf` and `dpotri` at
//! order 64.
//!
//! ```text
//! A = L L^T        A^{-1} = W^T W,  W = L^{-1}
//! ```
//!
//! The rows of `L^T` are made from the rows of A, those of W from those before
//! them, and the inverse is a sum of `w_k^T w_k`. (Gauss-Jordan elimination
//! would be one pass, but its error grows faster than the condition number.)

use pulp::{Simd, WithSimd};

use super::padded::{Aligned, WIDEST, load, start_of_vector, vectors, vectors_mut};

/// Memory for matrices up to the largest order seen; order x stride each.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// A, then `L^T` in its upper triangle.
    upper: Aligned,
    /// W.
    lower: Aligned,
    inverse: Aligned,
}

/// Inverts the `order x order` matrix in `a`, exactly symmetric; the caller has checked the length.
/// False if it is not positive definite to rounding: then `a` is unchanged.
pub(super) fn invert_in_place(order: usize, a: &mut [f64], memory: &mut Memory) -> bool {
    let stride = order.next_multiple_of(WIDEST);
    for matrix in [&mut memory.upper, &mut memory.lower, &mut memory.inverse] {
        matrix.reset(order * stride);
        matrix.get_mut().fill(0.0);
    }
    load(order, stride, a, 1.0, memory.upper.get_mut());
    if !pulp::Arch::new().dispatch(Invert { stride, memory }) {
        return false;
    }
    for (to, from) in a
        .chunks_exact_mut(order)
        .zip(memory.inverse.get().chunks_exact(stride))
    {
        to.copy_from_slice(&from[..order]);
    }
    true
}

/// The inversion, compiled once for each width of vectors.
struct Invert<'a> {
    stride: usize,
    memory: &'a mut Memory,
}

impl WithSimd for Invert<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Memory {
            upper,
            lower,
            inverse,
        } = self.memory;
        let (upper, lower, inverse) = (upper.get_mut(), lower.get_mut(), inverse.get_mut());
        if !factor(simd, self.stride, upper) {
            return false;
        }
        invert_factor(simd, self.stride, upper, lower);
        add_squares(simd, self.stride, lower, inverse);
        inverse.iter().all(|entry| entry.is_finite())
    }
}

/// `L^T` in the upper triangle, with the diagonal inverted; false at a pivot that
/// is not positive.
#[inline(always)]
fn factor<S: Simd>(simd: S, stride: usize, upper: &mut [f64]) -> bool {
    for k in 0..upper.len() / stride {
        let (pivot_row, below) = upper[k * stride..].split_at_mut(stride);
        let pivot = pivot_row[k];
        // NaN is not positive either.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let inverse = pivot.sqrt().recip();
        let from = start_of_vector(k);
        let factor = simd.splat_f64s(inverse);
        for entry in vectors_mut::<S>(&mut pivot_row[from..]) {
            *entry = simd.mul_f64s(*entry, factor);
        }
        pivot_row[k] = inverse;
        for (row, i) in below.chunks_exact_mut(stride).zip(k + 1..) {
            let from = start_of_vector(i);
            subtract(simd, pivot_row[i], &pivot_row[from..], &mut row[from..]);
        }
    }
    true
}

/// The rows of `W = L^{-1}`: `w_i = (e_i - sum_{j<i} L_ij w_j) / L_ii`.
#[inline(always)]
fn invert_factor<S: Simd>(simd: S, stride: usize, upper: &[f64], lower: &mut [f64]) {
    for i in 0..lower.len() / stride {
        let (before, row) = lower.split_at_mut(i * stride);
        let row = &mut row[..stride];
        row[i] = 1.0;
        for (j, earlier) in before.chunks_exact(stride).enumerate() {
            let to = start_of_vector(j) + WIDEST;
            subtract(simd, upper[j * stride + i], &earlier[..to], &mut row[..to]);
        }
        let factor = simd.splat_f64s(upper[i * stride + i]);
        for entry in vectors_mut::<S>(&mut row[..start_of_vector(i) + WIDEST]) {
            *entry = simd.mul_f64s(*entry, factor);
        }
    }
}

/// `W^T W`. Entries (i, j) and (j, i) are the same sums of the same products.
#[inline(always)]
fn add_squares<S: Simd>(simd: S, stride: usize, lower: &[f64], inverse: &mut [f64]) {
    let order = lower.len() / stride;
    // Four at once: a row of the result is read and written a quarter as often.
    let mut k = 0;
    while k < order {
        let many = (order - k).min(4);
        let to = start_of_vector(k + many - 1) + WIDEST;
        let w = &lower[k * stride..(k + many) * stride];
        for (i, row) in inverse.chunks_exact_mut(stride).take(k + many).enumerate() {
            let row = vectors_mut::<S>(&mut row[..to]);
            if many == 4 {
                let w0 = vectors::<S>(&w[..to]);
                let w1 = vectors::<S>(&w[stride..stride + to]);
                let w2 = vectors::<S>(&w[2 * stride..2 * stride + to]);
                let w3 = vectors::<S>(&w[3 * stride..3 * stride + to]);
                let f0 = simd.splat_f64s(w[i]);
                let f1 = simd.splat_f64s(w[stride + i]);
                let f2 = simd.splat_f64s(w[2 * stride + i]);
                let f3 = simd.splat_f64s(w[3 * stride + i]);
                for ((((entry, w0), w1), w2), w3) in row.iter_mut().zip(w0).zip(w1).zip(w2).zip(w3) {
                    let sum = simd.mul_add_e_f64s(f0, *w0, *entry);
                    let sum = simd.mul_add_e_f64s(f1, *w1, sum);
                    let sum = simd.mul_add_e_f64s(f2, *w2, sum);
                    *entry = simd.mul_add_e_f64s(f3, *w3, sum);
                }
            } else {
                for w in w.chunks_exact(stride) {
                    let factor = simd.splat_f64s(w[i]);
                    for (entry, w) in row.iter_mut().zip(vectors::<S>(&w[..to])) {
                        *entry = simd.mul_add_e_f64s(factor, *w, *entry);
                    }
                }
            }
        }
        k += many;
    }
}

/// `row -= factor * other`
#[inline(always)]
fn subtract<S: Simd>(simd: S, factor: f64, other: &[f64], row: &mut [f64]) {
    let factor = simd.splat_f64s(-factor);
    for (entry, other) in vectors_mut::<S>(row).iter_mut().zip(vectors::<S>(other)) {
        *entry = simd.mul_add_e_f64s(factor, *other, *entry);
    }
}
