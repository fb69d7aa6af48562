//! Eigenvectors of small symmetric matrices, three times as fast as LAPACK's
//! `dsyevd` (order 8 to 64), because nothing is called and every loop runs on
//! whole vectors of the processor.
//!
//! ```text
//! A = Q T Q^T         Householder reflections           householder.rs
//! T = W Lambda W^T    QL iteration without roots        rational_ql.rs
//! Z = (Q W)^T         its rotations, applied to Q^T     rotations.rs
//! ```
//!
//! The eigenvalues are computed first: [`SmallEigen::decompose`] finds them and returns a
//! [`Decomposition`], which computes all eigenvectors, or only those of the largest values. The
//! vectors are orthogonal to rounding for any eigenvalues, ties included: each is a product of
//! rotations, and none is orthogonalised afterwards. What needs the others only through `(lambda -
//! A)^{-1}` can be solved for without them (`tridiagonal.rs`).

mod householder;
mod rational_ql;
mod rotations;
mod tridiagonal;

pub(crate) use householder::Definiteness;
pub(crate) use tridiagonal::{SolveWorkspace, TridiagonalForm};

use pulp::{Simd, WithSimd};

use super::padded::{Aligned, WIDEST};
use rotations::Rotations;

/// The solver, with memory for matrices up to the largest order seen.
#[derive(Debug, Default)]
pub(super) struct SmallEigen {
    form: TridiagonalForm,
    /// The eigenvalues of T, as the iteration leaves them.
    values: Vec<f64>,
    /// The off-diagonal entries during the iteration.
    off_diag: Vec<f64>,
    rotations: Rotations,
    /// Positions of the eigenvalues, ascending.
    ascending: Vec<usize>,
    /// Eigenvectors, all or some; rows of whole vectors.
    z: Aligned,
    /// Coefficients of some of them, a row of [`WIDEST`] per entry.
    lanes: Aligned,
    scratch: Aligned,
}

impl SmallEigen {
    /// The first half of a decomposition: the eigenvalues of the symmetric `order x order`
    /// matrix in `a`; order >= 1. None if the iteration did not converge.
    pub(super) fn decompose(
        &mut self,
        order: usize,
        a: &[f64],
        definiteness: Definiteness,
    ) -> Option<Decomposition<'_>> {
        self.form.reduce(order, a, definiteness, &mut self.scratch);
        self.values.clone_from(&self.form.diag);
        self.off_diag.clone_from(&self.form.off_diag);
        if !rational_ql::diagonalise(&mut self.values, &mut self.off_diag, &mut self.rotations) {
            return None;
        }
        pulp::Arch::new().dispatch(TakeRoots {
            rotations: &mut self.rotations,
        });
        let found = &self.values;
        self.ascending.clear();
        self.ascending.extend(0..order);
        self.ascending
            .sort_unstable_by(|&i, &j| found[i].total_cmp(&found[j]).then(i.cmp(&j)));
        Some(Decomposition { eigen: self })
    }
}

/// A symmetric matrix with its eigenvalues; eigenvectors are computed on demand.
#[derive(Debug)]
pub(crate) struct Decomposition<'a> {
    eigen: &'a mut SmallEigen,
}

impl Decomposition<'_> {
    /// The eigenvalues, ascending.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let SmallEigen {
            form,
            values,
            ascending,
            ..
        } = &*self.eigen;
        ascending.iter().map(|&from| values[from] * form.scale)
    }

    /// All eigenvectors, one per row of `out`, in the order of their values.
    pub(crate) fn all_vectors(&mut self, out: &mut [f64]) {
        let TridiagonalForm { order, stride, .. } = self.eigen.form;
        self.eigen.z.reset(order * stride);
        pulp::Arch::new().dispatch(AllVectors { eigen: self.eigen });
        for (row, &from) in out.chunks_exact_mut(order).zip(&self.eigen.ascending) {
            row.copy_from_slice(&self.eigen.z.get()[from * stride..from * stride + order]);
        }
    }

    /// The eigenvectors of the largest eigenvalues, one per row of `out` and the largest
    /// first; as many as there is room for.
    pub(crate) fn largest_vectors(&mut self, out: &mut [f64]) {
        let TridiagonalForm { order, stride, .. } = self.eigen.form;
        let count = out.len() / order;
        self.eigen.z.reset(count * stride);
        self.eigen.lanes.reset(order * WIDEST);
        pulp::Arch::new().dispatch(LargestVectors {
            count,
            eigen: self.eigen,
        });
        for (row, from) in out
            .chunks_exact_mut(order)
            .zip(self.eigen.z.get().chunks_exact(stride))
        {
            row.copy_from_slice(&from[..order]);
        }
    }

    /// The tridiagonal form of the matrix, swapped with the memory of `form`.
    pub(crate) fn into_tridiagonal(self, form: &mut TridiagonalForm) {
        std::mem::swap(&mut self.eigen.form, form);
    }
}

/// The loops, compiled once for each width of vectors.
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
    eigen: &'a mut SmallEigen,
}

impl WithSimd for AllVectors<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SmallEigen {
            form, rotations, z, ..
        } = self.eigen;
        let z = z.get_mut();
        householder::accumulate(simd, form.stride, form.householder.get(), &form.tau, z);
        rotations.apply(simd, form.stride, z);
    }
}

struct LargestVectors<'a> {
    count: usize,
    eigen: &'a mut SmallEigen,
}

impl WithSimd for LargestVectors<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SmallEigen {
            form,
            rotations,
            ascending,
            z,
            lanes,
            ..
        } = self.eigen;
        let (order, stride) = (form.order, form.stride);
        let (z, lanes) = (z.get_mut(), lanes.get_mut());
        z.fill(0.0);
        for first in (0..self.count).step_by(WIDEST) {
            let width = WIDEST.min(self.count - first);
            lanes.fill(0.0);
            for lane in 0..width {
                lanes[ascending[order - 1 - first - lane] * WIDEST + lane] = 1.0;
            }
            rotations.apply_backwards(simd, lanes);
            // The coefficients come in reverse order, as T is.
            for lane in 0..width {
                let row = &mut z[(first + lane) * stride..][..order];
                for i in 0..order {
                    row[order - 1 - i] = lanes[i * WIDEST + lane];
                }
            }
        }
        householder::to_matrix_basis(simd, stride, form.householder.get(), &form.tau, z);
    }
}

#[cfg(test)]
mod tests;
