//! The decomposition behind factors: eigenvectors of a Gram matrix of the smaller side of `H`, all
//! or only the kept ones, or an SVD.

use super::{Factors, Rest};
use crate::check;
use crate::embedding::rank::RankRule;
use crate::embedding::workspace::{
    Scratch, Workspace, matrix_in, matrix_mut, matrix_ref, scale_into, slice_in,
};
use crate::error::Result;
use crate::linalg::{self, Decompose, Definiteness, Eigenvectors, multiply};
use crate::scalar::{Scalar, max_abs};
use crate::tuning::accuracy::{CLEAR_CUT, CLEAR_PAIR, GRAM_GAP, GRAM_HIGH_CUT, GRAM_NOISE, GRAM_SPREAD};
use crate::tuning::speed::{KEPT_ONLY_ONE_IN, KEPT_ONLY_ORDER};
use ndarray::{ArrayView2, ArrayViewMut2};

/// Which directions a decomposition has to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::embedding) enum Stored {
    /// All above the noise.
    All,
    /// Only the kept ones, if they are few and clear; see [`KEPT_ONLY_ORDER`].
    KeptIfFew,
}

impl Factors {
    /// Decomposes `h` (n x m) and applies the rule, whose `Ratio` is of `ratio_columns`: the node
    /// side decomposes `H^T`.
    pub(in crate::embedding) fn decompose<T: Scalar>(
        &mut self,
        h: ArrayView2<'_, T>,
        rule: RankRule,
        ratio_columns: usize,
        wanted: Stored,
        workspace: &mut Workspace,
    ) -> Result<()> {
        rule.validate()?;
        check::has_columns("H", &h)?;
        check::finite("H", &h)?;
        linalg::init_backend();

        let (rows, columns) = h.dim();
        let mut directions = std::mem::take(&mut self.directions);
        *self = Self {
            rows,
            columns,
            scale: max_abs(&h).as_f64(),
            sigma: std::mem::take(&mut self.sigma),
            tridiagonal: std::mem::take(&mut self.tridiagonal),
            eps: T::eps(),
            tie_tolerance: T::TIE_TOLERANCE,
            ..Self::new()
        };
        self.sigma.clear();
        if self.scale == 0.0 {
            directions.clear();
            self.directions = directions;
            return Ok(());
        }
        let Workspace {
            scaled,
            square,
            scratch,
            ..
        } = workspace;
        let scaled = scale_into(h, self.scale, scaled);

        // Of the smaller side. With n >= m its eigenvectors are the directions.
        let (is_tall, order) = (rows >= columns, rows.min(columns));
        let buffer = if is_tall { &mut directions } else { &mut *square };
        let gram = slice_in(buffer, order * order);
        let side = if is_tall { scaled.t() } else { scaled };
        linalg::gram(side, &mut matrix_mut(gram, order, order));
        let values = slice_in(&mut scratch.values, order);
        let semidefinite = Definiteness::Semidefinite;
        let vectors = linalg::eigenvalues(order, gram, semidefinite, values, &mut scratch.eigh)?;
        self.sigma
            .extend(values.iter().rev().map(|value| value.max(0.0).sqrt()));
        self.choice = rule.choose(&self.spectrum(ratio_columns));
        if !T::GRAM_IS_EXACT && !self.gram_is_accurate() {
            self.directions = directions;
            self.decompose_svd(scaled)?;
            self.choice = rule.choose(&self.spectrum(ratio_columns));
            return Ok(());
        }

        let few = wanted == Stored::KeptIfFew && T::GRAM_IS_EXACT && self.kept_are_few_and_clear();
        self.stored = match vectors {
            Eigenvectors::Unfinished(mut decomposition) if few => {
                let p = self.choice.p;
                decomposition.largest_vectors(&mut gram[..p * order]);
                decomposition.into_tridiagonal(&mut self.tridiagonal);
                self.rest = Rest::Unknown;
                p
            }
            vectors => {
                vectors.finish(gram);
                reverse_rows(gram, order);
                if is_tall {
                    order
                } else {
                    self.choice.numerical_rank
                }
            }
        };
        directions.resize(self.stored * columns, 0.0);
        if !is_tall {
            let vectors = matrix_ref(&square[..self.stored * rows], self.stored, rows);
            let mut directions = matrix_mut(&mut directions, self.stored, columns);
            self.directions_from_rows(vectors, scaled, &mut directions, scratch);
        }
        self.directions = directions;
        Ok(())
    }

