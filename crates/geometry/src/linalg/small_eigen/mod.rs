//! Eigenvectors of small symmetric matrices, three times as fast as LAPACK's
//! `dsyevd` (order 8 to 64), because nothing is called and every loop runs on
//! whole vectors of the processor.
//!
//! ```text
//! A = Q T Q^T         reflections                       tridiagonal.rs
//! T = W Lambda W^T    QL iteration without roots        rational_ql.rs
//! Z = (Q W)^T         its rotations, applied to Q^T     rotations.rs
//! ```
//!
//! The eigenvalues are known before any vector is: [`begin`] finds them, and
//! [`all_vectors`] or [`largest_vectors`] follow, for as many as are wanted. The
//! vectors are orthogonal to rounding whatever the eigenvalues, tied ones
//! included: each is a product of rotations, and none is made orthogonal to another
//! afterwards. What depends on the others only through `(lambda - A)^{-1}` needs
//! none of them (`reduced.rs`).

mod rational_ql;
mod reduced;
mod rotations;
mod tridiagonal;

pub(crate) use reduced::{Reduced, SolveWorkspace};
pub(crate) use tridiagonal::Definiteness;

use pulp::{Simd, WithSimd};

use super::aligned::Aligned;
use super::padded::{WIDEST, load};
use crate::scalar::power_of_two_below;
use rotations::Rotations;

/// Larger matrices go to the backend: their rows leave the first cache, where
/// blocks of reflections pay.
pub(super) const LARGEST: usize = 128;

/// Memory for matrices up to the largest order seen.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) reduced: Reduced,
    /// The eigenvalues of T, as the iteration leaves them.
    values: Vec<f64>,
    /// What is beside the diagonal during the iteration.
    beside: Vec<f64>,
    rotations: Rotations,
    /// Positions of the eigenvalues, ascending.
    ascending: Vec<usize>,
    /// Eigenvectors, all or some; rows of whole vectors.
    z: Aligned,
    /// Some of them by coefficients, a row of [`WIDEST`] per entry.
    lanes: Aligned,
    scratch: Aligned,
}

/// Eigenvalues, ascending, of the symmetric `order x order` matrix in `a`; the
/// vectors can then be had from `memory`. `order` is at least 1 and the slices have
/// the right lengths: the caller has looked.
///
/// False if the iteration did not converge.
pub(super) fn begin(
    order: usize,
    a: &[f64],
    definiteness: Definiteness,
    values: &mut [f64],
    memory: &mut Memory,
) -> bool {
    let stride = order.next_multiple_of(WIDEST);
    let largest = a.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
    // Squares of entries must neither overflow nor vanish.
    let scale = power_of_two_below(largest);
    let reduced = &mut memory.reduced;
    (reduced.order, reduced.stride, reduced.scale) = (order, stride, scale);
    reduced.reflections.reset(order * stride);
    load(order, stride, a, scale, reduced.reflections.get_mut());
    for buffer in [&mut reduced.tau, &mut reduced.diagonal, &mut reduced.beside] {
        buffer.clear();
        buffer.resize(order, 0.0);
    }
    pulp::Arch::new().dispatch(Reduce {
        definiteness,
        reduced,
        scratch: &mut memory.scratch,
    });
    memory.values.clone_from(&reduced.diagonal);
    memory.beside.clone_from(&reduced.beside);
    if !rational_ql::diagonalise(&mut memory.values, &mut memory.beside, &mut memory.rotations) {
        return false;
    }
    pulp::Arch::new().dispatch(TakeRoots {
        rotations: &mut memory.rotations,
    });
    let Memory {
        values: found,
        ascending,
        ..
    } = memory;
    ascending.clear();
    ascending.extend(0..order);
    ascending.sort_unstable_by(|&i, &j| found[i].total_cmp(&found[j]).then(i.cmp(&j)));
    for (value, &from) in values.iter_mut().zip(&*ascending) {
        *value = found[from] * scale;
    }
    true
}

/// All eigenvectors of the matrix that was begun with, one per row of `a`, in the order of their values.
pub(super) fn all_vectors(a: &mut [f64], memory: &mut Memory) {
    let Reduced { order, stride, .. } = memory.reduced;
    memory.z.reset(order * stride);
    pulp::Arch::new().dispatch(AllVectors { memory });
    for (row, &from) in a.chunks_exact_mut(order).zip(&memory.ascending) {
        row.copy_from_slice(&memory.z.get()[from * stride..from * stride + order]);
    }
}

/// The eigenvectors of the largest eigenvalues, one per row of `out` and the largest
/// first; as many as there is room for.
pub(super) fn largest_vectors(out: &mut [f64], memory: &mut Memory) {
    let Reduced { order, stride, .. } = memory.reduced;
    let count = out.len() / order;
    memory.z.reset(count * stride);
    memory.lanes.reset(order * WIDEST);
    pulp::Arch::new().dispatch(LargestVectors { count, memory });
    for (row, from) in out
        .chunks_exact_mut(order)
        .zip(memory.z.get().chunks_exact(stride))
    {
        row.copy_from_slice(&from[..order]);
    }
}

/// From here on the work itself, compiled once for each width of vectors.
struct Reduce<'a> {
    definiteness: Definiteness,
    reduced: &'a mut Reduced,
    scratch: &'a mut Aligned,
}

impl WithSimd for Reduce<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Reduced {
            stride,
            reflections,
            tau,
            diagonal,
            beside,
            ..
        } = self.reduced;
        let outcome = [tau.as_mut_slice(), diagonal, beside];
        let reflections = reflections.get_mut();
        tridiagonal::reduce(
            simd,
            *stride,
            self.definiteness,
            reflections,
            outcome,
            self.scratch,
        );
    }
}

struct TakeRoots<'a> {
    rotations: &'a mut Rotations,
}

impl WithSimd for TakeRoots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.rotations.take_roots(simd);
    }
}

struct AllVectors<'a> {
    memory: &'a mut Memory,
}

impl WithSimd for AllVectors<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Memory {
            reduced,
            rotations,
            z,
            ..
        } = self.memory;
        let z = z.get_mut();
        tridiagonal::accumulate(simd, reduced.stride, reduced.reflections.get(), &reduced.tau, z);
        rotations.apply(simd, reduced.stride, z);
    }
}

struct LargestVectors<'a> {
    count: usize,
    memory: &'a mut Memory,
}

impl WithSimd for LargestVectors<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Memory {
            reduced,
            rotations,
            ascending,
            z,
            lanes,
            ..
        } = self.memory;
        let (order, stride) = (reduced.order, reduced.stride);
        let (z, lanes) = (z.get_mut(), lanes.get_mut());
        z.fill(0.0);
        for first in (0..self.count).step_by(WIDEST) {
            let together = WIDEST.min(self.count - first);
            lanes.fill(0.0);
            for lane in 0..together {
                lanes[ascending[order - 1 - first - lane] * WIDEST + lane] = 1.0;
            }
            rotations.apply_backwards(simd, lanes);
            // The coefficients come upside down, as T is.
            for lane in 0..together {
                let row = &mut z[(first + lane) * stride..][..order];
                for i in 0..order {
                    row[order - 1 - i] = lanes[i * WIDEST + lane];
                }
            }
        }
        tridiagonal::to_original(simd, stride, reduced.reflections.get(), &reduced.tau, z);
    }
}

#[cfg(test)]
mod tests;
