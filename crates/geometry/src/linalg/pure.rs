//! The same decompositions from faer: no system library needed.
//!
//! faer's own solvers take the number of threads from a global setting. Here it
//! is always one, passed in every call, so that results can't depend on what
//! another crate has set or which of faer's features it has turned on.

use faer::diag::{Diag, DiagMut};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor;
use faer::linalg::svd::{self, ComputeSvdVectors, SvdParams};
use faer::traits::RealField;
use faer::{Conj, Mat, MatMut, MatRef, Par, Spec};
use ndarray::{Array1, Array2, ArrayView2};
use num_traits::Float;

use super::Svd;
use crate::embedding::flatten::each_pair;
use crate::error::{Error, Result};

/// The matrix divided by its largest entry, and that entry: unlike LAPACK, faer
/// squares entries without scaling them first.
fn to_faer<T: RealField + Float>(a: &ArrayView2<'_, T>) -> (Mat<T>, T) {
    let zero = <T as num_traits::Zero>::zero();
    let largest = a
        .iter()
        .fold(zero, |most, entry| Float::max(most, Float::abs(*entry)));
    let scale = if largest == zero {
        <T as num_traits::One>::one()
    } else {
        largest
    };
    let scaled = Mat::from_fn(a.nrows(), a.ncols(), |row, column| a[[row, column]] / scale);
    (scaled, scale)
}

fn from_faer<T: Copy>(a: MatRef<'_, T>) -> Array2<T> {
    Array2::from_shape_fn((a.nrows(), a.ncols()), |(row, column)| a[(row, column)])
}

fn failed(operation: &'static str, rows: usize, columns: usize, reason: impl std::fmt::Debug) -> Error {
    Error::Backend {
        operation,
        rows,
        columns,
        backend: "pure-rust",
        reason: format!("{reason:?}"),
    }
}

/// Disables the initial QR factorisation that faer uses for matrices of many more rows than
/// columns: it loses up to 300 eps where columns are nearly dependent.
fn svd_params<T: RealField>() -> Spec<SvdParams, T> {
    let mut params: Spec<SvdParams, T> = Default::default();
    params.config.qr_ratio_threshold = f64::INFINITY;
    params
}

/// Singular values of the scaled matrix, and vectors if there is room for them.
fn svd_into<T: RealField>(a: &Mat<T>, mut vectors: Option<(&mut Mat<T>, &mut Mat<T>)>) -> Result<Diag<T>> {
    let (rows, columns) = a.shape();
    let mut values = Diag::zeros(rows.min(columns));
    let compute = match vectors {
        Some(_) => ComputeSvdVectors::Thin,
        None => ComputeSvdVectors::No,
    };
    let scratch = svd::svd_scratch::<T>(rows, columns, compute, compute, Par::Seq, svd_params::<T>());
    let (u, v) = match &mut vectors {
        Some((u, v)) => (Some(u.as_mut()), Some(v.as_mut())),
        None => (None, None),
    };
    svd::svd(
        a.as_ref(),
        values.as_mut(),
        u,
        v,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        svd_params(),
    )
    .map_err(|reason| failed("SVD", rows, columns, reason))?;
    Ok(values)
}

fn rescaled<T: RealField + Float>(values: &Diag<T>, scale: T) -> Array1<T> {
    let values = values.column_vector();
    (0..values.nrows()).map(|index| values[index] * scale).collect()
}

pub(super) fn svd<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<Svd<T>> {
    let (scaled, scale) = to_faer(&a);
    let order = a.nrows().min(a.ncols());
    let (mut u, mut v) = (Mat::zeros(a.nrows(), order), Mat::zeros(a.ncols(), order));
    let values = svd_into(&scaled, Some((&mut u, &mut v)))?;
    Ok(Svd {
        u: from_faer(u.as_ref()),
        s: rescaled(&values, scale),
        vt: from_faer(v.transpose()),
    })
}

pub(super) fn singular_values<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<Array1<T>> {
    let (scaled, scale) = to_faer(&a);
    Ok(rescaled(&svd_into(&scaled, None)?, scale))
}