    /// Whether the dropped directions need not be computed; see [`KEPT_ONLY_ORDER`].
    fn kept_are_few_and_clear(&self) -> bool {
        let p = self.choice.p;
        let nearest = self.eigenvalue(p);
        let clear = |pair: &[f64]| pair[0] * pair[0] - pair[1] * pair[1] >= CLEAR_PAIR * self.eigenvalue(0);
        self.sigma.len() >= KEPT_ONLY_ORDER
            && (1..=self.sigma.len() / KEPT_ONLY_ONE_IN).contains(&p)
            && self.eigenvalue(p - 1) - nearest >= CLEAR_CUT * self.eigenvalue(p - 1)
            && self.sigma[..=p].windows(2).all(clear)
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

    fn decompose_svd(&mut self, scaled: ArrayView2<'_, f64>) -> Result<()> {
        let factors = f64::svd(scaled)?;
        self.sigma.clear();
        self.sigma.extend(factors.s.iter());
        self.stored = factors.vt.nrows();
        self.directions.clear();
        self.directions.extend(factors.vt.iter());
        Ok(())
    }

    /// For n < m: directions `u_i = H^T v_i / sigma_i` from as many eigenvectors `v_i` of
    /// `H H^T`, one per row. They are above the noise.
    fn directions_from_rows(
        &self,
        vectors: ArrayView2<'_, f64>,
        scaled: ArrayView2<'_, f64>,
        directions: &mut ArrayViewMut2<'_, f64>,
        scratch: &mut Scratch,
    ) {
        multiply(1.0, vectors, scaled, 0.0, directions);
        for (mut direction, sigma) in directions.rows_mut().into_iter().zip(&self.sigma) {
            direction *= sigma.recip();
        }
        let least = self.sigma.get(vectors.nrows().saturating_sub(1));
        if let (Some(&largest), Some(&least)) = (self.sigma.first(), least)
            && GRAM_NOISE * (largest / least).powi(2) > 8.0 * self.eps
        {
            orthonormalise(directions, self.eps, scratch);
        }
    }
}

/// Gram-Schmidt in matrix form, to first order in the defect `E = D D^T - I`:
/// row i loses `sum_{j<i} E_ij d_j + E_ii d_i / 2`. A pass squares the defect, which the
/// numerical rank keeps below a tenth.
///
/// Not the symmetric (Newton-Schulz) step: division by small sigma spoils
/// the later directions, and only they must take the correction.
fn orthonormalise(directions: &mut ArrayViewMut2<'_, f64>, eps: f64, scratch: &mut Scratch) {
    const PASSES: usize = 4;
    let (count, columns) = directions.dim();
    let [correction, before, ..] = &mut scratch.products;
    let mut correction = matrix_in(correction, count, count);
    let mut before = matrix_in(before, count, columns);
    for _ in 0..PASSES {
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
        if defect <= eps {
            return;
        }
        before.assign(directions);
        multiply(-1.0, correction.view(), before.view(), 1.0, directions);
    }
}

/// Reverses ascending eigenvectors to descending order.
fn reverse_rows(square: &mut [f64], order: usize) {
    for row in 0..order / 2 {
        let (front, back) = square.split_at_mut((order - 1 - row) * order);
        front[row * order..(row + 1) * order].swap_with_slice(&mut back[..order]);
    }
}
