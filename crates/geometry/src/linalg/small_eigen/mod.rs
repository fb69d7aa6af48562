//! Eigenvectors of small symmetric matrices, three times as fast as LAPACK's
//! `dsyevd` (order 8 to 64), because nothing is called and every loop runs on
//! whole vectors of the processor.
//!
//! ```text
//! A = Q T Q^T         reflections                       tridiagonal.rs
//! T = W Lambda W^T    QL iteration without roots        rational_ql.rs
//! Z = (Q W)^T         its rotations, applied to Q^T
//! ```
//!
//! A rotation turns two rows of `Z`, which lie in one piece; the rows
//! of `Z` are then the eigenvectors. Orthogonal to rounding whatever the
//! eigenvalues, tied ones included: each is a product of rotations, and none is
//! made orthogonal to another afterwards.

mod rational_ql;
mod tridiagonal;

use pulp::{Simd, WithSimd};

use super::padded::{WIDEST, load};
use crate::scalar::power_of_two_below;

/// Larger matrices go to the backend: their rows leave the first cache, where
/// blocks of reflections pay.
pub(super) const LARGEST: usize = 128;

/// Memory for matrices up to the largest order seen.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The matrix, and then the reflections; order x stride.
    a: Vec<f64>,
    /// The eigenvectors; order x stride.
    z: Vec<f64>,
    /// The diagonal of T, then the eigenvalues.
    diagonal: Vec<f64>,
    /// What is beside the diagonal of T, then its squares; one less.
    beside: Vec<f64>,
    reflection: tridiagonal::Scratch,
    /// Positions of the eigenvalues, ascending.
    order: Vec<usize>,
}

/// Eigenvalues, ascending, of the symmetric `order x order` matrix in `a`, which
/// is overwritten by the eigenvectors, one per row. `order` is at least 1 and
/// the slices have the right lengths: the caller has looked.
///
/// False if the iteration did not converge; then `a` is as it was.
pub(super) fn eigh_in_place(order: usize, a: &mut [f64], values: &mut [f64], memory: &mut Memory) -> bool {
    let stride = order.next_multiple_of(WIDEST);
    let largest = a.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
    // Squares of entries must neither overflow nor vanish.
    let scale = power_of_two_below(largest);
    load(order, stride, a, scale, &mut memory.a);
    memory.z.resize(order * stride, 0.0);
    memory.diagonal.resize(order, 0.0);
    memory.beside.resize(order, 0.0);
    let converged = pulp::Arch::new().dispatch(Decompose {
        order,
        stride,
        memory,
    });
    if !converged {
        return false;
    }

    let Memory {
        z,
        diagonal,
        order: positions,
        ..
    } = memory;
    positions.clear();
    positions.extend(0..order);
    positions.sort_unstable_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j]).then(i.cmp(&j)));
    for ((row, value), &from) in a.chunks_exact_mut(order).zip(values).zip(&*positions) {
        *value = diagonal[from] * scale;
        row.copy_from_slice(&z[from * stride..from * stride + order]);
    }
    true
}

/// The work itself, compiled once for each width of vectors.
struct Decompose<'a> {
    order: usize,
    stride: usize,
    memory: &'a mut Memory,
}

impl WithSimd for Decompose<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self {
            order,
            stride,
            memory,
        } = self;
        tridiagonal::reduce(
            simd,
            stride,
            &mut memory.a,
            &mut memory.diagonal,
            &mut memory.beside,
            &mut memory.reflection,
        );
        tridiagonal::accumulate(simd, stride, &memory.a, &memory.reflection, &mut memory.z);
        rational_ql::diagonalise(
            simd,
            stride,
            &mut memory.diagonal[..order],
            &mut memory.beside[..order],
            &mut memory.z,
        )
    }
}

#[cfg(test)]
mod tests;
