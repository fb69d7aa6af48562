//! The soft projector `P = C (C + r^2 I)^{-1}`, `C = H^T H`, by Cholesky.
//!
//! With n >= m, on the m x m side, `R = (C + r^2 I)^{-1}`:
//!
//! ```text
//! P = I - r^2 R              dL/dH = 2 r^2 H R G R
//! ```
//!
//! With n < m, on the n x n side, `Z = (H H^T + r^2 I)^{-1} H = H R`:
//!
//! ```text
//! P = H^T Z                  dL/dH = 2 (Z G - (Z G H^T) Z)
//! ```
//!
//! since `H R = Z` and `r^2 R = I - H^T Z`. Everything is divided by
//! `max(max |H|, r)` first, so that no square leaves the range of f64.

use ndarray::{ArrayView2, ArrayViewMut2, Zip};

use crate::embedding::workspace::{Scratch, matrix_in, matrix_ref};
use crate::error::Result;
use crate::linalg::{invert_in_place, multiply};

/// What the gradient needs of `H / scale`.
#[derive(Debug, Clone, Default)]
pub(super) struct Resolvent {
    /// As r / scale.
    r: f64,
    /// `R` (m x m) for n >= m, else `Z` (n x m).
    factor: Vec<f64>,
}

impl Resolvent {
    /// Writes P (m x m) of `h` (n x m), or gives false if `sigma_1 / r` may exceed `limit`,
    /// where Cholesky would lose too many digits.
    pub(super) fn projector(
        &mut self,
        h: ArrayView2<'_, f64>,
        r: f64,
        limit: f64,
        p: &mut ArrayViewMut2<'_, f64>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let (n, m) = h.dim();
        self.r = r;
        let shift = r * r;
        let order = n.min(m);
        let [side, copy, ..] = &mut scratch.products;
        let mut gram = matrix_in(if n < m { &mut *side } else { &mut self.factor }, order, order);
        if n < m {
            multiply(1.0, h, h.t(), 0.0, &mut gram);
        } else {
            multiply(1.0, h.t(), h, 0.0, &mut gram);
        }
        // At least lambda_1, at most order times it.
        let trace = gram.diag().sum();
        if trace.sqrt() > limit * r {
            return Ok(false);
        }
        if n < m {
            let inverse = &mut side[..order * order];
            shift_diagonal(order, inverse, shift);
            invert_in_place(order, inverse, &mut scratch.invert)?;
            let mut z = matrix_in(&mut self.factor, n, m);
            multiply(1.0, matrix_ref(inverse, n, n), h, 0.0, &mut z);
            multiply(1.0, h.t(), z.view(), 0.0, p);
            return Ok(true);
        }
        // I - r^2 R has an absolute error of eps; where all of P is small, C R
        // keeps the relative one.
        let is_small = trace < shift;
        if is_small {
            copy.clear();
            copy.extend(gram.iter());
        }
        let inverse = &mut self.factor[..m * m];
        shift_diagonal(m, inverse, shift);
        invert_in_place(m, inverse, &mut scratch.invert)?;
        let inverse = matrix_ref(inverse, m, m);
        if is_small {
            multiply(1.0, matrix_ref(copy, m, m), inverse, 0.0, p);
        } else {
            Zip::from(&mut *p)
                .and(inverse)
                .for_each(|to, from| *to = -shift * from);
            p.diag_mut().mapv_inplace(|entry| 1.0 + entry);
        }
        Ok(true)
    }

    /// The gradient by `h` (n x m), from the symmetric `g` (m x m).
    pub(super) fn gradient(
        &self,
        h: ArrayView2<'_, f64>,
        g: ArrayView2<'_, f64>,
        out: &mut ArrayViewMut2<'_, f64>,
        scratch: &mut Scratch,
    ) {
        let (n, m) = h.dim();
        let [first, second, ..] = &mut scratch.products;
        if n < m {
            let z = matrix_ref(&self.factor[..n * m], n, m);
            multiply(2.0, z, g, 0.0, out);
            let mut within = matrix_in(first, n, n);
            multiply(1.0, out.view(), h.t(), 0.0, &mut within);
            multiply(-1.0, within.view(), z, 1.0, out);
        } else {
            let inverse = matrix_ref(&self.factor[..m * m], m, m);
            let mut right = matrix_in(first, m, m);
            multiply(1.0, g, inverse, 0.0, &mut right);
            let mut both = matrix_in(second, m, m);
            multiply(2.0 * self.r * self.r, inverse, right.view(), 0.0, &mut both);
            multiply(1.0, h, both.view(), 0.0, out);
        }
    }
}

fn shift_diagonal(order: usize, a: &mut [f64], shift: f64) {
    a.iter_mut().step_by(order + 1).for_each(|entry| *entry += shift);
}
