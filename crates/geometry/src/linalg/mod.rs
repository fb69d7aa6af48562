//! The interface to linear algebra: the few decompositions the crate needs, from LAPACK (feature
//! `openblas`) or from faer (feature `pure-rust`); small symmetric matrices are decomposed here.
//!
//! No other file knows which is in use. With both features on, `openblas` wins:
//! it is linked anyway, and `pure-rust` is for systems where it can't be.

#![cfg_attr(
    all(feature = "openblas", feature = "pure-rust", not(test)),
    expect(dead_code, reason = "the second is there for the test that compares them")
)]

pub mod dense;
pub(crate) mod entrywise;
#[cfg(feature = "openblas")]
mod lapack;
mod long_svd;
mod padded;
mod product;
#[cfg(feature = "pure-rust")]
mod pure;
mod small_eigen;
mod small_inverse;
mod svd_factors;

pub(crate) use product::{gram, multiply};
pub(crate) use small_eigen::{Definiteness, SolveWorkspace, TridiagonalForm};

use ndarray::{Array1, Array2, ArrayView2};

use crate::error::Result;
use crate::tuning::speed::{SMALL_EIGEN_ORDER, SMALL_INVERSE_ORDER};
use small_eigen::Decomposition;

#[cfg(not(any(feature = "openblas", feature = "pure-rust")))]
compile_error!(
    "egg-geometry needs a linear-algebra backend: feature `openblas` (the default, needs the \
     system library) or `pure-rust` (needs nothing)"
);

/// The name of the linear-algebra backend that is compiled in: `"openblas"` or
/// `"pure-rust"`.
///
/// ```
/// assert!(["openblas", "pure-rust"].contains(&egg_geometry::backend()));
/// ```
pub fn backend() -> &'static str {
    if cfg!(feature = "openblas") {
        "openblas"
    } else {
        "pure-rust"
    }
}

/// Which kernels the BLAS library chose for this processor, as it calls them
/// (`Haswell`, `Zen`, ...); `None` for the backend that has no such library.
///
/// A release older than the processor may choose slow ones. `OPENBLAS_CORETYPE`
/// overrides the choice, but only if it is set before the program starts.
///
/// ```
/// assert_eq!(egg_geometry::blas_kernels().is_some(), egg_geometry::backend() == "openblas");
/// ```
pub fn blas_kernels() -> Option<String> {
    #[cfg(feature = "openblas")]
    return Some(lapack::kernels());
    #[cfg(not(feature = "openblas"))]
    return None;
}

/// A thin singular value decomposition `A = U diag(s) Vt`, values descending.
#[derive(Debug)]
pub(crate) struct Svd<T> {
    /// r x k
    pub(crate) u: Array2<T>,
    /// k
    pub(crate) s: Array1<T>,
    /// k x c
    pub(crate) vt: Array2<T>,
}

/// Reusable memory for [`eigh_in_place`].
#[derive(Debug, Default)]
pub(crate) struct EighWorkspace {
    small: small_eigen::SmallEigen,
    backend: BackendEighWorkspace,
}

#[derive(Debug, Default)]
struct BackendEighWorkspace {
    #[cfg(feature = "openblas")]
    lapack: lapack::EighWorkspace,
    #[cfg(feature = "pure-rust")]
    pure: pure::EighWorkspace,
}

/// Reusable memory for [`invert_in_place`].
#[derive(Debug, Default)]
pub(crate) struct InvertWorkspace {
    small: small_inverse::Memory,
    #[cfg(feature = "openblas")]
    lapack: lapack::InvertWorkspace,
    #[cfg(feature = "pure-rust")]
    pure: pure::InvertWorkspace,
}

