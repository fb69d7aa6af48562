//! The gradient of the projector with respect to `H`.
//!
//! With `C = H^T H = U diag(lambda) U^T` and `G = (dL/dP + dL/dP^T) / 2`, only
//! pairs of directions across the cut matter:
//!
//! ```text
//! K_ij = K_ji = 1 / (lambda_i - lambda_j)   i kept, j dropped (null space included), else 0
//! G_C  = U (K o (U^T G U)) U^T
//! dL/dH = 2 H G_C
//! ```
//!
//! It is finite for repeated singular values inside either block, for a
//! rank-deficient `H`, n < m, n = 1 and `H = 0`, where the gradient of an SVD
//! is not. Only the gap at the cut can be small. With
//! `x = (lambda_i - lambda_j) / lambda_i`, the factor `1 / x` is replaced by the
//! Lorentzian `x / (x^2 + eps^2)`, eps =
//! [`Scalar::GAP_GUARD`](crate::Scalar::GAP_GUARD): exact to `(eps / x)^2`,
//! bounded by `1 / (2 eps)`, and 0 on a tie, where `P` has no derivative.
//!
//! Dropped directions appear only in `sum_j u_j u_j^T / (lambda_i - lambda_j)`, which is
//! `(lambda_i - C)^{-1}` on the complement of the kept ones: where the dropped ones were not stored, it
//! is solved for.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Zip, s};

use crate::check;
use crate::embedding::factors::Factors;
use crate::embedding::flatten::{Flatten, each_pair};
use crate::embedding::triangle;
use crate::embedding::workspace::{
    Scratch, Workspace, matrix_in, matrix_mut, matrix_ref, scale_into, slice_in,
};
use crate::error::Result;
use crate::linalg::entrywise::{self, round_times};
use crate::linalg::{SolveWorkspace, TridiagonalForm, multiply};
use crate::scalar::{Scalar, max_abs, power_of_two_below};
use crate::tuning::speed::TRIANGLE_DIRECTIONS;

