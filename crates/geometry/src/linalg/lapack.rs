//! LAPACK through ndarray-linalg, and `dsyevd` directly where ndarray-linalg
//! would allocate and use the slower `dsyev`.
//!
//! # Threads
//! OpenBLAS threads inside rayon threads are slow (measured: 8 times slower, and they can spin for
//! minutes), and results would depend on their number.
//! [`use_one_thread`] is the one place that sets OpenBLAS to one
//! thread, before the first call this crate makes.

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use ndarray::{Array1, Array2, ArrayView2, s};
use ndarray_linalg::{EighInto, JobSvd, Lapack, QRInto, SVDDCInplace, SVDInplace, Scalar, UPLO};
use openblas_src as _;

use super::Svd;
use crate::embedding::flatten::each_pair;
use crate::error::{Error, Result};

unsafe extern "C" {
    fn openblas_set_num_threads(count: c_int);
    fn openblas_get_parallel() -> c_int;
    fn openblas_get_corename() -> *const c_char;
}

/// What `openblas_get_parallel` answers for a build on OpenMP.
const OPENMP: c_int = 2;

/// Sets OpenBLAS to one thread: once per process, or once per thread for an
/// OpenMP build, whose thread count belongs to the calling thread.
///
/// A program that needs more threads for its own BLAS calls can set the number
/// again after its first call into this crate; it is not touched again.
pub(super) fn use_one_thread() {
    static IS_OPENMP: OnceLock<bool> = OnceLock::new();
    thread_local! {
        static DONE: () = set_one_thread();
    }

    fn set_one_thread() {
        // SAFETY: both functions take and return plain integers and may be
        // called at any time.
        unsafe { openblas_set_num_threads(1) }
    }

    let is_openmp = *IS_OPENMP.get_or_init(|| {
        set_one_thread();
        // SAFETY: as above.
        unsafe { openblas_get_parallel() == OPENMP }
    });
    if is_openmp {
        DONE.with(|()| ());
    }
}

/// The name of the kernels in use.
pub(super) fn kernels() -> String {
    // SAFETY: the function takes nothing and may be called at any time; what it
    // returns is a static string that ends with a zero.
    let name = unsafe { CStr::from_ptr(openblas_get_corename()) };
    name.to_string_lossy().into_owned()
}

fn failed<'a, T>(
    operation: &'static str,
    a: &ArrayView2<'a, T>,
) -> impl FnOnce(ndarray_linalg::error::LinalgError) -> Error + use<'a, T> {
    let (rows, columns) = a.dim();
    move |reason| Error::Backend {
        operation,
        rows,
        columns,
        backend: "openblas",
        reason: reason.to_string(),
    }
}

fn incomplete<T>(operation: &'static str, a: &ArrayView2<'_, T>) -> Error {
    Error::Backend {
        operation,
        rows: a.nrows(),
        columns: a.ncols(),
        backend: "openblas",
        reason: "factors missing".to_owned(),
    }
}

/// LAPACK's own limit (SMLSIZ) below which divide and conquer doesn't divide.
const DIVIDE_AND_CONQUER_FROM: usize = 25;

/// A copy in plain row-major memory. ndarray-linalg judges layouts by strides
/// only and refuses or misreads reversed, broadcast and single-element views.
fn packed<T: Copy>(a: ArrayView2<'_, T>) -> Array2<T> {
    Array2::from_shape_vec(a.dim(), a.iter().copied().collect())
        .unwrap_or_else(|_| unreachable!("a matrix has as many entries as its shape says"))
}

