//! Dense linear algebra for crates that build on this one and must run on any
//! [backend](crate::backend).
//!
//! Everything is f64 and row-major. Functions on slices overwrite them and allocate nothing once a
//! [`Scratch`] has grown; the thin SVD allocates.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};

use crate::check;
use crate::embedding::workspace::matrix_ref;
use crate::error::Result;
use crate::linalg::{self, Decompose, EighWorkspace, InvertWorkspace, Svd};

pub use crate::linalg::svd_factors::SvdFactors;

/// Scratch memory of decompositions, reused from call to call; one per thread. It carries no input or result.
///
/// ```
/// let scratch = egg_geometry::dense::Scratch::default();
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    eigh: EighWorkspace,
    invert: InvertWorkspace,
}

/// A thin singular value decomposition `A = U diag(s) V^T` of an r x c matrix,
/// `k = min(r, c)`.
///
/// ```
/// let svd = egg_geometry::dense::thin_svd(ndarray::array![[0.0, 2.0], [0.0, 0.0]].view())?;
/// assert_eq!(svd.s, ndarray::array![2.0, 0.0]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ThinSvd {
    /// r x k, orthonormal columns.
    pub u: Array2<f64>,
    /// k, descending.
    pub s: Array1<f64>,
    /// k x c, orthonormal rows.
    pub vt: Array2<f64>,
}

/// The thin SVD of an r x c matrix.
///
/// Complexity: `O(r c min(r, c))`.
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty), [`Error::NonFinite`](crate::Error::NonFinite), [`Error::Backend`](crate::Error::Backend).
///
/// ```
/// use egg_geometry::dense::thin_svd;
/// let a = ndarray::array![[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]];
/// let svd = thin_svd(a.view())?;
/// assert_eq!((svd.u.dim(), svd.vt.dim()), ((3, 2), (2, 2)));
/// assert!(((&svd.u * &svd.s).dot(&svd.vt) - a).iter().all(|d| d.abs() < 1e-15));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn thin_svd(a: ArrayView2<'_, f64>) -> Result<ThinSvd> {
    check::matrix("matrix", &a)?;
    let Svd { u, s, vt } = f64::svd(a)?;
    Ok(ThinSvd { u, s, vt })
}

/// Eigenvalues, ascending, of the symmetric `order x order` matrix in `a`,
/// which is overwritten by the eigenvectors, one per row.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) unless `a` has `order * order` and `values` has `order`
/// numbers, [`Error::NonFinite`](crate::Error::NonFinite), [`Error::Backend`](crate::Error::Backend).
///
/// ```
/// use egg_geometry::dense::{Scratch, symmetric_eigen};
/// let (mut a, mut values) = ([2.0, 1.0, 1.0, 2.0], [0.0; 2]);
/// symmetric_eigen(2, &mut a, &mut values, &mut Scratch::default())?;
/// assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
/// assert!((a[2] - a[3]).abs() < 1e-15); // the second row is (1, 1) / sqrt(2), or its negative
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn symmetric_eigen(order: usize, a: &mut [f64], values: &mut [f64], scratch: &mut Scratch) -> Result<()> {
    check_square(order, a)?;
    check::length("eigenvalues", order, values.len())?;
    linalg::eigh_in_place(order, a, values, &mut scratch.eigh)
}

/// The inverse of the symmetric positive definite `order x order` matrix in
/// `a`, in its place, by Cholesky: a third of the work of a general inverse,
/// and a small part of an eigendecomposition's.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) unless `a` has `order * order` numbers,
/// [`Error::NonFinite`](crate::Error::NonFinite), [`Error::Backend`](crate::Error::Backend) if the matrix is not positive
/// definite to rounding.
///
/// ```
/// use egg_geometry::dense::{Scratch, invert_positive_definite};
/// let mut a = [4.0, 0.0, 0.0, 0.5];
/// invert_positive_definite(2, &mut a, &mut Scratch::default())?;
/// assert!((a[0] - 0.25).abs() < 1e-15 && (a[3] - 2.0).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn invert_positive_definite(order: usize, a: &mut [f64], scratch: &mut Scratch) -> Result<()> {
    check_square(order, a)?;
    linalg::invert_in_place(order, a, &mut scratch.invert)
}

/// `C <- alpha A B + beta C`, on one thread of the backend. With `beta = 0` what
/// `C` held does not matter.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if the shapes don't fit.
///
/// ```
/// use egg_geometry::dense::multiply;
/// use ndarray::array;
/// let (a, b, mut c) = (array![[1.0, 2.0]], array![[3.0], [4.0]], array![[1.0]]);
/// multiply(1.0, a.view(), b.view(), -1.0, &mut c.view_mut())?;
/// assert_eq!(c, array![[10.0]]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn multiply(
    alpha: f64,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    beta: f64,
    c: &mut ArrayViewMut2<'_, f64>,
) -> Result<()> {
    check::shape("right factor", &b, (a.ncols(), b.ncols()))?;
    check::shape("product", &c.view(), (a.nrows(), b.ncols()))?;
    linalg::init_backend();
    linalg::multiply(alpha, a, b, beta, c);
    Ok(())
}

fn check_square(order: usize, a: &[f64]) -> Result<()> {
    check::length("square matrix", order.saturating_mul(order), a.len())?;
    check::finite("square matrix", &matrix_ref(a, order, order))
}