/// Calls one function of the active backend. In tests with both features on,
/// `forced::with_pure_rust` can turn a thread to the other one.
macro_rules! dispatch {
    ($name:ident ( $($argument:expr),* )) => {{
        #[cfg(all(test, feature = "openblas", feature = "pure-rust"))]
        if forced::pure_rust() {
            return pure::$name($($argument),*);
        }
        #[cfg(feature = "openblas")]
        let outcome = {
            lapack::use_one_thread();
            lapack::$name($($argument),*)
        };
        #[cfg(all(feature = "pure-rust", not(feature = "openblas")))]
        let outcome = pure::$name($($argument),*);
        outcome
    }};
}

/// Decompositions of small dense matrices. Arguments are finite and not empty:
/// the callers have checked.
pub(crate) trait Decompose: Sized {
    /// Thin SVD of an r x c matrix.
    fn svd(a: ArrayView2<'_, Self>) -> Result<Svd<Self>>;
    /// Singular values, descending.
    fn singular_values(a: ArrayView2<'_, Self>) -> Result<Array1<Self>>;
    /// Eigenvalues, ascending, and eigenvectors as the **rows** of the second
    /// matrix, of a symmetric matrix.
    fn eigh(a: ArrayView2<'_, Self>) -> Result<(Array1<Self>, Array2<Self>)>;
    /// Thin QR of an r x c matrix, r >= c.
    fn qr(a: ArrayView2<'_, Self>) -> Result<(Array2<Self>, Array2<Self>)>;
}

macro_rules! decompose {
    ($scalar:ty) => {
        impl Decompose for $scalar {
            fn svd(a: ArrayView2<'_, Self>) -> Result<Svd<Self>> {
                if long_svd::is_long(a.dim()) {
                    init_backend();
                    return long_svd::svd(a);
                }
                dispatch!(svd(a))
            }

            fn singular_values(a: ArrayView2<'_, Self>) -> Result<Array1<Self>> {
                dispatch!(singular_values(a))
            }

            fn eigh(a: ArrayView2<'_, Self>) -> Result<(Array1<Self>, Array2<Self>)> {
                dispatch!(eigh(a))
            }

            fn qr(a: ArrayView2<'_, Self>) -> Result<(Array2<Self>, Array2<Self>)> {
                dispatch!(qr(a))
            }
        }
    };
}

decompose!(f32);
decompose!(f64);

/// Eigendecomposition of the symmetric `order x order` matrix in `a`, with no
/// allocation once `workspace` has grown.
///
/// Eigenvalues come ascending in `values`; `a` is overwritten by the
/// eigenvectors, one after another (row i of a row-major view is vector i).
pub(crate) fn eigh_in_place(
    order: usize,
    a: &mut [f64],
    values: &mut [f64],
    workspace: &mut EighWorkspace,
) -> Result<()> {
    eigenvalues(order, a, Definiteness::Unknown, values, workspace)?.finish(a);
    Ok(())
}

/// The eigenvectors after the eigenvalues have been computed.
#[derive(Debug)]
pub(crate) enum Eigenvectors<'a> {
    /// Computed: they have overwritten the matrix, as in [`eigh_in_place`].
    InPlace,
    /// Not computed yet: the matrix is unchanged, and all or some can be computed from this.
    Unfinished(Decomposition<'a>),
}

impl Eigenvectors<'_> {
    /// Overwrites the matrix that was decomposed by all its eigenvectors, as [`eigh_in_place`]
    /// says, unless they are there.
    pub(crate) fn finish(self, a: &mut [f64]) {
        if let Self::Unfinished(mut decomposition) = self {
            decomposition.all_vectors(a);
        }
    }
}

/// The first half of [`eigh_in_place`].
///
/// Small matrices are decomposed by [`small_eigen`] with any backend.
pub(crate) fn eigenvalues<'a>(
    order: usize,
    a: &mut [f64],
    definiteness: Definiteness,
    values: &mut [f64],
    workspace: &'a mut EighWorkspace,
) -> Result<Eigenvectors<'a>> {
    let EighWorkspace { small, backend } = workspace;
    let is_small = (1..=SMALL_EIGEN_ORDER).contains(&order);
    let fits = a.len() == order * order && values.len() == order;
    if is_small
        && fits
        && let Some(decomposition) = small.decompose(order, a, definiteness)
    {
        for (to, from) in values.iter_mut().zip(decomposition.values()) {
            *to = from;
        }
        return Ok(Eigenvectors::Unfinished(decomposition));
    }
    backend_eigh_in_place(order, a, values, backend)?;
    Ok(Eigenvectors::InPlace)
}

fn backend_eigh_in_place(
    order: usize,
    a: &mut [f64],
    values: &mut [f64],
    workspace: &mut BackendEighWorkspace,
) -> Result<()> {
    #[cfg(all(test, feature = "openblas", feature = "pure-rust"))]
    if forced::pure_rust() {
        return pure::eigh_in_place(order, a, values, &mut workspace.pure);
    }
    #[cfg(feature = "openblas")]
    {
        lapack::use_one_thread();
        lapack::eigh_in_place(order, a, values, &mut workspace.lapack)
    }
    #[cfg(all(feature = "pure-rust", not(feature = "openblas")))]
    pure::eigh_in_place(order, a, values, &mut workspace.pure)
}

/// The inverse of the symmetric positive definite `order x order` matrix in `a`,
/// both triangles, by Cholesky, with no allocation once `workspace` has grown.
///
/// Small matrices are inverted here ([`small_inverse`]); larger ones, and those
/// that are not positive definite, which it has to say, by the backend.
pub(crate) fn invert_in_place(order: usize, a: &mut [f64], workspace: &mut InvertWorkspace) -> Result<()> {
    let is_small = (1..=SMALL_INVERSE_ORDER).contains(&order) && a.len() == order * order;
    if is_small && small_inverse::invert_in_place(order, a, &mut workspace.small) {
        return Ok(());
    }
    #[cfg(all(test, feature = "openblas", feature = "pure-rust"))]
    if forced::pure_rust() {
        return pure::invert_in_place(order, a, &mut workspace.pure);
    }
    #[cfg(feature = "openblas")]
    {
        lapack::use_one_thread();
        lapack::invert_in_place(order, a, &mut workspace.lapack)
    }
    #[cfg(all(feature = "pure-rust", not(feature = "openblas")))]
    pure::invert_in_place(order, a, &mut workspace.pure)
}

/// The least sine of an angle at which the arccosine of a computed singular
/// value is good to a quarter of `1e-15 sqrt(m)`.
///
/// It magnifies the error of the cosine by `1 / sin theta`. LAPACK's is an eps or
/// two, and `2 / sqrt(m)` will do; faer's is about ten, which leaves nothing to
/// gain over pi/4, beyond which the cosine is the better one in any case.
pub(crate) fn least_sine(ambient: usize) -> f64 {
    let quarter = std::f64::consts::FRAC_1_SQRT_2;
    #[cfg(all(test, feature = "openblas", feature = "pure-rust"))]
    if forced::pure_rust() {
        return quarter;
    }
    if cfg!(feature = "openblas") {
        (2.0 / (ambient as f64).sqrt()).min(quarter)
    } else {
        quarter
    }
}

/// Initialises the backend of matrix products, which ndarray calls by itself.
///
/// With `openblas`, ndarray's `dot` is OpenBLAS too: this makes sure that it
/// runs on one thread before the first product.
pub(crate) fn init_backend() {
    #[cfg(feature = "openblas")]
    lapack::use_one_thread();
}

/// Lets a test run the same code on the backend that is compiled in but not active.
#[cfg(all(test, feature = "openblas", feature = "pure-rust"))]
pub(crate) mod forced {
    use std::cell::Cell;

    thread_local! {
        static PURE_RUST: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn pure_rust() -> bool {
        PURE_RUST.get()
    }

    /// Runs `work` on this thread with the pure-Rust backend.
    pub(crate) fn with_pure_rust<R>(work: impl FnOnce() -> R) -> R {
        PURE_RUST.set(true);
        let outcome = work();
        PURE_RUST.set(false);
        outcome
    }
}

#[cfg(test)]
mod tests;
