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
//! `(lambda_i - C)^{-1}` beside the kept ones: where the dropped ones were not stored, it
//! is solved for.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Zip, s};

use crate::check;
use crate::embedding::factors::Factors;
use crate::embedding::flatten::{Flatten, each_pair};
use crate::embedding::triangle;
use crate::embedding::workspace::{Workspace, matrix_in, matrix_ref, scale_into};
use crate::error::Result;
use crate::linalg::entrywise::{self, round_times};
use crate::linalg::{Reduced, SolveWorkspace, multiply};
use crate::scalar::{Scalar, max_abs, power_of_two_below};

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
        let mut symmetric = matrix_in(&mut workspace.square, m, m);
        Zip::from(&mut symmetric)
            .and(&projector_gradient)
            .and(&projector_gradient.t())
            // Halves first: the sum of two large entries can overflow.
            .for_each(|to, a, b| *to = 0.5 * a.as_f64() + 0.5 * b.as_f64());
        let mut out = Array2::zeros(h.dim());
        self.pull_back(h, Upstream::Square, out.view_mut(), workspace)?;
        Ok(out)
    }

    /// `dL/dH` (n x m) from the gradient with respect to the flattened
    /// projector (`m (m + 1) / 2` numbers), into memory that is there.
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
        mut out: ArrayViewMut2<'_, T>,
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
            &embedding_gradient.insert_axis(ndarray::Axis(0)),
        )?;
        let p = self.choice().p;
        if let Some(flat) = embedding_gradient.as_slice()
            && (1..=triangle::MOST).contains(&p)
            && p < m
        {
            self.check_pair(&h, &out)?;
            let magnitude = entrywise::max_abs(flat).as_f64();
            if magnitude == 0.0 {
                out.fill(T::zero());
                return Ok(());
            }
            let magnitude = power_of_two_below(magnitude);
            matrix_in(&mut workspace.scratch.products[0], p, m);
            triangle::multiply(
                self.kept_directions(),
                m,
                flat,
                flatten.gradient_weight(),
                magnitude.recip(),
                &mut workspace.scratch.products[0][..p * m],
            );
            return self.pull_back_product(h, magnitude, out, workspace);
        }
        matrix_in(&mut workspace.square, m, m);
        let square = &mut workspace.square[..m * m];
        flatten.spread(
            embedding_gradient,
            flatten.gradient_weight(),
            square,
            m,
            T::as_f64,
        );
        self.pull_back(h, Upstream::Square, out, workspace)
    }

    fn check_pair<T: Scalar>(&self, h: &ArrayView2<'_, T>, out: &ArrayViewMut2<'_, T>) -> Result<()> {
        check::shape("H", h, self.shape())?;
        check::finite("H", h)?;
        check::shape("output", &out.view(), self.shape())
    }

    /// The formula, with `G` where `upstream` says.
    pub(crate) fn pull_back<T: Scalar>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: Upstream,
        mut out: ArrayViewMut2<'_, T>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        self.check_pair(&h, &out)?;
        let m = self.shape().1;
        let p = self.choice().p;
        let g = match upstream {
            Upstream::Square => matrix_in(&mut workspace.square, m, m),
            Upstream::Diagonal => matrix_in(&mut workspace.scratch.values, 1, m),
        };
        let magnitude = max_abs(&g.view());
        // p = 0 is a zero H; p = m is the whole space, whose projector is constant.
        if p == 0 || p == m || magnitude == 0.0 {
            out.fill(T::zero());
            return Ok(());
        }
        let magnitude = power_of_two_below(magnitude);
        let mut g = g;
        g *= magnitude.recip();

        let (kept, _) = self.split();
        let mut a = matrix_in(&mut workspace.scratch.products[0], p, m);
        match upstream {
            Upstream::Square => multiply(1.0, kept, g.view(), 0.0, &mut a),
            Upstream::Diagonal => {
                Zip::from(&mut a)
                    .and(&kept)
                    .and_broadcast(&g)
                    .for_each(|to, u, g| *to = u * g);
            }
        }
        self.pull_back_product(h, magnitude, out, workspace)
    }

    /// The formula from `A = U_p^T G / magnitude` on, which is in the first of the
    /// workspace's products; 0 < p < m.
    fn pull_back_product<T: Scalar>(
        &self,
        h: ArrayView2<'_, T>,
        magnitude: f64,
        mut out: ArrayViewMut2<'_, T>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let ((n, m), p) = (self.shape(), self.choice().p);
        let (kept, dropped) = self.split();
        let [in_kept, coupling, null, rows] = &mut workspace.scratch.products;

        // The coupling X = K o (A U_d), and B = X U_d^T + the rest: G_C = U_p B + (U_p B)^T.
        let mut a = matrix_in(in_kept, p, m);
        let mut x = matrix_in(coupling, p, dropped.nrows());
        multiply(1.0, a.view(), dropped.t(), 0.0, &mut x);

        // Made again rather than kept: the factors of a batch would hold H twice.
        let scaled = scale_into(h, self.scale(), &mut workspace.scaled);
        let complement_is_stored = kept.nrows() + dropped.nrows() == m;
        if complement_is_stored {
            self.divide_by_gaps::<T>(&mut x);
            multiply(1.0, x.view(), dropped, 0.0, &mut a);
        } else {
            let mut within = matrix_in(null, p, p);
            multiply(1.0, a.view(), kept.t(), 0.0, &mut within);
            multiply(-1.0, within.view(), kept, 1.0, &mut a);
            multiply(-1.0, x.view(), dropped, 1.0, &mut a);
            match self.rest() {
                // The rest of A lies in the null space, where lambda_j = 0.
                None => {
                    for (i, mut row) in a.rows_mut().into_iter().enumerate() {
                        row *= inverse_gap::<T>(self.eigenvalue(i), 0.0);
                    }
                }
                Some(reduced) => {
                    let lambda = &mut workspace.scratch.values;
                    lambda.clear();
                    lambda.extend((0..p).map(|i| self.eigenvalue(i)));
                    let rest = Resolvent {
                        reduced,
                        h: scaled.view(),
                        lambda,
                    };
                    rest.apply(&mut a, rows, &mut workspace.scratch.solve);
                    // What the solution has of the directions that are stored is noise.
                    for stored in [kept, dropped] {
                        let mut within = matrix_in(null, p, stored.nrows());
                        multiply(1.0, a.view(), stored.t(), 0.0, &mut within);
                        multiply(-1.0, within.view(), stored, 1.0, &mut a);
                    }
                }
            }
            self.divide_by_gaps::<T>(&mut x);
            multiply(1.0, x.view(), dropped, 1.0, &mut a);
        }
        let b = a;

        let mut result = matrix_in(rows, n, m);
        if m * m * p + n * m * m <= 4 * n * m * p {
            let mut gc = matrix_in(&mut workspace.square, m, m);
            multiply(1.0, kept.t(), b.view(), 0.0, &mut gc);
            symmetrise_sum(&mut workspace.square[..m * m], m);
            let gc = matrix_ref(&workspace.square[..m * m], m, m);
            multiply(2.0, scaled.view(), gc, 0.0, &mut result);
        } else {
            // H G_C = [H U_p, H B^T] [B; U_p^T], with U_p^T, B, U_p^T below each other.
            let mut stacked = matrix_in(coupling, 3 * p, m);
            for (part, from) in [(0, kept), (1, b.view()), (2, kept)] {
                stacked.slice_mut(s![part * p..(part + 1) * p, ..]).assign(&from);
            }
            let mut left = matrix_in(null, n, 2 * p);
            multiply(
                1.0,
                scaled.view(),
                stacked.slice(s![..2 * p, ..]).t(),
                0.0,
                &mut left,
            );
            multiply(2.0, left.view(), stacked.slice(s![p.., ..]), 0.0, &mut result);
        }
        let scale = self.scale();
        let factor = magnitude / scale;
        match (result.as_slice(), out.as_slice_mut()) {
            (Some(result), Some(out)) if factor.is_normal() => round_times(result, factor, out),
            _ => Zip::from(&mut out).and(&result).for_each(|to, from| {
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

    /// `X_ij <- X_ij / (lambda_i - lambda_j)`, guarded.
    fn divide_by_gaps<T: Scalar>(&self, x: &mut ArrayViewMut2<'_, f64>) {
        let p = self.choice().p;
        for ((i, j), entry) in x.indexed_iter_mut() {
            *entry *= inverse_gap::<T>(self.eigenvalue(i), self.eigenvalue(p + j));
        }
    }
}

/// `(lambda_i - C)^{-1}` for row i, without the eigenvectors of `C = H^T H`, from the
/// Gram matrix of the smaller side of `H`.
struct Resolvent<'a> {
    reduced: &'a Reduced,
    h: ArrayView2<'a, f64>,
    lambda: &'a [f64],
}

impl Resolvent<'_> {
    /// To the rows of `a`, with some multiple of the eigenvectors of lambda added.
    fn apply(&self, a: &mut ArrayViewMut2<'_, f64>, memory: &mut Vec<f64>, solve: &mut SolveWorkspace) {
        let (n, m) = self.h.dim();
        if n >= m {
            let rows = a
                .as_slice_mut()
                .unwrap_or_else(|| unreachable!("made in row order"));
            self.reduced.solve(self.lambda, rows, solve);
            return;
        }
        // (lambda - H^T H)^{-1} = (1 + H^T (lambda - H H^T)^{-1} H) / lambda
        let mut inner = matrix_in(memory, self.lambda.len(), n);
        multiply(1.0, a.view(), self.h.t(), 0.0, &mut inner);
        self.reduced
            .solve(self.lambda, &mut memory[..self.lambda.len() * n], solve);
        let inner = matrix_ref(&memory[..self.lambda.len() * n], self.lambda.len(), n);
        multiply(1.0, inner, self.h, 1.0, a);
        for (mut row, lambda) in a.rows_mut().into_iter().zip(self.lambda) {
            row *= lambda.recip();
        }
    }
}

/// Where `G` lies in the workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Upstream {
    /// m x m, symmetric, in `square`.
    Square,
    /// m numbers, the diagonal of an otherwise zero matrix, in `values`.
    Diagonal,
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