pub(super) fn eigh<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<(Array1<T>, Array2<T>)> {
    let order = a.nrows();
    let (scaled, scale) = to_faer(&a);
    let (mut values, mut vectors) = (Diag::zeros(order), Mat::zeros(order, order));
    let scratch =
        self_adjoint_evd_scratch::<T>(order, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    self_adjoint_evd(
        scaled.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|reason| failed("eigendecomposition", order, order, reason))?;
    Ok((rescaled(&values, scale), from_faer(vectors.transpose())))
}

pub(super) fn qr<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<(Array2<T>, Array2<T>)> {
    let (rows, columns) = a.dim();
    let (mut factors, scale) = to_faer(&a);
    let block = factor::recommended_block_size::<T>(rows, columns);
    let mut coefficients = Mat::zeros(block, rows.min(columns));
    let scratch = factor::qr_in_place_scratch::<T>(rows, columns, block, Par::Seq, Default::default());
    factor::qr_in_place(
        factors.as_mut(),
        coefficients.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    let mut q = Mat::identity(rows, columns);
    let scratch =
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(rows, block, columns);
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        factors.as_ref(),
        coefficients.as_ref(),
        Conj::No,
        q.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
    );
    // Householder vectors lie below the diagonal.
    let r = Array2::from_shape_fn((columns, columns), |(row, column)| {
        if row <= column {
            factors[(row, column)] * scale
        } else {
            <T as num_traits::Zero>::zero()
        }
    });
    Ok((from_faer(q.as_ref()), r))
}

/// faer's scratch memory, and room for the eigenvectors, which it can't write in place.
#[derive(Default)]
pub(super) struct EighWorkspace {
    order: usize,
    scratch: Option<MemBuffer>,
    vectors: Vec<f64>,
}

impl std::fmt::Debug for EighWorkspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EighWorkspace")
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

pub(super) fn eigh_in_place(
    order: usize,
    a: &mut [f64],
    values: &mut [f64],
    workspace: &mut EighWorkspace,
) -> Result<()> {
    if order == 0 {
        return Ok(());
    }
    if a.len() != order * order || values.len() != order {
        return Err(failed(
            "eigendecomposition",
            order,
            order,
            "buffer of the wrong length",
        ));
    }
    if order > workspace.order {
        workspace.scratch = None;
        workspace.order = order;
    }
    let scratch = workspace.scratch.get_or_insert_with(|| {
        MemBuffer::new(self_adjoint_evd_scratch::<f64>(
            order,
            ComputeEigenvectors::Yes,
            Par::Seq,
            Default::default(),
        ))
    });
    workspace.vectors.resize(order * order, 0.0);
    self_adjoint_evd(
        MatRef::from_column_major_slice(a, order, order),
        DiagMut::from_slice_mut(values),
        Some(MatMut::from_column_major_slice_mut(
            &mut workspace.vectors,
            order,
            order,
        )),
        Par::Seq,
        MemStack::new(scratch),
        Default::default(),
    )
    .map_err(|reason| failed("eigendecomposition", order, order, reason))?;
    a.copy_from_slice(&workspace.vectors);
    Ok(())
}

/// faer's scratch memory, and room for the inverse, which it can't write in place.
#[derive(Default)]
pub(super) struct InvertWorkspace {
    order: usize,
    scratch: Option<MemBuffer>,
    inverse: Vec<f64>,
}

impl std::fmt::Debug for InvertWorkspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InvertWorkspace")
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

pub(super) fn invert_in_place(order: usize, a: &mut [f64], workspace: &mut InvertWorkspace) -> Result<()> {
    if a.len() != order * order {
        return Err(failed(
            "Cholesky inverse",
            order,
            order,
            "buffer of the wrong length",
        ));
    }
    if order == 0 {
        return Ok(());
    }
    if order > workspace.order {
        workspace.scratch = None;
        workspace.order = order;
    }
    let scratch = workspace.scratch.get_or_insert_with(|| {
        let factor = llt::factor::cholesky_in_place_scratch::<f64>(order, Par::Seq, Default::default());
        MemBuffer::new(factor.or(llt::inverse::inverse_scratch::<f64>(order, Par::Seq)))
    });
    llt::factor::cholesky_in_place(
        MatMut::from_column_major_slice_mut(a, order, order),
        Default::default(),
        Par::Seq,
        MemStack::new(scratch),
        Default::default(),
    )
    .map_err(|reason| failed("Cholesky inverse", order, order, reason))?;
    workspace.inverse.clear();
    workspace.inverse.resize(order * order, 0.0);
    llt::inverse::inverse(
        MatMut::from_column_major_slice_mut(&mut workspace.inverse, order, order),
        MatRef::from_column_major_slice(a, order, order),
        Par::Seq,
        MemStack::new(scratch),
    );
    a.copy_from_slice(&workspace.inverse);
    // faer writes the lower triangle, which a row-major view sees as the upper.
    each_pair(a, order, |upper, lower| *lower = *upper);
    Ok(())
}
