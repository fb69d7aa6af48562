//! A thin singular value decomposition with its gradient, of matrices of any scale.
//!
//! With `A = U diag(s) V^T` (thin) and `F_ij = 1 / (s_j^2 - s_i^2)`, i != j:
//!
//! ```text
//! dL/dA = U [(F o (U^T G_U - G_U^T U)) S + S (F o (V^T G_V - G_V^T V)) + diag(g_s)] V^T
//!       + (I - U U^T) G_U S^{-1} V^T + U S^{-1} G_V^T (I - V V^T)
//! ```
//!
//! as in the paper, with `max(s, eps s_1)` for s in F and in `S^{-1}`; and, since this still
//! divides by 0 on a tie, with `x / (x^2 + e^2)` for `1 / x`,
//! x = `(s_j^2 - s_i^2) / max(s_i, s_j)^2` and e = [`Scalar::GAP_GUARD`].

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Zip};

use super::dense::{ThinSvd, thin_svd};
use crate::check;
use crate::error::Result;
use crate::linalg;
use crate::scalar::{Scalar, max_abs};

/// The factors of an r x c matrix `A = U diag(s) V^T`, `k = min(r, c)`, and the gradient with
/// respect to `A`.
///
/// The largest entry of each column of U is positive, so that the signs are the same on every
/// backend and, nearly everywhere, for nearby matrices. Always f64 inside.
///
/// ```
/// use egg_geometry::dense::SvdFactors;
/// use ndarray::{Array2, array};
///
/// let a = array![[3.0, 0.0], [4.0, 0.0]];
/// let mut factors = SvdFactors::default();
/// factors.compute(a.view())?;
/// let mut packed = [0.0f64; SvdFactors::length(2, 2)];
/// factors.write(&mut packed)?;
/// assert!((packed[4] - 5.0).abs() < 1e-14); // s_1, behind the four numbers of U
/// // The gradient of s_1 is u_1 v_1^T.
/// let mut upstream = [0.0; SvdFactors::length(2, 2)];
/// upstream[4] = 1.0;
/// let mut gradient = Array2::zeros((2, 2));
/// factors.gradient(&upstream, 1e-12, gradient.view_mut())?;
/// assert!((gradient - array![[0.6, 0.0], [0.8, 0.0]]).iter().all(|apart: &f64| apart.abs() < 1e-14));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SvdFactors {
    /// Of `A / scale`.
    svd: Option<ThinSvd>,
    scale: f64,
}

impl SvdFactors {
    /// How many numbers U, s and V have.
    ///
    /// ```
    /// assert_eq!(egg_geometry::dense::SvdFactors::length(3, 2), 12); // 3 x 2, 2, 2 x 2
    /// ```
    pub const fn length(rows: usize, columns: usize) -> usize {
        let k = if rows < columns { rows } else { columns };
        (rows + 1 + columns) * k
    }

    /// Decomposes `a` (r x c).
    ///
    /// Complexity: `O(r c min(r, c))`.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::NonFinite`](crate::Error::NonFinite), [`Error::Backend`](crate::Error::Backend).
    ///
    /// ```
    /// use egg_geometry::dense::SvdFactors;
    /// assert!(SvdFactors::default().compute(ndarray::array![[f32::NAN]].view()).is_err());
    /// ```
    pub fn compute<T: Scalar>(&mut self, a: ArrayView2<'_, T>) -> Result<()> {
        check::matrix("the matrix to decompose", &a)?;
        let largest = max_abs(&a).as_f64();
        self.scale = if largest == 0.0 { 1.0 } else { largest };
        let mut svd = thin_svd(a.mapv(|entry| entry.as_f64() / self.scale).view())?;
        fix_signs(&mut svd);
        self.svd = Some(svd);
        Ok(())
    }

