//! How factors are found: from a Gram matrix of the smaller side of `H`, all
//! eigenvectors of it or only the kept ones, or from an SVD.

use super::{Factors, Rest};
use crate::check;
use crate::embedding::rank::RankRule;
use crate::embedding::workspace::{Workspace, matrix_in, matrix_mut, matrix_ref, scale_into};
use crate::error::Result;
use crate::linalg::{self, Decompose, Definiteness, Eigenvectors, multiply};
use crate::scalar::{Scalar, max_abs};
use ndarray::ArrayView2;

/// An f64 Gram matrix of f64 data is trusted only if no eigenvalue is smaller
/// than this share of the largest: then every singular value is as good as an
/// SVD's to within a factor of 20. (The noise floor of a Gram matrix is about
/// 1.5e-8 sigma_1, far above eps sigma_1.)
const GRAM_SPREAD: f64 = 2.5e-3;

/// ... and only if the cut is at least this wide in eigenvalues, relative to
/// the largest, so that the projector is good to about 1e-13 ...
const GRAM_GAP: f64 = 2e-3;

/// ... or lies so high, relative to `sigma_1`, that an SVD would do no better:
/// its projector error is smaller by the factor `(sigma_p + sigma_{p+1}) / sigma_1`.
const GRAM_HIGH_CUT: f64 = 0.7;

/// What rounding leaves of an eigenvalue of a Gram matrix that is 0, relative to the largest.
const GRAM_NOISE: f64 = 16.0 * f64::EPSILON;

/// Only the kept directions are made where there are at least this many in all: of fewer,
/// all are as fast.
const LEAST_ORDER: usize = 40;

/// ... and where no more than one in this many is kept ...
const KEPT_ONE_IN: usize = 4;

/// ... and where the cut is so wide that the guard of the gradient
/// ([`Scalar::GAP_GUARD`](crate::Scalar::GAP_GUARD)) does nothing that f32 could show,
/// in eigenvalues and relative to the last one kept ...
const CLEAR_CUT: f64 = 1e-3;

/// ... and no two eigenvalues that are kept, nor the first that is not, are nearer to
/// each other, relative to the largest: `(lambda - C)^{-1}` would lose digits that
/// f32 could show.
const CLEAR_PAIR: f64 = 1e-7;

/// Which directions a decomposition has to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    Kept,
}

impl Factors {
    pub(super) fn compute_with<T: Scalar>(
        &mut self,
        h: ArrayView2<'_, T>,
        rule: RankRule,
        ratio_columns: usize,
        wanted: Wanted,
        workspace: &mut Workspace,
    ) -> Result<()> {
        rule.validate()?;
        let (rows, columns) = h.dim();
        check::has_columns("H", &h)?;
        check::finite("H", &h)?;
        linalg::ready();

        *self = Self {
            rows,
            columns,
            sigma: std::mem::take(&mut self.sigma),
            directions: std::mem::take(&mut self.directions),
            reduced: std::mem::take(&mut self.reduced),
            eps: T::eps(),
            tie_tolerance: T::TIE_TOLERANCE,
            ..Self::new()
        };
        self.sigma.clear();
        self.directions.clear();
        self.scale = max_abs(&h).as_f64();
        if self.scale == 0.0 {
            return Ok(());
        }
        scale_into(h, self.scale, &mut workspace.scaled);

        let vectors = self.gram_values(workspace)?;
        self.choice = rule.choose(&self.spectrum(ratio_columns));
        if !T::GRAM_IS_EXACT && !self.gram_is_accurate() {
            self.decompose_svd(workspace)?;
            self.choice = rule.choose(&self.spectrum(ratio_columns));
            return Ok(());
        }
        let few = wanted == Wanted::Kept
            && T::GRAM_IS_EXACT
            && vectors == Eigenvectors::Later
            && self.kept_are_few_and_clear();
        match few {
            true => self.kept_vectors(workspace),
            false => self.all_vectors(vectors, workspace),
        }
        Ok(())
    }

    /// The singular values from the Gram matrix of the smaller side, which is in
    /// `directions` for n >= m, else in `workspace.square`.
    fn gram_values(&mut self, workspace: &mut Workspace) -> Result<Eigenvectors> {
        let (rows, columns) = (self.rows, self.columns);
        let order = rows.min(columns);
        let scaled = matrix_ref(&workspace.scaled[..rows * columns], rows, columns);
        let gram = if rows >= columns {
            self.directions.resize(order * order, 0.0);
            let mut gram = matrix_mut(&mut self.directions, order, order);
            linalg::gram(scaled.t(), &mut gram);
            &mut self.directions[..]
        } else {
            let mut gram = matrix_in(&mut workspace.square, order, order);
            linalg::gram(scaled, &mut gram);
            &mut workspace.square[..order * order]
        };
        workspace.scratch.values.resize(order, 0.0);
        let vectors = linalg::eigenvalues(
            order,
            gram,
            Definiteness::Semidefinite,
            &mut workspace.scratch.values,
            &mut workspace.scratch.eigh,
        )?;
        self.sigma.extend(
            workspace
                .scratch
                .values
                .iter()
                .rev()
                .map(|value| value.max(0.0).sqrt()),
        );
        Ok(vectors)
    }

    /// Whether the directions that are dropped can be done without; see [`LEAST_ORDER`].
    fn kept_are_few_and_clear(&self) -> bool {
        let p = self.choice.p;
        let nearest = self.eigenvalue(p);
        let clear = |pair: &[f64]| pair[0] * pair[0] - pair[1] * pair[1] >= CLEAR_PAIR * self.eigenvalue(0);
        self.sigma.len() >= LEAST_ORDER
            && (1..=self.sigma.len() / KEPT_ONE_IN).contains(&p)
            && self.eigenvalue(p - 1) - nearest >= CLEAR_CUT * self.eigenvalue(p - 1)
            && self.sigma[..=p].windows(2).all(clear)
    }

