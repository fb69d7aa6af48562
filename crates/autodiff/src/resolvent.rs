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

use egg_geometry::dense::{invert_positive_definite, multiply};
use ndarray::{ArrayViewMut2, Zip};

use crate::Result;
use crate::memory::{matrix_in, matrix_of};
use crate::soft::SoftScratch;

/// What the backward pass needs: `R` (m x m) or `Z` (n x m).
#[derive(Debug, Default)]
pub(crate) struct Resolvent {
    factor: Vec<f64>,
}

impl Resolvent {
    /// Writes P into `scratch.square`, or gives false if `sigma_1 / r` may exceed
    /// `limit`, where Cholesky would lose too many digits. `H / scale` (n x m) is
    /// in `scratch.scaled`, and r has been divided by the scale too.
    pub(crate) fn forward(
        &mut self,
        (n, m): (usize, usize),
        r: f64,
        limit: f64,
        scratch: &mut SoftScratch,
    ) -> Result<bool> {
        let [side, copy, ..] = &mut scratch.products;
        let h = matrix_of(&scratch.scaled, n, m);
        let shift = r * r;
        let order = n.min(m);
        let mut gram = matrix_in(if n < m { &mut *side } else { &mut self.factor }, order, order);
        if n < m {
            multiply(1.0, h, h.t(), 0.0, &mut gram)?;
        } else {
            multiply(1.0, h.t(), h, 0.0, &mut gram)?;
        }
        // At least lambda_1, at most order times it.
        let trace = gram.diag().sum();
        if trace.sqrt() > limit * r {
            return Ok(false);
        }
        if n < m {
            let inverse = &mut side[..order * order];
            shift_diagonal(order, inverse, shift);
            invert_positive_definite(order, inverse, &mut scratch.dense)?;
            let mut z = matrix_in(&mut self.factor, n, m);
            multiply(1.0, matrix_of(inverse, n, n), h, 0.0, &mut z)?;
            let mut p = matrix_in(&mut scratch.square, m, m);
            multiply(1.0, h.t(), z.view(), 0.0, &mut p)?;
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
        invert_positive_definite(m, inverse, &mut scratch.dense)?;
        let inverse = matrix_of(inverse, m, m);
        let mut p = matrix_in(&mut scratch.square, m, m);
        if is_small {
            multiply(1.0, matrix_of(copy, m, m), inverse, 0.0, &mut p)?;
        } else {
            Zip::from(&mut p)
                .and(inverse)
                .for_each(|to, from| *to = -shift * from);
            p.diag_mut().mapv_inplace(|entry| 1.0 + entry);
        }
        Ok(true)
    }

    /// The gradient by `H / scale`, with `H / scale` in `scratch.scaled` and G in
    /// `scratch.square`.
    pub(crate) fn backward<'a>(
        &self,
        (n, m): (usize, usize),
        r: f64,
        scratch: &'a mut SoftScratch,
    ) -> Result<ArrayViewMut2<'a, f64>> {
        let h = matrix_of(&scratch.scaled, n, m);
        let g = matrix_of(&scratch.square, m, m);
        let [first, second, out, _] = &mut scratch.products;
        let mut out = matrix_in(out, n, m);
        if n < m {
            let z = matrix_of(&self.factor, n, m);
            multiply(2.0, z, g, 0.0, &mut out)?;
            let mut within = matrix_in(first, n, n);
            multiply(1.0, out.view(), h.t(), 0.0, &mut within)?;
            multiply(-1.0, within.view(), z, 1.0, &mut out)?;
        } else {
            let inverse = matrix_of(&self.factor, m, m);
            let mut right = matrix_in(first, m, m);
            multiply(1.0, g, inverse, 0.0, &mut right)?;
            let mut both = matrix_in(second, m, m);
            multiply(2.0 * r * r, inverse, right.view(), 0.0, &mut both)?;
            multiply(1.0, h, both.view(), 0.0, &mut out)?;
        }
        Ok(out)
    }
}

fn shift_diagonal(order: usize, a: &mut [f64], shift: f64) {
    a.iter_mut().step_by(order + 1).for_each(|entry| *entry += shift);
}