    /// U (r x k), s (k, descending) and V (c x k), row by row and one after another.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) unless `out` has [`Self::length`] places; before a decomposition, none.
    ///
    /// ```
    /// use egg_geometry::dense::SvdFactors;
    /// let mut factors = SvdFactors::default();
    /// factors.compute(ndarray::array![[0.0, 2.0]].view())?;
    /// let mut packed = [0f32; 4];
    /// factors.write(&mut packed)?;
    /// assert_eq!(packed, [1.0, 2.0, 0.0, 1.0]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn write<T: Scalar>(&self, out: &mut [T]) -> Result<()> {
        check::length("output", self.numbers(), out.len())?;
        let Some(ThinSvd { u, s, vt }) = &self.svd else {
            return Ok(());
        };
        let s = s.iter().map(|value| (value * self.scale).min(f64::MAX));
        let v = vt.t();
        let numbers = u.iter().copied().chain(s).chain(v.iter().copied());
        for (to, from) in out.iter_mut().zip(numbers) {
            *to = T::rounded(from);
        }
        Ok(())
    }

    /// `dL/dA` (r x c) from the gradient by what [`Self::write`] writes. `floor` is under the
    /// singular values in denominators, relative to the largest.
    ///
    /// It divides by `s_j^2 - s_i^2` for every pair: near a tie it is large (on a tie, 0 for the
    /// pair), even if the loss does not depend on the pair.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), [`Error::Shape`](crate::Error::Shape), [`Error::NonFinite`](crate::Error::NonFinite).
    ///
    /// ```
    /// use egg_geometry::dense::SvdFactors;
    /// use ndarray::{Array2, array};
    ///
    /// // Of the first entry of U = a / |a|, one column.
    /// let mut factors = SvdFactors::default();
    /// factors.compute(array![[3.0], [4.0]].view())?;
    /// let mut gradient = Array2::<f64>::zeros((2, 1));
    /// factors.gradient(&[1.0, 0.0, 0.0, 0.0], 1e-12, gradient.view_mut())?;
    /// assert!((gradient[[0, 0]] - 16.0 / 125.0).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn gradient<T: Scalar>(
        &self,
        upstream: &[T],
        floor: f64,
        mut out: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        check::length("gradient of the factors", self.numbers(), upstream.len())?;
        let Some(ThinSvd { u, s, vt }) = &self.svd else {
            return Ok(());
        };
        let (n, m, k) = (u.nrows(), vt.ncols(), s.len());
        check::shape("gradient of the matrix", &out.view(), (n, m))?;
        linalg::init_backend();
        let upstream: Array2<f64> = Array2::from_shape_fn((n + 1 + m, k), |(row, column)| {
            upstream[row * k + column].as_f64()
        });
        check::finite("gradient of the factors", &upstream.view())?;
        let (of_u, rest) = upstream.view().split_at(Axis(0), n);
        let (of_s, of_v) = rest.split_at(Axis(0), 1);

        let floor = floor * if s[0] > 0.0 { s[0] } else { 1.0 };
        let floored = s.mapv(|value| value.max(floor));
        let in_u = product(u.t(), of_u);
        let in_v = product(vt.view(), of_v);
        let inner = Array2::from_shape_fn((k, k), |(i, j)| {
            if i == j {
                return 0.0;
            }
            let f = inverse_difference::<T>(floored[j], floored[i]);
            f * ((in_u[[i, j]] - in_u[[j, i]]) * s[j] + s[i] * (in_v[[i, j]] - in_v[[j, i]]))
        });
        // U [inner V^T + S^{-1} G_V^T (I - V V^T)] + (I - U U^T) G_U S^{-1} V^T
        let mut right = product(inner.view(), vt.view());
        if m > k {
            let outside = &of_v.t() - &product(in_v.t(), vt.view());
            right += &(outside / floored.view().insert_axis(Axis(1)));
        }
        let mut gradient = product(u.view(), right.view());
        if n > k {
            let outside = (&of_u - &product(u.view(), in_u.view())) / &floored;
            gradient += &product(outside.view(), vt.view());
        }
        // s goes with the scale of A, the vectors against it.
        let direct = product((u * &of_s).view(), vt.view());
        Zip::from(&mut out)
            .and(&gradient)
            .and(&direct)
            .for_each(|to, vectors, values| {
                let value = vectors / self.scale + values;
                *to = T::rounded(value.clamp(-T::LARGEST_GRADIENT, T::LARGEST_GRADIENT));
            });
        Ok(())
    }

    fn numbers(&self) -> usize {
        self.svd
            .as_ref()
            .map_or(0, |svd| Self::length(svd.u.nrows(), svd.vt.ncols()))
    }
}

/// `1 / (a^2 - b^2)` of two positive numbers, 0 if they are equal.
fn inverse_difference<T: Scalar>(a: f64, b: f64) -> f64 {
    let top = a.max(b);
    let x = (a - b) / top * ((a + b) / top);
    x / (x * x + T::GAP_GUARD * T::GAP_GUARD) / top / top
}

/// Makes the largest entry of each left singular vector positive.
fn fix_signs(svd: &mut ThinSvd) {
    for (mut u, mut v) in svd.u.columns_mut().into_iter().zip(svd.vt.rows_mut()) {
        let largest = u.iter().fold(
            0.0,
            |most: f64, entry| {
                if entry.abs() > most.abs() { *entry } else { most }
            },
        );
        if largest < 0.0 {
            u.mapv_inplace(|entry| -entry);
            v.mapv_inplace(|entry| -entry);
        }
    }
}

fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut c = Array2::zeros((a.nrows(), b.ncols()));
    linalg::multiply(1.0, a, b, 0.0, &mut c.view_mut());
    c
}
