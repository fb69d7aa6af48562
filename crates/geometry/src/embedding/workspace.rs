//! Reusable memory of decompositions and gradients.

use ndarray::{ArrayView2, ArrayViewMut2};

use crate::linalg::entrywise::widen_times;
use crate::linalg::{EighWorkspace, InvertWorkspace, SolveWorkspace};
use crate::scalar::Scalar;

/// Scratch memory of [`Factors::compute`](crate::Factors::compute) and of the gradient. It carries
/// no input or result from one call to the next.
///
/// One per thread, used again and again: after the largest matrix has been
/// seen, by the workspace and by the factors, nothing is allocated for f32 data. (f64 data may need an SVD, which
/// does; and ndarray's own matrix products, for less than 8 rows or without
/// OpenBLAS, take a buffer each.)
///
/// ```
/// use egg_geometry::{Factors, RankRule, Workspace};
/// use ndarray::array;
///
/// let mut workspace = Workspace::new();
/// let mut factors = Factors::new();
/// for h in [array![[1.0, 0.0, 2.0]], array![[0.0, 3.0, 1.0]]] {
///     factors.compute(h.view(), RankRule::Relative(0.1), &mut workspace)?;
///     assert_eq!(factors.choice().p, 1);
/// }
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    /// Room for `H / scale`, n x m.
    pub(crate) scaled: Vec<f64>,
    /// Room for an m x m matrix: P on the way out, G on the way back.
    pub(crate) square: Vec<f64>,
    /// Room for a gradient by `H / scale`, n x m.
    pub(crate) gradient: Vec<f64>,
    pub(crate) scratch: Scratch,
}

/// Temporaries of a step: no step reads what another has written.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) products: [Vec<f64>; 4],
    pub(crate) values: Vec<f64>,
    pub(crate) eigh: EighWorkspace,
    pub(crate) solve: SolveWorkspace,
    pub(crate) invert: InvertWorkspace,
}

impl Workspace {
    /// An empty workspace.
    ///
    /// ```
    /// let workspace = egg_geometry::Workspace::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }
}

/// A row-major matrix in the front of a buffer that grows when it must.
pub(crate) fn matrix_in(buffer: &mut Vec<f64>, rows: usize, columns: usize) -> ArrayViewMut2<'_, f64> {
    matrix_mut(slice_in(buffer, rows * columns), rows, columns)
}

/// The front of a buffer that grows when it must; its content is arbitrary.
pub(crate) fn slice_in(buffer: &mut Vec<f64>, length: usize) -> &mut [f64] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

/// A row-major view of a slice of exactly `rows * columns` numbers.
pub(crate) fn matrix_mut(entries: &mut [f64], rows: usize, columns: usize) -> ArrayViewMut2<'_, f64> {
    ArrayViewMut2::from_shape((rows, columns), entries)
        .unwrap_or_else(|_| unreachable!("the callers slice to length"))
}

/// The same, to read.
pub(crate) fn matrix_ref(entries: &[f64], rows: usize, columns: usize) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape((rows, columns), entries)
        .unwrap_or_else(|_| unreachable!("the callers slice to length"))
}

/// `H / scale` in f64, row-major.
pub(crate) fn scale_into<'a, T: Scalar>(
    h: ArrayView2<'_, T>,
    scale: f64,
    buffer: &'a mut Vec<f64>,
) -> ArrayView2<'a, f64> {
    let (rows, columns) = h.dim();
    let mut scaled = matrix_in(buffer, rows, columns);
    let inverse = scale.recip();
    match (h.as_slice(), scaled.as_slice_mut()) {
        (Some(h), Some(scaled)) if inverse.is_normal() => widen_times(h, inverse, scaled),
        // The inverse of a subnormal number overflows.
        _ if !inverse.is_normal() => scaled.zip_mut_with(&h, |to, from| *to = from.as_f64() / scale),
        _ => scaled.zip_mut_with(&h, |to, from| *to = from.as_f64() * inverse),
    }
    matrix_ref(&buffer[..rows * columns], rows, columns)
}
