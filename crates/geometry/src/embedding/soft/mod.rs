//! Soft EGG: a smooth spectral filter instead of the hard cut.
//!
//! `P_f = U f(lambda) U^T` for `C = H^T H = U diag(lambda) U^T` has the size of
//! the projector and does not depend on the order of the rows either, but it
//! moves smoothly with `H` where a singular value passes the cut, so that its
//! gradient needs no guard.

mod filter;
mod resolvent;
mod spectral;

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2, Axis, Zip};

use super::flatten::Flatten;
use super::workspace::{Workspace, matrix_in, matrix_ref, slice_in};
use crate::check;
use crate::error::Result;
use crate::linalg;
use crate::scalar::{Scalar, max_abs};
use crate::tuning::accuracy::{CHOLESKY_LIMIT_F32, CHOLESKY_LIMIT_F64};
pub use filter::Filter;
use resolvent::Resolvent;
use spectral::Spectral;

/// The flattened soft projector `P_f = U f(lambda) U^T` of an n x m matrix `H` with
/// `H^T H = U diag(lambda) U^T`, and what its gradient needs.
///
/// [`Factors`](crate::Factors) cuts; here a [`Filter`] weighs every direction, and the gradient is
/// bounded wherever the filter's derivative is. Always f64 inside.
///
/// With [`Filter::resolvent`] it takes one Cholesky factorisation of the smaller side, m x m or
/// n x n, and no eigendecomposition; where `sigma_1 / r` could exceed 1e4 (f32) or 1e2 (f64), an
/// SVD, because Cholesky would lose digits.
///
/// ```
/// use egg_geometry::{Filter, Flatten, SoftFactors, Workspace};
/// use ndarray::{Array2, array};
///
/// // One row: P = h h^T / (|h|^2 + r^2).
/// let h = array![[3f64, 4.0]];
/// let (mut factors, mut workspace) = (SoftFactors::new(), Workspace::new());
/// let mut flat = [0.0; 3];
/// factors.embed_into(h.view(), &Filter::resolvent(5.0)?, Flatten::Upper, &mut flat, &mut workspace)?;
/// for (entry, expected) in flat.iter().zip([9.0, 12.0, 16.0]) {
///     assert!((entry - expected / 50.0).abs() < 1e-15);
/// }
/// // L = P_00 = h_0^2 / (|h|^2 + r^2)
/// let mut gradient = Array2::zeros((1, 2));
/// let upstream = array![1.0, 0.0, 0.0];
/// factors.gradient_of_embedding(h.view(), upstream.view(), Flatten::Upper, gradient.view_mut(), &mut workspace)?;
/// assert!((gradient[[0, 0]] - 2.0 * 3.0 * (50.0 - 9.0) / 2500.0).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SoftFactors {
    shape: (usize, usize),
    /// What `H` was divided by.
    scale: f64,
    /// What the gradient by `H / scale` is multiplied by.
    gradient_scale: f64,
    path: Path,
    resolvent: Resolvent,
    spectral: Spectral,
}

/// How the last matrix was decomposed. The factors of the other path keep their memory.
#[derive(Debug, Clone, Copy, Default)]
enum Path {
    Cholesky,
    #[default]
    Spectrum,
}

