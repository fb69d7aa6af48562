//! Products and orthonormal bases of tall matrices (many rows, few columns),
//! shared between threads by blocks of rows.

use egg_geometry::dense::{self, Scratch};
use egg_tensor::blocks;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::error::Result;

/// Numbers of a block.
const BLOCK: usize = 1 << 15;

/// Directions weaker than this, relative to the strongest, are rounding: they
/// can't be distinguished from it in a Gram matrix.
const WEAK: f64 = 1e-7;

fn rows_of_block(width: usize, rows: usize) -> usize {
    // Few enough blocks for their products to be added quickly.
    (BLOCK / width.max(1)).max(64).max(rows.div_ceil(256))
}

/// `A^T B` (a x b) of two matrices with the same number of rows.
pub(crate) fn cross(a: &Array2<f64>, b: &Array2<f64>) -> Result<Array2<f64>> {
    let (rows, columns) = a.dim();
    let mut total = Array2::zeros((columns, b.ncols()));
    if rows == 0 || columns == 0 || b.ncols() == 0 {
        return Ok(total);
    }
    let (left, right) = (contiguous(a), contiguous(b));
    let step = rows_of_block(columns.max(b.ncols()), rows);
    let parts = blocks::map(&left, step * columns, |block, part| {
        let part = view(part, columns);
        let first = block * step * b.ncols();
        let other = view(&right[first..first + part.nrows() * b.ncols()], b.ncols());
        let mut product = Array2::zeros((columns, b.ncols()));
        dense::multiply(1.0, part.t(), other, 0.0, &mut product.view_mut()).map(|()| product)
    });
    for part in parts {
        total += &part?;
    }
    Ok(total)
}

/// `A W` (n x w).
pub(crate) fn times(a: &Array2<f64>, w: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
    let (rows, columns) = a.dim();
    let wide = w.ncols();
    let mut product = vec![0.0; rows * wide];
    if wide > 0 && columns > 0 {
        let left = contiguous(a);
        let step = rows_of_block(columns.max(wide), rows);
        let outcomes = blocks::map_chunks(&mut product, step * wide, |block, out| {
            let count = out.len() / wide;
            let first = block * step * columns;
            let part = view(&left[first..first + count * columns], columns);
            let mut out = view_mut(out, wide);
            dense::multiply(1.0, part, w, 0.0, &mut out)
        });
        outcomes
            .into_iter()
            .collect::<std::result::Result<(), egg_geometry::Error>>()?;
    }
    Ok(matrix(product, rows, wide))
}

/// An orthonormal basis (n x r, r at most the columns) of what the columns of
/// `A` span; directions of less than 1e-7 of the strongest are dropped.
///
/// From the eigenvectors of the Gram matrix, twice: the second pass corrects the error
/// that the squared condition number causes in the first.
pub(crate) fn orthonormal(a: &Array2<f64>) -> Result<Array2<f64>> {
    let once = whitened(a)?;
    whitened(&once)
}

fn whitened(a: &Array2<f64>) -> Result<Array2<f64>> {
    let gram = cross(a, a)?;
    let (values, vectors) = symmetric(gram)?;
    let largest = values.first().copied().unwrap_or(0.0);
    let kept: Vec<usize> = (0..values.len())
        .filter(|at| largest > 0.0 && values[*at] > WEAK * WEAK * largest)
        .collect();
    let weights = Array2::from_shape_fn((a.ncols(), kept.len()), |(row, column)| {
        vectors[(kept[column], row)] / values[kept[column]].sqrt()
    });
    times(a, weights.view())
}

/// Eigenvalues, descending, of a symmetric matrix, and its eigenvectors, one
/// per row.
pub(crate) fn symmetric(mut a: Array2<f64>) -> Result<(Vec<f64>, Array2<f64>)> {
    let order = a.nrows();
    let mut values = vec![0.0; order];
    if let Some(numbers) = a.as_slice_mut() {
        dense::symmetric_eigen(order, numbers, &mut values, &mut Scratch::default())?;
    }
    values.reverse();
    a.invert_axis(ndarray::Axis(0));
    Ok((values, a.as_standard_layout().into_owned()))
}

fn contiguous(a: &Array2<f64>) -> std::borrow::Cow<'_, [f64]> {
    match a.as_slice() {
        Some(numbers) => numbers.into(),
        None => a.iter().copied().collect::<Vec<_>>().into(),
    }
}

/// Rows of a slice; its length is a multiple of their width.
fn view(numbers: &[f64], width: usize) -> ArrayView2<'_, f64> {
    match ArrayView2::from_shape((numbers.len() / width, width), numbers) {
        Ok(view) => view,
        Err(_) => unreachable!("the length is rows times width"),
    }
}

fn view_mut(numbers: &mut [f64], width: usize) -> ArrayViewMut2<'_, f64> {
    match ArrayViewMut2::from_shape((numbers.len() / width, width), numbers) {
        Ok(view) => view,
        Err(_) => unreachable!("the length is rows times width"),
    }
}

/// A matrix from its numbers, row by row; their count must match the shape.
pub(crate) fn matrix(numbers: Vec<f64>, rows: usize, width: usize) -> Array2<f64> {
    match Array2::from_shape_vec((rows, width), numbers) {
        Ok(matrix) => matrix,
        Err(_) => unreachable!("the length is rows times width"),
    }
}
