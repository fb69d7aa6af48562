//! Row-major matrices in buffers that grow when they must.

use egg_geometry::{Flatten, Scalar};
use ndarray::{ArrayView2, ArrayViewMut2};

/// A matrix in the front of a buffer; what it held before is still there.
pub(crate) fn matrix_in(buffer: &mut Vec<f64>, rows: usize, columns: usize) -> ArrayViewMut2<'_, f64> {
    let length = rows * columns;
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    ArrayViewMut2::from_shape((rows, columns), &mut buffer[..length])
        .unwrap_or_else(|_| unreachable!("sliced to length"))
}

/// The matrix that [`matrix_in`] left in the front of a buffer.
pub(crate) fn matrix_of(buffer: &[f64], rows: usize, columns: usize) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape((rows, columns), &buffer[..rows * columns])
        .unwrap_or_else(|_| unreachable!("sliced to length"))
}

/// `H / scale` in f64.
pub(crate) fn scaled_into<'a, T: Scalar>(
    h: ArrayView2<'_, T>,
    scale: f64,
    buffer: &'a mut Vec<f64>,
) -> ArrayViewMut2<'a, f64> {
    let mut scaled = matrix_in(buffer, h.nrows(), h.ncols());
    ndarray::Zip::from(&mut scaled)
        .and(h)
        .for_each(|to, from| *to = from.as_f64() / scale);
    scaled
}

/// What an off-diagonal entry of a flattened matrix is multiplied by.
fn weight(flatten: Flatten) -> f64 {
    match flatten {
        Flatten::Upper => 1.0,
        Flatten::Isometric => std::f64::consts::SQRT_2,
    }
}

/// The upper triangle of a symmetric matrix, row by row.
pub(crate) fn flatten_into<T: Scalar>(flatten: Flatten, p: ArrayView2<'_, f64>, out: &mut [T]) {
    let weight = weight(flatten);
    let mut rest = out;
    for (row, entries) in p.rows().into_iter().enumerate() {
        let (head, tail) = rest.split_at_mut(entries.len() - row);
        for (slot, entry) in head.iter_mut().zip(entries.iter().skip(row)) {
            *slot = T::rounded(entry * weight);
        }
        head[0] = T::rounded(entries[row]);
        rest = tail;
    }
}

/// `G = (dL/dP + dL/dP^T) / 2` from the gradient by the flattened matrix,
/// divided by the largest entry, which is returned.
pub(crate) fn spread_into<T: Scalar>(flatten: Flatten, flat: &[T], mut g: ArrayViewMut2<'_, f64>) -> f64 {
    let magnitude = flat
        .iter()
        .fold(0.0, |most: f64, entry| most.max(entry.as_f64().abs()));
    let divisor = if magnitude == 0.0 { 1.0 } else { magnitude };
    let weight = 0.5 * weight(flatten);
    let mut entries = flat.iter();
    for row in 0..g.nrows() {
        for (column, entry) in (row..g.ncols()).zip(&mut entries) {
            let value = entry.as_f64() / divisor * if row == column { 1.0 } else { weight };
            g[[row, column]] = value;
            g[[column, row]] = value;
        }
    }
    magnitude
}