    /// Stores the kept directions, and the matrix in the form that the gradient can
    /// solve with.
    fn kept_vectors(&mut self, workspace: &mut Workspace) {
        let p = self.choice.p;
        self.rest = Rest::Unknown;
        if self.rows >= self.columns {
            self.stored = p;
            self.directions.resize(p * self.columns, 0.0);
            workspace.scratch.eigh.largest_vectors(&mut self.directions);
        } else {
            let vectors = &mut workspace.square[..p * self.rows];
            workspace.scratch.eigh.largest_vectors(vectors);
            self.directions_from_rows(p, workspace);
        }
        workspace.scratch.eigh.hand_over(&mut self.reduced);
    }

    /// Stores all directions above the noise.
    fn all_vectors(&mut self, vectors: Eigenvectors, workspace: &mut Workspace) {
        let order = self.rows.min(self.columns);
        let gram = match self.rows >= self.columns {
            true => &mut self.directions[..],
            false => &mut workspace.square[..order * order],
        };
        if vectors == Eigenvectors::Later {
            workspace.scratch.eigh.all_vectors(gram);
        }
        reverse_rows(gram, order);
        match self.rows >= self.columns {
            true => self.stored = order,
            false => self.directions_from_rows(self.choice.numerical_rank, workspace),
        }
    }

    /// Whether f64 data may rely on its Gram matrix; see [`GRAM_SPREAD`].
    fn gram_is_accurate(&self) -> bool {
        let sigma = |index: usize| self.sigma.get(index).copied().unwrap_or(0.0);
        let Some(last) = self.sigma.len().checked_sub(1) else {
            return true;
        };
        let (largest, kept, dropped) = (
            sigma(0),
            sigma(self.choice.p.saturating_sub(1)),
            sigma(self.choice.p),
        );
        let is_whole_space = self.choice.p == self.columns;
        let (sum, difference) = (kept + dropped, kept - dropped);
        sigma(last).powi(2) >= GRAM_SPREAD * largest.powi(2)
            && (is_whole_space
                || sum >= GRAM_HIGH_CUT * largest
                || sum * difference >= GRAM_GAP * largest.powi(2))
    }

    fn decompose_svd(&mut self, workspace: &Workspace) -> Result<()> {
        let (rows, columns) = (self.rows, self.columns);
        let scaled = matrix_ref(&workspace.scaled[..rows * columns], rows, columns);
        let factors = f64::svd(scaled)?;
        self.sigma.clear();
        self.sigma.extend(factors.s.iter());
        self.stored = factors.vt.nrows();
        self.directions.clear();
        self.directions.extend(factors.vt.iter());
        Ok(())
    }

    /// For n < m: the first `stored` directions `u_i = H^T v_i / sigma_i` from as many
    /// eigenvectors `v_i` of `H H^T`, in `workspace.square`. They are above the noise.
    fn directions_from_rows(&mut self, stored: usize, workspace: &mut Workspace) {
        let (rows, columns) = (self.rows, self.columns);
        self.stored = stored;
        self.directions.resize(stored * columns, 0.0);
        let scaled = matrix_ref(&workspace.scaled[..rows * columns], rows, columns);
        let vectors = matrix_ref(&workspace.square[..stored * rows], stored, rows);
        let mut directions = matrix_mut(&mut self.directions, stored, columns);
        multiply(1.0, vectors, scaled, 0.0, &mut directions);
        for (mut direction, sigma) in directions.rows_mut().into_iter().zip(&self.sigma) {
            direction *= sigma.recip();
        }

        let (Some(&largest), Some(&least)) = (self.sigma.first(), self.sigma.get(stored.saturating_sub(1)))
        else {
            return;
        };
        if GRAM_NOISE * (largest / least).powi(2) > 8.0 * self.eps {
            self.orthonormalise(workspace);
        }
    }

    /// Gram-Schmidt in matrix form, to first order in the defect `E = D D^T - I`:
    /// row i loses `sum_{j<i} E_ij d_j + E_ii d_i / 2`. A pass squares the defect, which the
    /// numerical rank keeps below a tenth.
    ///
    /// Not the symmetric (Newton-Schulz) step: division by small sigma spoils
    /// the later directions, and they alone must take the correction.
    fn orthonormalise(&mut self, workspace: &mut Workspace) {
        const PASSES: usize = 4;
        let (kept, columns) = (self.stored, self.columns);
        for _ in 0..PASSES {
            let mut correction = matrix_in(&mut workspace.square, kept, kept);
            let mut directions = matrix_mut(&mut self.directions, kept, columns);
            multiply(1.0, directions.view(), directions.t(), 0.0, &mut correction);
            let mut defect = 0.0f64;
            for ((row, column), entry) in correction.indexed_iter_mut() {
                *entry = match row.cmp(&column) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => 0.5 * (*entry - 1.0),
                    std::cmp::Ordering::Greater => *entry,
                };
                defect = defect.max(entry.abs());
            }
            if defect <= self.eps {
                return;
            }
            let mut before = matrix_in(&mut workspace.scratch.products[0], kept, columns);
            before.assign(&directions);
            multiply(-1.0, correction.view(), before.view(), 1.0, &mut directions);
        }
    }
}

/// Turns ascending eigenvectors into descending ones.
fn reverse_rows(square: &mut [f64], order: usize) {
    for row in 0..order / 2 {
        let (front, back) = square.split_at_mut((order - 1 - row) * order);
        front[row * order..(row + 1) * order].swap_with_slice(&mut back[..order]);
    }
}