impl Factors {
    /// `dL/dH` (n x m) from `dL/dP` (m x m), which need not be symmetric.
    ///
    /// `h` is the matrix these factors were computed from. Values beyond
    /// [`Scalar::LARGEST_GRADIENT`] become that value.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `h` or the gradient has another shape,
    /// [`Error::NonFinite`](crate::Error::NonFinite).
    ///
    /// ```
    /// use egg_geometry::{Factors, RankRule, Workspace};
    /// use ndarray::array;
    ///
    /// // One row: P = h h^T / |h|^2, and L = P_00.
    /// let h = array![[3.0f64, 4.0]];
    /// let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    /// factors.compute(h.view(), RankRule::Fixed(1), &mut workspace)?;
    /// let gradient = factors.gradient(h.view(), array![[1.0, 0.0], [0.0, 0.0]].view(), &mut workspace)?;
    /// // dL/dh_0 = 2 h_0 h_1^2 / |h|^4, dL/dh_1 = -2 h_1 h_0^2 / |h|^4
    /// assert!((gradient[[0, 0]] - 96.0 / 625.0).abs() < 1e-15);
    /// assert!((gradient[[0, 1]] + 72.0 / 625.0).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn gradient<T: Scalar>(
        &self,
        h: ArrayView2<'_, T>,
        projector_gradient: ArrayView2<'_, T>,
        workspace: &mut Workspace,
    ) -> Result<Array2<T>> {
        let m = self.shape().1;
        check::shape("gradient of the projector", &projector_gradient, (m, m))?;
        check::finite("gradient of the projector", &projector_gradient)?;
        let Workspace {
            scaled,
            square,
            gradient,
            scratch,
        } = workspace;
        let mut symmetric = matrix_in(square, m, m);
        Zip::from(&mut symmetric)
            .and(&projector_gradient)
            .and(&projector_gradient.t())
            // Halves first: the sum of two large entries can overflow.
            .for_each(|to, a, b| *to = 0.5 * a.as_f64() + 0.5 * b.as_f64());
        let mut out = Array2::zeros(h.dim());
        let upstream = Upstream::<T>::Square(symmetric);
        self.pull_back(h, upstream, out.view_mut(), scaled, gradient, scratch)?;
        Ok(out)
    }

    /// `dL/dH` (n x m) from the gradient with respect to the flattened
    /// projector (`m (m + 1) / 2` numbers), into `out`.
    ///
    /// # Errors
    /// As [`Factors::gradient`], and [`Error::Length`](crate::Error::Length).
    ///
    /// ```
    /// use egg_geometry::{Factors, Flatten, RankRule, Workspace};
    /// use ndarray::{Array2, array};
    ///
    /// let h = array![[3.0f64, 4.0]];
    /// let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    /// factors.compute(h.view(), RankRule::Fixed(1), &mut workspace)?;
    /// let mut out = Array2::zeros((1, 2));
    /// let upstream = array![1.0, 0.0, 0.0];
    /// factors.gradient_of_embedding(h.view(), upstream.view(), Flatten::Upper, out.view_mut(), &mut workspace)?;
    /// assert!((out[[0, 0]] - 96.0 / 625.0).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn gradient_of_embedding<T: Scalar>(
        &self,
        h: ArrayView2<'_, T>,
        embedding_gradient: ArrayView1<'_, T>,
        flatten: Flatten,
        out: ArrayViewMut2<'_, T>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let m = self.shape().1;
        check::length(
            "gradient of the embedding",
            Flatten::length(m),
            embedding_gradient.len(),
        )?;
        check::finite(
            "gradient of the embedding",
            &embedding_gradient.insert_axis(Axis(0)),
        )?;
        let Workspace {
            scaled,
            square,
            gradient,
            scratch,
        } = workspace;
        let weight = flatten.gradient_weight();
        let upstream = match embedding_gradient.as_slice() {
            Some(flat) if self.choice().p <= TRIANGLE_DIRECTIONS => Upstream::Triangle { flat, weight },
            _ => {
                let square = slice_in(square, m * m);
                flatten.spread(embedding_gradient, weight, square, m, T::as_f64);
                Upstream::Square(matrix_mut(square, m, m))
            }
        };
        self.pull_back(h, upstream, out, scaled, gradient, scratch)
    }

    /// The formula, for any form of `G`.
    pub(super) fn pull_back<T: Scalar>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: Upstream<'_, T>,
        mut out: ArrayViewMut2<'_, T>,
        scaled: &mut Vec<f64>,
        gradient: &mut Vec<f64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        check::shape("H", &h, self.shape())?;
        check::finite("H", &h)?;
        check::shape("output", &out.view(), self.shape())?;
        let ((n, m), p) = (self.shape(), self.choice().p);
        let magnitude = upstream.largest();
        // p = 0 is a zero H; p = m is the whole space, whose projector is constant.
        if p == 0 || p == m || magnitude == 0.0 {
            out.fill(T::zero());
            return Ok(());
        }
        let magnitude = power_of_two_below(magnitude);
        // Computed again instead of stored: the factors of a batch would hold H twice.
        let scaled = scale_into(h, self.scale(), scaled);
        let (kept, _) = self.split();
        let [in_kept, products @ ..] = &mut scratch.products;
        let mut b = matrix_in(in_kept, p, m);
        upstream.times(kept, magnitude.recip(), &mut b);
        self.couple::<T>(&mut b, scaled, products, &mut scratch.values, &mut scratch.solve);
        let mut gradient = matrix_in(gradient, n, m);
        times_coupling(scaled, kept, b.view(), &mut gradient, products);

        let scale = self.scale();
        let factor = magnitude / scale;
        match (gradient.as_slice(), out.as_slice_mut()) {
            (Some(gradient), Some(out)) if factor.is_normal() => round_times(gradient, factor, out),
            _ => Zip::from(&mut out).and(&gradient).for_each(|to, from| {
                // Whichever order keeps the intermediate result in range.
                let value = if factor.is_normal() {
                    from * factor
                } else {
                    from * magnitude / scale
                };
                *to = T::rounded(value.clamp(-T::LARGEST_GRADIENT, T::LARGEST_GRADIENT));
            }),
        }
        Ok(())
    }

    /// From `A = U_p^T G` (p x m), in its place, to `B = X U_d^T + the rest` with the coupling
    /// `X = K o (A U_d)`, such that `G_C = U_p B + (U_p B)^T`; 0 < p < m, and `h` is `H / scale`.
    fn couple<T: Scalar>(
        &self,
        a: &mut ArrayViewMut2<'_, f64>,
        h: ArrayView2<'_, f64>,
        [coupling, within, rows]: &mut [Vec<f64>; 3],
        lambda: &mut Vec<f64>,
        solve: &mut SolveWorkspace,
    ) {
        let (p, m) = a.dim();
        let (kept, dropped) = self.split();
        let mut x = matrix_in(coupling, p, dropped.nrows());
        multiply(1.0, a.view(), dropped.t(), 0.0, &mut x);
        let complement_is_stored = kept.nrows() + dropped.nrows() == m;
        if complement_is_stored {
            self.divide_by_gaps::<T>(&mut x);
            multiply(1.0, x.view(), dropped, 0.0, a);
            return;
        }
        project_out(kept, a, within);
        multiply(-1.0, x.view(), dropped, 1.0, a);
        match self.rest() {
            // The rest of A lies in the null space, where lambda_j = 0.
            None => {
                for (i, mut row) in a.rows_mut().into_iter().enumerate() {
                    row *= inverse_gap::<T>(self.eigenvalue(i), 0.0);
                }
            }
            Some(tridiagonal) => {
                lambda.clear();
                lambda.extend((0..p).map(|i| self.eigenvalue(i)));
                let inverse = ShiftedInverse {
                    tridiagonal,
                    h,
                    lambda,
                };
                inverse.apply(a, rows, solve);
                // The components of the solution along stored directions are noise.
                project_out(kept, a, within);
                project_out(dropped, a, within);
            }
        }
        self.divide_by_gaps::<T>(&mut x);
        multiply(1.0, x.view(), dropped, 1.0, a);
    }

    /// `X_ij <- X_ij / (lambda_i - lambda_j)`, guarded.
    fn divide_by_gaps<T: Scalar>(&self, x: &mut ArrayViewMut2<'_, f64>) {
        let p = self.choice().p;
        for ((i, j), entry) in x.indexed_iter_mut() {
            *entry *= inverse_gap::<T>(self.eigenvalue(i), self.eigenvalue(p + j));
        }
    }
}

