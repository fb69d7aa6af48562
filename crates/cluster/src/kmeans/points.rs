//! The rows that are clustered, checked once.

use std::borrow::Cow;

use egg_geometry::Scalar;
use egg_tensor::blocks;
use ndarray::ArrayView2;

use crate::error::{Error, Result};

/// n points of R^d, row by row, every number finite.
///
/// A number `x` counts as `x * scale`; the scale is a power of two, and 1 unless
/// squares of the numbers could leave the range of f64.
#[derive(Debug)]
pub(crate) struct Points<'a, T: Scalar> {
    rows: Cow<'a, [T]>,
    pub(crate) count: usize,
    pub(crate) width: usize,
    pub(crate) scale: f64,
}

/// Numbers beyond these bounds are scaled: squares and their sums over 2^60
/// numbers stay far from overflow, and squares of differences of a millionth
/// far from underflow.
const PLAIN: std::ops::Range<f64> = 1e-100..1e100;

impl<'a, T: Scalar> Points<'a, T> {
    /// Takes the rows of a matrix; copies only if they are not contiguous.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NonFinite`].
    pub(crate) fn new(matrix: ArrayView2<'a, T>) -> Result<Self> {
        let (count, width) = matrix.dim();
        if count == 0 || width == 0 {
            return Err(Error::Empty {
                what: "matrix of points",
            });
        }
        let rows = match matrix.to_slice() {
            Some(rows) => Cow::Borrowed(rows),
            None => Cow::Owned(matrix.iter().copied().collect()),
        };
        let largest = largest(&rows, width)?;
        let scale = if largest == 0.0 || PLAIN.contains(&largest) {
            1.0
        } else {
            // Of subnormal numbers only so far as a power of two reaches.
            #[expect(clippy::cast_possible_truncation, reason = "an exponent of f64")]
            let exponent = (-largest.log2().floor()).clamp(-1022.0, 1022.0) as i32;
            2f64.powi(exponent)
        };
        Ok(Self {
            rows,
            count,
            width,
            scale,
        })
    }

    /// All numbers, unscaled.
    pub(crate) fn rows(&self) -> &[T] {
        &self.rows
    }

    /// One row, unscaled.
    pub(crate) fn row(&self, index: usize) -> &[T] {
        &self.rows[index * self.width..(index + 1) * self.width]
    }

    /// Appends a row, scaled, to a list of centres.
    pub(crate) fn push_row(&self, index: usize, centres: &mut Vec<f64>) {
        centres.extend(self.row(index).iter().map(|x| x.as_f64() * self.scale));
    }

    /// The variance of the columns, averaged over them.
    pub(crate) fn mean_variance(&self) -> f64 {
        let count = self.count as f64;
        let sums = self.column_sums(|_, x| x);
        let means: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
        let squares = self.column_sums(|column, x| (x - means[column]).powi(2));
        squares.iter().sum::<f64>() / (count * self.width as f64)
    }

    fn column_sums(&self, of: impl Fn(usize, f64) -> f64 + Sync) -> Vec<f64> {
        let block = 1024 * self.width;
        let partial = blocks::map(&self.rows, block, |_, rows| {
            let mut sums = vec![0.0; self.width];
            for row in rows.chunks_exact(self.width) {
                for (column, (sum, x)) in sums.iter_mut().zip(row).enumerate() {
                    *sum += of(column, x.as_f64() * self.scale);
                }
            }
            sums
        });
        add_in_order(partial.iter().map(Vec::as_slice), self.width)
    }
}

/// The sum of parts of equal length, one after the other.
pub(crate) fn add_in_order<'a>(parts: impl Iterator<Item = &'a [f64]>, length: usize) -> Vec<f64> {
    let mut total = vec![0.0; length];
    for part in parts {
        for (sum, value) in total.iter_mut().zip(part) {
            *sum += value;
        }
    }
    total
}

/// The largest magnitude, if all numbers are finite.
fn largest<T: Scalar>(rows: &[T], width: usize) -> Result<f64> {
    let block = 1 << 14;
    let parts = blocks::map(rows, block, |_, part| {
        // One comparison per number; a NaN is not greater than anything, but makes
        // the sum NaN.
        let mut largest = T::zero();
        let mut spoilt = T::zero();
        for x in part {
            let magnitude = x.abs();
            largest = if magnitude > largest { magnitude } else { largest };
            spoilt += *x * T::zero();
        }
        (largest.as_f64(), spoilt == T::zero())
    });
    if let Some(block_at) = parts.iter().position(|(_, finite)| !finite) {
        let found = rows.iter().skip(block_at * block).position(|x| !x.is_finite());
        let index = block_at * block + found.unwrap_or(0);
        return Err(Error::NonFinite {
            what: "matrix of points",
            row: index / width,
            column: index % width,
            value: rows[index].as_f64(),
        });
    }
    Ok(parts.iter().map(|(largest, _)| *largest).fold(0.0, f64::max))
}
