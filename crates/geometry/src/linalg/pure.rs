//! The same decompositions from faer: no system library needed.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::traits::RealField;
use faer::{Mat, MatMut, MatRef, Par, Side};
use ndarray::{Array1, Array2, ArrayView2};
use num_traits::Float;

use super::Svd;
use crate::error::{Error, Result};

/// A faer matrix with the same entries.
fn to_faer<T: RealField + Copy>(a: &ArrayView2<'_, T>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |row, column| a[[row, column]])
}

/// The same divided by its largest entry, and that entry: unlike LAPACK, faer
/// squares entries without scaling them first.
fn to_faer_scaled<T: RealField + Float>(a: &ArrayView2<'_, T>) -> (Mat<T>, T) {
    let largest = a.iter().fold(<T as num_traits::Zero>::zero(), |most, entry| {
        Float::max(most, Float::abs(*entry))
    });
    if largest == <T as num_traits::Zero>::zero() {
        return (to_faer(a), largest);
    }
    (
        Mat::from_fn(a.nrows(), a.ncols(), |row, column| a[[row, column]] / largest),
        largest,
    )
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

pub(super) fn svd<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<Svd<T>> {
    let (rows, columns) = a.dim();
    let (scaled, scale) = to_faer_scaled(&a);
    let factors = scaled
        .thin_svd()
        .map_err(|reason| failed("SVD", rows, columns, reason))?;
    let values = factors.S().column_vector();
    Ok(Svd {
        u: from_faer(factors.U()),
        s: (0..values.nrows()).map(|i| values[i] * scale).collect(),
        vt: from_faer(factors.V().transpose()),
    })
}

pub(super) fn singular_values<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<Array1<T>> {
    let (rows, columns) = a.dim();
    let (scaled, scale) = to_faer_scaled(&a);
    let values = scaled
        .singular_values()
        .map_err(|reason| failed("SVD", rows, columns, reason))?;
    Ok(values.into_iter().map(|value| value * scale).collect())
}

pub(super) fn eigh<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<(Array1<T>, Array2<T>)> {
    let order = a.nrows();
    let (scaled, scale) = to_faer_scaled(&a);
    let factors = scaled
        .self_adjoint_eigen(Side::Lower)
        .map_err(|reason| failed("eigendecomposition", order, order, reason))?;
    let values = factors.S().column_vector();
    Ok((
        (0..order).map(|i| values[i] * scale).collect(),
        from_faer(factors.U().transpose()),
    ))
}

pub(super) fn qr<T: RealField + Float>(a: ArrayView2<'_, T>) -> Result<(Array2<T>, Array2<T>)> {
    let (scaled, scale) = to_faer_scaled(&a);
    let factors = scaled.qr();
    Ok((
        from_faer(factors.compute_thin_Q().as_ref()),
        from_faer(factors.thin_R()).mapv(|entry| entry * scale),
    ))
}

pub(super) fn determinant<T: RealField + Copy>(a: ArrayView2<'_, T>) -> Result<T> {
    Ok(to_faer(&a).determinant())
}

/// faer's scratch memory and the eigenvectors, which it can't write over its input.
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
