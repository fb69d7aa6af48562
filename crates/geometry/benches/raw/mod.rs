//! The bare calls a projector can't do without, to measure what the crate adds:
//! convert to f64, Gram matrix of the smaller side, `dsyevd`, directions of the
//! kept eigenvalues, `U U^T`, convert back. No scaling, no checks, no ties. In
//! parallel like the crate's own batch.

use std::fmt;

use ndarray::Array2;
use ndarray::linalg::general_mat_mul;
use num_traits::{AsPrimitive, Float};
use rayon::prelude::*;

/// The eigensolver's complaint.
#[derive(Debug)]
pub(crate) struct Failed(i32);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the eigensolver returned {}", self.0)
    }
}

impl std::error::Error for Failed {}

/// Projectors of matrices of fewer rows than columns, keeping the singular
/// values above `relative` times the largest.
pub(crate) fn projectors<T>(data: &[Array2<T>], relative: f64) -> Result<Vec<Array2<T>>, Failed>
where
    T: Float + AsPrimitive<f64> + Send + Sync,
    f64: AsPrimitive<T>,
{
    data.par_iter()
        .map_init(Eigensolver::default, |solver, h| {
            let (n, m) = h.dim();
            let h: Array2<f64> = h.mapv(AsPrimitive::as_);
            let mut gram = Array2::zeros((n, n));
            general_mat_mul(1.0, &h, &h.t(), 0.0, &mut gram);
            let values = solver.solve(gram.as_slice_mut().unwrap_or(&mut []), n)?;
            let bound = values[n - 1] * relative * relative;
            let first = values.partition_point(|value| *value <= bound);
            // Rows are eigenvectors, ascending.
            let mut directions = Array2::zeros((n - first, m));
            let vectors = gram.slice(ndarray::s![first.., ..]);
            general_mat_mul(1.0, &vectors, &h, 0.0, &mut directions);
            for (mut direction, value) in directions.rows_mut().into_iter().zip(&values[first..]) {
                direction /= value.sqrt();
            }
            let mut projector = Array2::zeros((m, m));
            general_mat_mul(1.0, &directions.t(), &directions, 0.0, &mut projector);
            Ok(projector.mapv(AsPrimitive::as_))
        })
        .collect()
}

#[cfg(feature = "openblas")]
#[derive(Default)]
struct Eigensolver {
    values: Vec<f64>,
    work: Vec<f64>,
    iwork: Vec<i32>,
}

#[cfg(feature = "openblas")]
impl Eigensolver {
    fn solve(&mut self, a: &mut [f64], order: usize) -> Result<&[f64], Failed> {
        self.values.resize(order, 0.0);
        self.work.resize(1 + 6 * order + 2 * order * order, 0.0);
        self.iwork.resize(3 + 5 * order, 0);
        let size = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let (n, lwork, liwork) = (size(order), size(self.work.len()), size(self.iwork.len()));
        let (jobz, uplo) = (b'V'.cast_signed(), b'L'.cast_signed());
        let mut info = 0;
        assert_eq!(a.len(), order * order, "a square matrix");
        // SAFETY: `a` is as long as the order says, and the other buffers have the
        // lengths LAPACK documents for jobz = 'V'; nothing aliases.
        unsafe {
            lapack_sys::dsyevd_(
                &raw const jobz,
                &raw const uplo,
                &raw const n,
                a.as_mut_ptr(),
                &raw const n,
                self.values.as_mut_ptr(),
                self.work.as_mut_ptr(),
                &raw const lwork,
                self.iwork.as_mut_ptr(),
                &raw const liwork,
                &raw mut info,
            );
        }
        if info == 0 {
            Ok(&self.values)
        } else {
            Err(Failed(info))
        }
    }
}

#[cfg(not(feature = "openblas"))]
#[derive(Default)]
struct Eigensolver {
    values: Vec<f64>,
}

#[cfg(not(feature = "openblas"))]
impl Eigensolver {
    fn solve(&mut self, a: &mut [f64], order: usize) -> Result<&[f64], Failed> {
        let factors = faer::MatRef::from_column_major_slice(a, order, order)
            .self_adjoint_eigen(faer::Side::Lower)
            .map_err(|_| Failed(-1))?;
        self.values = factors.S().column_vector().iter().copied().collect();
        for (column, target) in a.chunks_exact_mut(order).enumerate() {
            for (row, entry) in target.iter_mut().enumerate() {
                *entry = factors.U()[(row, column)];
            }
        }
        Ok(&self.values)
    }
}
