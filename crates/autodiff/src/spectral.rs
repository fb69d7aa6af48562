//! Any spectral filter `P_f = U f(lambda) U^T` through a decomposition, and its
//! gradient by divided differences (Daleckii and Krein).
//!
//! With `D_ij = (f_i - f_j) / (lambda_i - lambda_j)`, f' on ties:
//!
//! ```text
//! G_C = U (D o (U^T G U)) U^T        dL/dH = 2 H G_C
//! ```
//!
//! D is bounded where f' is, so that nothing needs a guard (and where f' is not,
//! as for the square root at 0, `H` is 0).
//! Directions in the null space of `H`, which a thin decomposition leaves out,
//! have `lambda = 0` and are reached through `I - U U^T`. Those with
//! `sigma <= eps max(n, m) sigma_1` are counted among them: `H u` is 0 there.

use egg_geometry::dense::{multiply, symmetric_eigen, thin_svd};
use ndarray::{ArrayViewMut2, s};

use crate::Result;
use crate::filter::Filter;
use crate::memory::{matrix_in, matrix_of};
use crate::soft::SoftScratch;

/// What the backward pass needs: the directions of `H` and what the filter made
/// of their singular values.
#[derive(Debug, Default)]
pub(crate) struct Spectral {
    /// Descending, as they are, those above the noise.
    sigma: Vec<f64>,
    /// f of each.
    value: Vec<f64>,
    /// One direction per row, sigma.len() x m.
    directions: Vec<f64>,
    at_zero: f64,
}

impl Spectral {
    /// Writes `P_f` into `scratch.square`. `H / scale` (n x m) is in
    /// `scratch.scaled`; `by_gram` allows the Gram matrix for n >= m, whose
    /// noise is the root of an SVD's.
    pub(crate) fn forward(
        &mut self,
        (n, m): (usize, usize),
        scale: f64,
        filter: &Filter,
        by_gram: bool,
        scratch: &mut SoftScratch,
    ) -> Result<()> {
        let SoftScratch {
            scaled,
            square,
            products: [vectors, rows, ..],
            values,
            dense,
        } = scratch;
        let h = matrix_of(scaled, n, m);
        self.sigma.clear();
        self.value.clear();
        self.directions.clear();
        self.at_zero = filter.value(0.0)?;
        if n > 0 && by_gram && n >= m {
            let mut gram = matrix_in(vectors, m, m);
            multiply(1.0, h.t(), h, 0.0, &mut gram)?;
            values.clear();
            values.resize(m, 0.0);
            symmetric_eigen(m, &mut vectors[..m * m], values, dense)?;
            let largest = values.last().copied().unwrap_or(0.0);
            let noise = f64::EPSILON * n.max(m) as f64 * largest;
            for (row, &value) in values
                .iter()
                .enumerate()
                .rev()
                .take_while(|(_, value)| **value > noise)
            {
                self.sigma.push(value.sqrt() * scale);
                self.directions.extend(&vectors[row * m..(row + 1) * m]);
            }
        } else if n > 0 {
            let svd = thin_svd(h)?;
            let noise = f64::EPSILON * n.max(m) as f64 * svd.s[0];
            self.sigma.extend(
                svd.s
                    .iter()
                    .take_while(|value| **value > noise)
                    .map(|value| value * scale),
            );
            let kept = self.sigma.len();
            self.directions.extend(svd.vt.slice(s![..kept, ..]).iter());
        }
        for sigma in &mut self.sigma {
            // A matrix at the end of the range can have singular values beyond it.
            *sigma = sigma.min(f64::MAX);
            self.value.push(filter.value(*sigma)?);
        }

        let kept = self.sigma.len();
        let directions = matrix_of(&self.directions, kept, m);
        let mut weighted = matrix_in(rows, kept, m);
        weighted.assign(&directions);
        for (mut row, value) in weighted.rows_mut().into_iter().zip(&self.value) {
            row *= value - self.at_zero;
        }
        let mut p = matrix_in(square, m, m);
        multiply(1.0, directions.t(), weighted.view(), 0.0, &mut p)?;
        p.diag_mut().mapv_inplace(|entry| entry + self.at_zero);
        Ok(())
    }

    /// The gradient by `H` times `1 / scale`, with `H / scale` in
    /// `scratch.scaled` and G in `scratch.square`.
    pub(crate) fn backward<'a>(
        &self,
        (n, m): (usize, usize),
        filter: &Filter,
        scratch: &'a mut SoftScratch,
    ) -> Result<ArrayViewMut2<'a, f64>> {
        let kept = self.sigma.len();
        let directions = matrix_of(&self.directions, kept, m);
        let h = matrix_of(&scratch.scaled, n, m);
        let g = matrix_of(&scratch.square, m, m);
        let [in_kept, coupling, out, left] = &mut scratch.products;

        let mut a = matrix_in(in_kept, kept, m);
        multiply(1.0, directions, g, 0.0, &mut a)?;
        let mut x = matrix_in(coupling, kept, kept);
        multiply(1.0, a.view(), directions.t(), 0.0, &mut x)?;
        // What is left of A lies outside the directions, where lambda is 0.
        multiply(-1.0, x.view(), directions, 1.0, &mut a)?;
        let pair = |index: usize| (self.sigma[index], self.value[index]);
        for (i, mut row) in a.rows_mut().into_iter().enumerate() {
            row *= filter.slope(pair(i), (0.0, self.at_zero))?;
        }
        for ((i, j), entry) in x.indexed_iter_mut() {
            *entry *= filter.slope(pair(i), pair(j))?;
        }
        multiply(1.0, x.view(), directions, 1.0, &mut a)?;

        let mut out = matrix_in(out, n, m);
        let mut left = matrix_in(left, n, kept);
        multiply(2.0, h, directions.t(), 0.0, &mut left)?;
        multiply(1.0, left.view(), a.view(), 0.0, &mut out)?;
        Ok(out)
    }
}
