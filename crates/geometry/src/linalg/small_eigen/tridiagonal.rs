//! A symmetric matrix in the form `A = s Q T Q^T`, T tridiagonal, and solutions of `(lambda - A) x
//! = b` from it, without eigenvectors.

use pulp::{Simd, WithSimd};

use super::super::padded::{Aligned, WIDEST, load};
use super::householder::{self, Definiteness};
use crate::scalar::power_of_two_below;

/// The form, in reusable memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct TridiagonalForm {
    pub(super) order: usize,
    /// The length of a row of `householder`.
    pub(super) stride: usize,
    /// s, a power of two.
    pub(super) scale: f64,
    /// The vectors of reflections whose product is Q; order x stride.
    pub(super) householder: Aligned,
    pub(super) tau: Vec<f64>,
    /// The diagonal of T, in reverse order.
    pub(super) diag: Vec<f64>,
    /// The off-diagonal of T: entry k is between entries k and k + 1 of `diag`; the last is unused.
    pub(super) off_diag: Vec<f64>,
}

/// Scratch memory of [`TridiagonalForm::solve`].
#[derive(Debug, Default)]
pub(crate) struct SolveWorkspace {
    /// Right sides, and then solutions, in rows of whole vectors.
    rows: Aligned,
    /// One of them in reverse order, as T is.
    reversed: Vec<f64>,
    pivots: Vec<f64>,
    /// The two superdiagonals above them.
    above: Vec<f64>,
    far_above: Vec<f64>,
}

impl TridiagonalForm {
    /// Takes the form of the symmetric `order x order` matrix in `a`, order >= 1.
    pub(super) fn reduce(
        &mut self,
        order: usize,
        a: &[f64],
        definiteness: Definiteness,
        scratch: &mut Aligned,
    ) {
        let stride = order.next_multiple_of(WIDEST);
        let largest = a.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
        // Squares of entries must neither overflow nor vanish.
        let scale = power_of_two_below(largest);
        (self.order, self.stride, self.scale) = (order, stride, scale);
        self.householder.reset(order * stride);
        load(order, stride, a, scale, self.householder.get_mut());
        for buffer in [&mut self.tau, &mut self.diag, &mut self.off_diag] {
            buffer.clear();
            buffer.resize(order, 0.0);
        }
        pulp::Arch::new().dispatch(Reduce {
            definiteness,
            form: self,
            scratch,
        });
    }

    /// Row i of `rows` (as many as `lambda`, of the matrix's order) becomes
    /// `(lambda_i - A)^{-1} row_i`.
    ///
    /// Where `lambda_i` is an eigenvalue to rounding, as it is meant to be, the solution
    /// has some multiple of its eigenvector in it, about as long as the rest if the row
    /// has none; the caller takes it out.
    pub(crate) fn solve(&self, lambda: &[f64], rows: &mut [f64], workspace: &mut SolveWorkspace) {
        let largest = lambda.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let SolveWorkspace {
            rows: padded,
            reversed,
            pivots,
            above,
            far_above,
        } = workspace;
        padded.reset(lambda.len() * self.stride);
        for (to, from) in padded
            .get_mut()
            .chunks_exact_mut(self.stride)
            .zip(rows.chunks_exact(self.order))
        {
            to[..self.order].copy_from_slice(from);
            to[self.order..].fill(0.0);
        }
        self.change_basis(padded.get_mut(), Direction::ToTridiagonal);
        for buffer in [&mut *reversed, &mut *pivots, &mut *above, &mut *far_above] {
            buffer.resize(self.order, 0.0);
        }
        let mut system = Elimination {
            pivots,
            above,
            far_above,
        };
        // The zero rows of T; in reverse order they come first.
        let zero_rows = self.diag.iter().zip(&self.off_diag);
        let zero_rows = zero_rows.take_while(|(d, b)| **d == 0.0 && **b == 0.0).count();
        for (row, lambda) in padded.get_mut().chunks_exact_mut(self.stride).zip(lambda) {
            reversed.copy_from_slice(&row[..self.order]);
            reversed.reverse();
            let smallest = f64::EPSILON * largest / self.scale;
            let lambda = lambda / self.scale;
            system.solve(self, zero_rows, lambda, smallest, reversed);
            for (to, from) in row.iter_mut().zip(reversed.iter().rev()) {
                *to = from / self.scale;
            }
        }
        self.change_basis(padded.get_mut(), Direction::ToOriginal);
        for (to, from) in rows
            .chunks_exact_mut(self.order)
            .zip(padded.get().chunks_exact(self.stride))
        {
            to.copy_from_slice(&from[..self.order]);
        }
    }