impl SoftFactors {
    /// Empty factors, to be computed.
    ///
    /// ```
    /// assert_eq!(egg_geometry::SoftFactors::new().shape(), (0, 0));
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The rows and columns of the matrix that was decomposed.
    ///
    /// ```
    /// assert_eq!(egg_geometry::SoftFactors::new().shape(), (0, 0));
    /// ```
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Decomposes `h` (n x m) and writes the flattened upper triangle of `P_f`, `m (m + 1) / 2`
    /// numbers. n = 0 is allowed and gives `f(0) I`, which is 0 for the filters that come with
    /// the crate.
    ///
    /// Complexity: `O(n m min(n, m) + m^3)`.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) for m = 0, [`Error::Length`](crate::Error::Length) if
    /// `out` has another length, [`Error::NonFinite`](crate::Error::NonFinite),
    /// [`Error::Filter`](crate::Error::Filter) if a custom filter gives a NaN,
    /// [`Error::Backend`](crate::Error::Backend) if the decomposition fails.
    ///
    /// ```
    /// use egg_geometry::{Filter, Flatten, SoftFactors, Workspace};
    /// let h = ndarray::array![[1f32, 0.0], [0.0, 2.0]];
    /// let mut flat = [0f32; 3];
    /// SoftFactors::new().embed_into(
    ///     h.view(), &Filter::resolvent(1.0)?, Flatten::Upper, &mut flat, &mut Workspace::new())?;
    /// assert_eq!(flat, [0.5, 0.0, 0.8]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn embed_into<T: Scalar>(
        &mut self,
        h: ArrayView2<'_, T>,
        filter: &Filter,
        flatten: Flatten,
        out: &mut [T],
        workspace: &mut Workspace,
    ) -> Result<()> {
        let m = h.ncols();
        check::has_columns("H", &h)?;
        flatten.check_length(m, out.len())?;
        check::finite("H", &h)?;
        linalg::init_backend();
        self.shape = h.dim();
        let Workspace {
            scaled,
            square,
            scratch,
            ..
        } = workspace;
        let mut p = matrix_in(square, m, m);
        let largest = max_abs(&h).as_f64();
        let radius = filter.resolvent_radius();
        if let Some(r) = radius {
            self.scale = largest.max(r);
            self.gradient_scale = self.scale.recip();
            let limit = if T::GRAM_IS_EXACT {
                CHOLESKY_LIMIT_F32
            } else {
                CHOLESKY_LIMIT_F64
            };
            let h = divide_into(h, self.scale, scaled);
            if self
                .resolvent
                .projector(h, r / self.scale, limit, &mut p, scratch)?
            {
                self.path = Path::Cholesky;
                return flatten.write(p.view(), out, T::rounded);
            }
        }
        self.path = Path::Spectrum;
        self.scale = if largest == 0.0 { 1.0 } else { largest };
        let units = filter.in_units_of(self.scale);
        self.gradient_scale = units.gradient;
        let h = divide_into(h, self.scale, scaled);
        let by_gram = T::GRAM_IS_EXACT && radius.is_none();
        self.spectral
            .projector(h, units.filter, units.sigma, by_gram, &mut p, scratch)?;
        if units.projector != 1.0 {
            // A matrix at the end of the range can have singular values beyond it.
            p.mapv_inplace(|entry| (entry * units.projector).clamp(-f64::MAX, f64::MAX));
        }
        flatten.write(p.view(), out, T::rounded)
    }

    /// `dL/dH` (n x m) from the gradient with respect to the flattened `P_f`
    /// (`m (m + 1) / 2` numbers), into `out`.
    ///
    /// `h` is the matrix these factors were computed from, `flatten` what it was flattened by.
    /// Values beyond [`Scalar::LARGEST_GRADIENT`] become that value.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `h` or `out` has another shape,
    /// [`Error::Length`](crate::Error::Length) for the gradient, and as
    /// [`SoftFactors::embed_into`].
    ///
    /// ```
    /// use egg_geometry::{Filter, Flatten, SoftFactors, Workspace};
    /// use ndarray::{Array2, array};
    ///
    /// // P = (H^T H)^(1/2) of one number is its size.
    /// let h = array![[-3f64]];
    /// let (mut factors, mut workspace) = (SoftFactors::new(), Workspace::new());
    /// factors.embed_into(h.view(), &Filter::sqrt(), Flatten::Upper, &mut [0.0], &mut workspace)?;
    /// let mut out = Array2::zeros((1, 1));
    /// factors.gradient_of_embedding(h.view(), array![1.0].view(), Flatten::Upper, out.view_mut(), &mut workspace)?;
    /// assert!((out[[0, 0]] + 1.0).abs() < 1e-15);
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
        let (n, m) = self.shape;
        let what = "gradient of the embedding";
        check::length(what, Flatten::length(m), embedding_gradient.len())?;
        let as_row = embedding_gradient.insert_axis(Axis(0));
        check::finite(what, &as_row)?;
        check::shape("H", &h, self.shape)?;
        check::finite("H", &h)?;
        check::shape("output", &out.view(), self.shape)?;
        let Workspace {
            scaled,
            square,
            gradient,
            scratch,
        } = workspace;
        let magnitude = max_abs(&as_row).as_f64();
        let divisor = if magnitude == 0.0 { 1.0 } else { magnitude };
        let g = slice_in(square, m * m);
        let weight = flatten.gradient_weight();
        flatten.spread(embedding_gradient, weight, g, m, |entry| entry.as_f64() / divisor);
        let g = matrix_ref(g, m, m);

        let h = divide_into(h, self.scale, scaled);
        let mut gradient = matrix_in(gradient, n, m);
        match self.path {
            Path::Cholesky => self.resolvent.gradient(h, g, &mut gradient, scratch),
            Path::Spectrum => self.spectral.gradient(h, g, &mut gradient, scratch)?,
        }
        let scale = self.gradient_scale;
        Zip::from(&mut out).and(&gradient).for_each(|to, from| {
            // Whichever order keeps the intermediate result in range.
            let value = if magnitude > 1.0 {
                from * scale * magnitude
            } else {
                from * magnitude * scale
            };
            *to = T::rounded(value.clamp(-T::LARGEST_GRADIENT, T::LARGEST_GRADIENT));
        });
        Ok(())
    }
}

/// `H / scale` in f64.
fn divide_into<'a, T: Scalar>(
    h: ArrayView2<'_, T>,
    scale: f64,
    buffer: &'a mut Vec<f64>,
) -> ArrayView2<'a, f64> {
    let mut scaled = matrix_in(buffer, h.nrows(), h.ncols());
    Zip::from(&mut scaled)
        .and(&h)
        .for_each(|to, from| *to = from.as_f64() / scale);
    matrix_ref(&buffer[..h.len()], h.nrows(), h.ncols())
}