/// `A <- A - A U^T U` for orthonormal rows `U`.
fn project_out(rows: ArrayView2<'_, f64>, a: &mut ArrayViewMut2<'_, f64>, within: &mut Vec<f64>) {
    let mut within = matrix_in(within, a.nrows(), rows.nrows());
    multiply(1.0, a.view(), rows.t(), 0.0, &mut within);
    multiply(-1.0, within.view(), rows, 1.0, a);
}

/// `2 H G_C` for `G_C = U_p B + (U_p B)^T`, with `U_p^T` (p x m) in `kept`.
fn times_coupling(
    h: ArrayView2<'_, f64>,
    kept: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    out: &mut ArrayViewMut2<'_, f64>,
    [wide, narrow, _]: &mut [Vec<f64>; 3],
) {
    let ((n, m), p) = (h.dim(), kept.nrows());
    if m * m * p + n * m * m <= 4 * n * m * p {
        let square = slice_in(wide, m * m);
        multiply(1.0, kept.t(), b, 0.0, &mut matrix_mut(square, m, m));
        symmetrise_sum(square, m);
        multiply(2.0, h, matrix_ref(square, m, m), 0.0, out);
    } else {
        // H G_C = [H U_p, H B^T] [B; U_p^T], with U_p^T, B, U_p^T below each other.
        let mut stacked = matrix_in(wide, 3 * p, m);
        for (part, from) in [(0, kept), (1, b), (2, kept)] {
            stacked.slice_mut(s![part * p..(part + 1) * p, ..]).assign(&from);
        }
        let mut left = matrix_in(narrow, n, 2 * p);
        multiply(1.0, h, stacked.slice(s![..2 * p, ..]).t(), 0.0, &mut left);
        multiply(2.0, left.view(), stacked.slice(s![p.., ..]), 0.0, out);
    }
}