pub(super) fn svd<T>(a: ArrayView2<'_, T>) -> Result<Svd<T>>
where
    T: Lapack + Scalar<Real = T>,
{
    // Divide and conquer is the fast one, but not for small square matrices,
    // which it leaves to QR iteration anyway. Where it fails to converge, as it
    // does on rare finite matrices, QR iteration may still.
    let by_iteration = || packed(a).svd_inplace(true, true).map_err(failed("SVD", &a));
    let (u, s, vt) = if a.is_square() && a.nrows() <= DIVIDE_AND_CONQUER_FROM {
        by_iteration()?
    } else {
        match packed(a).svddc_inplace(JobSvd::Some) {
            Ok(factors) => factors,
            Err(_) => by_iteration()?,
        }
    };
    let (Some(u), Some(vt)) = (u, vt) else {
        return Err(incomplete("SVD", &a));
    };
    // QR iteration returns the full square factors.
    let k = s.len();
    Ok(Svd {
        u: thin(u, |u| u.slice(s![.., ..k]).to_owned(), |u| u.ncols() == k),
        vt: thin(vt, |v| v.slice(s![..k, ..]).to_owned(), |v| v.nrows() == k),
        s,
    })
}

/// Cuts a factor down, unless it is thin already.
fn thin<T>(
    factor: Array2<T>,
    cut: impl FnOnce(&Array2<T>) -> Array2<T>,
    is_thin: impl FnOnce(&Array2<T>) -> bool,
) -> Array2<T> {
    if is_thin(&factor) { factor } else { cut(&factor) }
}

pub(super) fn singular_values<T>(a: ArrayView2<'_, T>) -> Result<Array1<T>>
where
    T: Lapack + Scalar<Real = T>,
{
    let values = match packed(a).svddc_inplace(JobSvd::None) {
        Ok((_, s, _)) => s,
        Err(_) => packed(a).svd_inplace(false, false).map_err(failed("SVD", &a))?.1,
    };
    Ok(values)
}

pub(super) fn eigh<T>(a: ArrayView2<'_, T>) -> Result<(Array1<T>, Array2<T>)>
where
    T: Lapack + Scalar<Real = T>,
{
    let (values, vectors) = packed(a)
        .eigh_into(UPLO::Lower)
        .map_err(failed("eigendecomposition", &a))?;
    Ok((values, vectors.reversed_axes()))
}

pub(super) fn qr<T>(a: ArrayView2<'_, T>) -> Result<(Array2<T>, Array2<T>)>
where
    T: Lapack + Scalar<Real = T>,
{
    packed(a).qr_into().map_err(failed("QR", &a))
}

/// The work arrays of `dsyevd`, grown to the largest order seen.
#[derive(Debug, Default)]
pub(super) struct EighWorkspace {
    order: usize,
    work: Vec<f64>,
    iwork: Vec<c_int>,
}

impl EighWorkspace {
    fn grow(&mut self, order: usize) {
        if order > self.order {
            // The sizes LAPACK documents for jobz = 'V'.
            self.work.resize(1 + 6 * order + 2 * order * order, 0.0);
            self.iwork.resize(3 + 5 * order, 0);
            self.order = order;
        }
    }
}

pub(super) fn eigh_in_place(
    order: usize,
    a: &mut [f64],
    values: &mut [f64],
    workspace: &mut EighWorkspace,
) -> Result<()> {
    let failed = |reason: String| Error::Backend {
        operation: "eigendecomposition",
        rows: order,
        columns: order,
        backend: "openblas",
        reason,
    };
    if order == 0 {
        return Ok(());
    }
    if a.len() != order * order || values.len() != order {
        return Err(failed("buffer of the wrong length".to_owned()));
    }
    workspace.grow(order);
    let as_c_int =
        |size: usize| c_int::try_from(size).map_err(|_| failed("too large for 32-bit LAPACK".to_owned()));
    let n = as_c_int(order)?;
    let lwork = as_c_int(workspace.work.len())?;
    let liwork = as_c_int(workspace.iwork.len())?;
    let (jobz, uplo) = (b'V'.cast_signed(), b'L'.cast_signed());
    let mut info = 0;
    // SAFETY: `a` holds order * order and `values` order numbers, checked
    // above; the work arrays have at least the documented lengths, which are
    // passed along; nothing aliases.
    unsafe {
        lapack_sys::dsyevd_(
            &raw const jobz,
            &raw const uplo,
            &raw const n,
            a.as_mut_ptr(),
            &raw const n,
            values.as_mut_ptr(),
            workspace.work.as_mut_ptr(),
            &raw const lwork,
            workspace.iwork.as_mut_ptr(),
            &raw const liwork,
            &raw mut info,
        );
    }
    if info == 0 {
        Ok(())
    } else {
        Err(failed(format!("dsyevd returned info = {info}")))
    }
}

/// Empty: LAPACK inverts in place.
#[derive(Debug, Default)]
pub(super) struct InvertWorkspace;

pub(super) fn invert_in_place(order: usize, a: &mut [f64], _: &mut InvertWorkspace) -> Result<()> {
    let failed = |reason: String| Error::Backend {
        operation: "Cholesky inverse",
        rows: order,
        columns: order,
        backend: "openblas",
        reason,
    };
    if a.len() != order * order {
        return Err(failed("buffer of the wrong length".to_owned()));
    }
    if order == 0 {
        return Ok(());
    }
    let n = c_int::try_from(order).map_err(|_| failed("too large for 32-bit LAPACK".to_owned()))?;
    let uplo = b'L'.cast_signed();
    let (mut factored, mut inverted) = (0, 0);
    // SAFETY: `a` holds order * order numbers, checked above, and is the only
    // array either routine touches.
    unsafe {
        lapack_sys::dpotrf_(
            &raw const uplo,
            &raw const n,
            a.as_mut_ptr(),
            &raw const n,
            &raw mut factored,
        );
        if factored == 0 {
            lapack_sys::dpotri_(
                &raw const uplo,
                &raw const n,
                a.as_mut_ptr(),
                &raw const n,
                &raw mut inverted,
            );
        }
    }
    if factored != 0 || inverted != 0 {
        return Err(failed(format!(
            "not positive definite (dpotrf returned info = {factored}, dpotri {inverted})"
        )));
    }
    // The lower triangle of a column-major matrix is the upper of a row-major.
    each_pair(a, order, |upper, lower| *lower = *upper);
    Ok(())
}

/// The calls themselves, for every relevant order: through [`super::eigh_in_place`] only large
/// matrices reach them.
#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [usize; 12] = [1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 131, 5];

    /// Symmetric, with eigenvalues well above 0.
    fn definite(order: usize) -> Array2<f64> {
        Array2::from_shape_fn((order, order), |(row, column)| {
            let near = 1.0 / (1 + row.abs_diff(column)) as f64;
            if row == column { order as f64 } else { near }
        })
    }

    fn largest(a: Array2<f64>) -> f64 {
        a.iter().fold(0.0, |most, entry| most.max(entry.abs()))
    }

    #[test]
    fn one_eigh_workspace_serves_every_order() {
        let mut workspace = EighWorkspace::default();
        assert!(eigh_in_place(0, &mut [], &mut [], &mut workspace).is_ok());
        for order in ORDERS {
            let matrix = definite(order);
            let mut a: Vec<f64> = matrix.iter().copied().collect();
            let mut values = vec![f64::NAN; order];
            eigh_in_place(order, &mut a, &mut values, &mut workspace).unwrap();
            let rows = Array2::from_shape_vec((order, order), a).unwrap();
            let rebuilt = (&rows.t() * &Array1::from_vec(values)).dot(&rows);
            assert!(largest(rebuilt - &matrix) < 1e-12 * order as f64, "{order}");
        }
    }

    #[test]
    fn inverses_are_right_for_every_order() {
        for order in ORDERS {
            let matrix = definite(order);
            let mut a: Vec<f64> = matrix.iter().copied().collect();
            invert_in_place(order, &mut a, &mut InvertWorkspace).unwrap();
            let inverse = Array2::from_shape_vec((order, order), a).unwrap();
            let off = largest(inverse.dot(&matrix) - Array2::<f64>::eye(order));
            assert!(off < 1e-13 * order as f64, "{order}: {off:e}");
        }
        assert!(invert_in_place(0, &mut [], &mut InvertWorkspace).is_ok());
    }

    #[test]
    fn wrong_lengths_are_refused_before_lapack() {
        let mut workspace = EighWorkspace::default();
        for length in [0, 1, 8, 10] {
            let mut a = vec![1.0; length];
            assert!(eigh_in_place(3, &mut a, &mut [0.0; 3], &mut workspace).is_err());
            assert!(invert_in_place(3, &mut a, &mut InvertWorkspace).is_err());
        }
        assert!(eigh_in_place(3, &mut [1.0; 9], &mut [0.0; 2], &mut workspace).is_err());
        // Finite, but not definite: LAPACK reports it and writes nothing outside the matrix.
        assert!(invert_in_place(2, &mut [1.0, 2.0, 2.0, 1.0], &mut InvertWorkspace).is_err());
    }

    #[test]
    fn openblas_reports_its_kernels() {
        use_one_thread();
        assert!(!kernels().is_empty());
    }
}