    fn change_basis(&self, rows: &mut [f64], direction: Direction) {
        pulp::Arch::new().dispatch(ChangeBasis {
            form: self,
            rows,
            direction,
        });
    }
}

/// Compiled once for each width of vectors.
struct Reduce<'a> {
    definiteness: Definiteness,
    form: &'a mut TridiagonalForm,
    scratch: &'a mut Aligned,
}

impl WithSimd for Reduce<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let TridiagonalForm {
            stride,
            householder,
            tau,
            diag,
            off_diag,
            ..
        } = self.form;
        householder::reduce(
            simd,
            *stride,
            self.definiteness,
            householder.get_mut(),
            [tau.as_mut_slice(), diag, off_diag],
            self.scratch,
        );
    }
}

#[derive(Debug, Clone, Copy)]
enum Direction {
    ToTridiagonal,
    ToOriginal,
}

/// Compiled once for each width of vectors.
struct ChangeBasis<'a> {
    form: &'a TridiagonalForm,
    rows: &'a mut [f64],
    direction: Direction,
}

impl WithSimd for ChangeBasis<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let TridiagonalForm {
            stride,
            householder,
            tau,
            ..
        } = self.form;
        let reflections = householder.get();
        match self.direction {
            Direction::ToTridiagonal => {
                householder::to_tridiagonal_basis(simd, *stride, reflections, tau, self.rows);
            }
            Direction::ToOriginal => householder::to_matrix_basis(simd, *stride, reflections, tau, self.rows),
        }
    }
}

/// `lambda - T` on its way to an upper triangle.
struct Elimination<'a> {
    pivots: &'a mut [f64],
    above: &'a mut [f64],
    far_above: &'a mut [f64],
}

impl Elimination<'_> {
    /// Gaussian elimination with exchanges of neighbours; no pivot is smaller than
    /// `smallest`. The first `zero_rows` rows of T are 0.
    fn solve(&mut self, t: &TridiagonalForm, zero_rows: usize, lambda: f64, smallest: f64, x: &mut [f64]) {
        let (decoupled, x) = x.split_at_mut(zero_rows);
        for x in decoupled {
            *x /= lambda;
        }
        let (diag, off_diag) = (&t.diag[zero_rows..], &t.off_diag[zero_rows..]);
        let Some(last) = x.len().checked_sub(1) else {
            return;
        };
        let [pivots, above, far_above] =
            [&mut *self.pivots, self.above, self.far_above].map(|part| &mut part[..x.len()]);
        for (pivot, diag) in pivots.iter_mut().zip(diag) {
            *pivot = lambda - diag;
        }
        for (above, off_diag) in above.iter_mut().zip(off_diag) {
            *above = -off_diag;
        }
        far_above.fill(0.0);
        let bounded = |pivot: f64| match pivot.abs() < smallest {
            true => smallest.copysign(pivot),
            false => pivot,
        };
        for k in 0..last {
            let below = -off_diag[k];
            if pivots[k].abs() >= below.abs() {
                pivots[k] = bounded(pivots[k]);
                let factor = below / pivots[k];
                pivots[k + 1] -= factor * above[k];
                x[k + 1] -= factor * x[k];
            } else {
                let factor = pivots[k] / below;
                pivots[k] = bounded(below);
                let pivot = pivots[k + 1];
                pivots[k + 1] = above[k] - factor * pivot;
                above[k] = pivot;
                if k + 1 < last {
                    far_above[k] = above[k + 1];
                    above[k + 1] *= -factor;
                }
                x.swap(k, k + 1);
                x[k + 1] -= factor * x[k];
            }
        }
        x[last] /= bounded(pivots[last]);
        for k in (0..last).rev() {
            let far = if k + 1 < last {
                far_above[k] * x[k + 2]
            } else {
                0.0
            };
            x[k] = (x[k] - above[k] * x[k + 1] - far) / pivots[k];
        }
    }
}