/// `(lambda_i - C)^{-1}` for row i, without the eigenvectors of `C = H^T H`, from the
/// Gram matrix of the smaller side of `H`.
struct ShiftedInverse<'a> {
    tridiagonal: &'a TridiagonalForm,
    h: ArrayView2<'a, f64>,
    lambda: &'a [f64],
}

impl ShiftedInverse<'_> {
    /// To the rows of `a`, with some multiple of the eigenvectors of lambda added.
    fn apply(&self, a: &mut ArrayViewMut2<'_, f64>, inner: &mut Vec<f64>, solve: &mut SolveWorkspace) {
        let ((n, m), p) = (self.h.dim(), self.lambda.len());
        if n >= m {
            let rows = a
                .as_slice_mut()
                .unwrap_or_else(|| unreachable!("made in row order"));
            self.tridiagonal.solve(self.lambda, rows, solve);
            return;
        }
        // (lambda - H^T H)^{-1} = (1 + H^T (lambda - H H^T)^{-1} H) / lambda
        let inner = slice_in(inner, p * n);
        multiply(1.0, a.view(), self.h.t(), 0.0, &mut matrix_mut(inner, p, n));
        self.tridiagonal.solve(self.lambda, inner, solve);
        multiply(1.0, matrix_ref(inner, p, n), self.h, 1.0, a);
        for (mut row, lambda) in a.rows_mut().into_iter().zip(self.lambda) {
            row *= lambda.recip();
        }
    }
}

/// The symmetric m x m gradient `G`, in one of several forms.
pub(super) enum Upstream<'a, T> {
    /// As it is; it may be overwritten.
    Square(ArrayViewMut2<'a, f64>),
    /// m numbers, the diagonal of an otherwise zero matrix.
    Diagonal(ArrayView1<'a, T>),
    /// Its upper triangle, row by row, entries off the diagonal divided by `weight`; for
    /// products with no more than [`TRIANGLE_DIRECTIONS`] rows.
    Triangle { flat: &'a [T], weight: f64 },
}

impl<T: Scalar> Upstream<'_, T> {
    /// `max |G|`, or another number of that size, as a unit.
    fn largest(&self) -> f64 {
        match self {
            Self::Square(g) => max_abs(&g.view()),
            Self::Diagonal(g) => max_abs(&g.insert_axis(Axis(0))).as_f64(),
            Self::Triangle { flat, .. } => entrywise::max_abs(flat).as_f64(),
        }
    }

    /// `U_p^T (factor G)` for the rows of `kept`.
    fn times(self, kept: ArrayView2<'_, f64>, factor: f64, out: &mut ArrayViewMut2<'_, f64>) {
        match self {
            Self::Square(mut g) => {
                g *= factor;
                multiply(1.0, kept, g.view(), 0.0, out);
            }
            Self::Diagonal(g) => {
                for (mut to, from) in out.rows_mut().into_iter().zip(kept.rows()) {
                    Zip::from(&mut to)
                        .and(from)
                        .and(g)
                        .for_each(|to, u, g| *to = u * (g.as_f64() * factor));
                }
            }
            Self::Triangle { flat, weight } => {
                let m = kept.ncols();
                if let (Some(kept), Some(out)) = (kept.to_slice(), out.as_slice_mut()) {
                    triangle::multiply(kept, m, flat, weight, factor, out);
                }
            }
        }
    }
}

/// The guarded `1 / (kept - dropped)` of two eigenvalues.
fn inverse_gap<T: Scalar>(kept: f64, dropped: f64) -> f64 {
    if kept <= 0.0 {
        return 0.0;
    }
    let x = (kept - dropped) / kept;
    x / (x * x + T::GAP_GUARD * T::GAP_GUARD) / kept
}

/// `A <- A + A^T` for an m x m matrix in row-major order.
fn symmetrise_sum(square: &mut [f64], m: usize) {
    for entry in square.iter_mut().step_by(m + 1) {
        *entry *= 2.0;
    }
    each_pair(square, m, |upper, lower| {
        *upper += *lower;
        *lower = *upper;
    });
}
