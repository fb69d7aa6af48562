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

use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::filter::Filter;
use crate::embedding::workspace::{Scratch, matrix_in, matrix_ref};
use crate::error::Result;
use crate::linalg::{Decompose, eigh_in_place, multiply};

/// What the gradient needs: the directions of `H` and the filtered singular values.
#[derive(Debug, Clone)]
pub(super) struct Spectral {
    filter: Filter,
    /// Descending, as they are, those above the noise.
    sigma: Vec<f64>,
    /// f of each.
    value: Vec<f64>,
    /// One direction per row, sigma.len() x m.
    directions: Vec<f64>,
    at_zero: f64,
}

impl Default for Spectral {
    fn default() -> Self {
        Self {
            filter: Filter::sqrt(),
            sigma: Vec::new(),
            value: Vec::new(),
            directions: Vec::new(),
            at_zero: 0.0,
        }
    }
}

impl Spectral {
    /// Writes `P_f` (m x m) of `h` (n x m), whose singular values count `unit` times as much.
    /// `by_gram` allows the Gram matrix for n >= m, whose noise is the root of an SVD's.
    pub(super) fn projector(
        &mut self,
        h: ArrayView2<'_, f64>,
        filter: Filter,
        unit: f64,
        by_gram: bool,
        p: &mut ArrayViewMut2<'_, f64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.filter = filter;
        self.at_zero = self.filter.value(0.0)?;
        self.decompose(h, unit, by_gram, scratch)?;
        self.value.clear();
        for sigma in &mut self.sigma {
            // A matrix at the end of the range can have singular values beyond it.
            *sigma = sigma.min(f64::MAX);
            self.value.push(self.filter.value(*sigma)?);
        }

        let (kept, m) = (self.sigma.len(), h.ncols());
        let directions = matrix_ref(&self.directions, kept, m);
        let mut weighted = matrix_in(&mut scratch.products[0], kept, m);
        weighted.assign(&directions);
        for (mut row, value) in weighted.rows_mut().into_iter().zip(&self.value) {
            row *= value - self.at_zero;
        }
        multiply(1.0, directions.t(), weighted.view(), 0.0, p);
        p.diag_mut().mapv_inplace(|entry| entry + self.at_zero);
        Ok(())
    }

    /// The singular values above the noise, and their directions.
    fn decompose(
        &mut self,
        h: ArrayView2<'_, f64>,
        unit: f64,
        by_gram: bool,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (n, m) = h.dim();
        self.sigma.clear();
        self.directions.clear();
        if n == 0 {
            return Ok(());
        }
        if by_gram && n >= m {
            let [vectors, ..] = &mut scratch.products;
            multiply(1.0, h.t(), h, 0.0, &mut matrix_in(vectors, m, m));
            let values = &mut scratch.values;
            values.clear();
            values.resize(m, 0.0);
            eigh_in_place(m, &mut vectors[..m * m], values, &mut scratch.eigh)?;
            let largest = values.last().copied().unwrap_or(0.0);
            let noise = f64::EPSILON * n.max(m) as f64 * largest;
            let above = values.iter().enumerate().rev();
            for (row, &value) in above.take_while(|(_, value)| **value > noise) {
                self.sigma.push(value.sqrt() * unit);
                self.directions.extend(&vectors[row * m..(row + 1) * m]);
            }
        } else {
            let svd = f64::svd(h)?;
            let noise = f64::EPSILON * n.max(m) as f64 * svd.s[0];
            let above = svd.s.iter().take_while(|value| **value > noise);
            self.sigma.extend(above.map(|value| value * unit));
            let kept = self.sigma.len();
            self.directions.extend(svd.vt.slice(s![..kept, ..]).iter());
        }
        Ok(())
    }

    /// The gradient by `H` times `1 / scale`, from `h = H / scale` (n x m) and the symmetric
    /// `g` (m x m).
    pub(super) fn gradient(
        &self,
        h: ArrayView2<'_, f64>,
        g: ArrayView2<'_, f64>,
        out: &mut ArrayViewMut2<'_, f64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let ((n, m), kept) = (h.dim(), self.sigma.len());
        let directions = matrix_ref(&self.directions, kept, m);
        let [in_kept, coupling, left, ..] = &mut scratch.products;

        let mut a = matrix_in(in_kept, kept, m);
        multiply(1.0, directions, g, 0.0, &mut a);
        let mut x = matrix_in(coupling, kept, kept);
        multiply(1.0, a.view(), directions.t(), 0.0, &mut x);
        // The rest of A lies outside the directions, where lambda is 0.
        multiply(-1.0, x.view(), directions, 1.0, &mut a);
        let pair = |index: usize| (self.sigma[index], self.value[index]);
        for (i, mut row) in a.rows_mut().into_iter().enumerate() {
            row *= self.filter.slope(pair(i), (0.0, self.at_zero))?;
        }
        for ((i, j), entry) in x.indexed_iter_mut() {
            *entry *= self.filter.slope(pair(i), pair(j))?;
        }
        multiply(1.0, x.view(), directions, 1.0, &mut a);

        let mut left = matrix_in(left, n, kept);
        multiply(2.0, h, directions.t(), 0.0, &mut left);
        multiply(1.0, left.view(), a.view(), 0.0, out);
        Ok(())
    }
}
