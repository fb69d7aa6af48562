//! A symmetric matrix as a vector, and back.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};

use crate::check;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// How the upper triangle of a symmetric m x m matrix becomes a vector of
/// length `m (m + 1) / 2`: row by row, diagonal included.
///
/// - `Upper` takes the entries as they are (the paper's).
/// - `Isometric` multiplies those off the diagonal by `sqrt(2)`, so that the
///   Euclidean distance of two vectors is `||P_1 - P_2||_F` and dot products
///   are the projection kernel `tr(P_1 P_2)`.
///
/// A linear layer can learn from either; what measures distances between the vectors (k-means,
/// nearest neighbours, t-SNE, a kernel) needs `Isometric`.
///
/// ```
/// use egg_geometry::Flatten;
/// use ndarray::array;
///
/// let p = array![[1.0, 2.0], [2.0, 5.0]];
/// assert_eq!(Flatten::Upper.flatten(p.view())?, array![1.0, 2.0, 5.0]);
/// let v = Flatten::Isometric.flatten(p.view())?;
/// let frobenius: f64 = p.iter().map(|x| x * x).sum();
/// assert!((v.dot(&v) - frobenius).abs() < 1e-12);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
///
/// With the feature `serde` it is written as `"upper"` or `"isometric"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Flatten {
    /// The entries of the upper triangle.
    #[default]
    Upper,
    /// The same with the off-diagonal multiplied by `sqrt(2)`.
    Isometric,
}

impl Flatten {
    /// The factor of off-diagonal entries: 1 or `sqrt(2)`.
    pub fn weight(self) -> f64 {
        match self {
            Self::Upper => 1.0,
            Self::Isometric => std::f64::consts::SQRT_2,
        }
    }

    /// The length `m (m + 1) / 2` for an m x m matrix, or the largest `usize`
    /// if that is larger.
    ///
    /// ```
    /// assert_eq!(egg_geometry::Flatten::length(64), 2080);
    /// ```
    pub fn length(m: usize) -> usize {
        // One of the two factors is even.
        let (half, other) = if m.is_multiple_of(2) {
            (m / 2, m + 1)
        } else {
            (m / 2 + 1, m)
        };
        half.saturating_mul(other)
    }

    /// The m with `m (m + 1) / 2 = length`, if there is one.
    ///
    /// ```
    /// use egg_geometry::Flatten;
    /// assert_eq!(Flatten::side(2080), Some(64));
    /// assert_eq!(Flatten::side(5), None);
    /// ```
    pub fn side(length: usize) -> Option<usize> {
        let m = (length.checked_mul(8)?.checked_add(1)?.isqrt() - 1) / 2;
        (Self::length(m) == length).then_some(m)
    }

    /// Flattens a symmetric m x m matrix.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NonFinite`], [`Error::Shape`] if it is not
    /// square, [`Error::NotSymmetric`].
    ///
    /// ```
    /// use egg_geometry::{Error, Flatten};
    /// let lopsided = ndarray::array![[1.0, 2.0], [0.0, 1.0]];
    /// assert!(matches!(Flatten::Upper.flatten(lopsided.view()), Err(Error::NotSymmetric { .. })));
    /// ```
    pub fn flatten<T: Scalar>(self, matrix: ArrayView2<'_, T>) -> Result<Array1<T>> {
        check::symmetric("matrix to flatten", &matrix)?;
        let mut flat = Array1::zeros(Self::length(matrix.nrows()));
        if let Some(out) = flat.as_slice_mut() {
            self.write(matrix, out, |entry: T| entry)?;
        }
        // sqrt(2) times an entry near the largest number overflows.
        check::finite("flattened matrix", &flat.view().insert_axis(Axis(0)))?;
        Ok(flat)
    }

    /// Rebuilds the symmetric matrix; the inverse of [`Flatten::flatten`].
    ///
    /// # Errors
    /// [`Error::Length`] unless the length is `m (m + 1) / 2` for some m >= 1,
    /// [`Error::NonFinite`].
    ///
    /// ```
    /// use egg_geometry::Flatten;
    /// use ndarray::array;
    /// let p = Flatten::Upper.unflatten(array![1.0, 2.0, 5.0].view())?;
    /// assert_eq!(p, array![[1.0, 2.0], [2.0, 5.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn unflatten<T: Scalar>(self, flat: ArrayView1<'_, T>) -> Result<Array2<T>> {
        let m = Self::side(flat.len())
            .filter(|m| *m > 0)
            .ok_or_else(|| Error::Length {
                what: "flattened matrix",
                expected: Self::length(Self::side_below(flat.len()).max(1)),
                found: flat.len(),
            })?;
        check::finite("flattened matrix", &flat.insert_axis(Axis(0)))?;
        let mut matrix = Array2::zeros((m, m));
        if let Some(square) = matrix.as_slice_mut() {
            self.spread(flat, 1.0 / self.weight(), square, m, |value| value);
        }
        Ok(matrix)
    }

    /// The symmetric gradient `G = (dL/dP + dL/dP^T) / 2` (m x m) that a
    /// gradient with respect to the flattened vector amounts to: an
    /// off-diagonal entry contributes half to each side.
    ///
    /// # Errors
    /// As [`Flatten::unflatten`].
    ///
    /// ```
    /// use egg_geometry::Flatten;
    /// use ndarray::array;
    /// let g = Flatten::Upper.gradient(array![1.0, 2.0, 3.0].view())?;
    /// assert_eq!(g, array![[1.0, 1.0], [1.0, 3.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn gradient<T: Scalar>(self, flat: ArrayView1<'_, T>) -> Result<Array2<T>> {
        // L(P) sees w P_ij once, so dL/dP_ij = w g, shared by both sides.
        let mut gradient = Flatten::Upper.unflatten(flat)?;
        let off_diagonal = T::rounded(0.5 * self.weight());
        for ((row, column), entry) in gradient.indexed_iter_mut() {
            if row != column {
                *entry *= off_diagonal;
            }
        }
        Ok(gradient)
    }

    /// The largest m with `m (m + 1) / 2 <= length`.
    fn side_below(length: usize) -> usize {
        (length.saturating_mul(8).saturating_add(1).isqrt() - 1) / 2
    }

    /// Checks that `length` is that of the triangle of an m x m matrix.
    pub(crate) fn check_length(self, m: usize, found: usize) -> Result<()> {
        check::length("output", Self::length(m), found)
    }

    /// Writes the upper triangle of a matrix into `out`, through a conversion.
    pub(crate) fn write<A: Scalar, T: Scalar>(
        self,
        matrix: ArrayView2<'_, A>,
        out: &mut [T],
        convert: impl Fn(A) -> T,
    ) -> Result<()> {
        let m = matrix.nrows();
        self.check_length(m, out.len())?;
        let weight = A::rounded(self.weight());
        let mut rest = out;
        for (row, entries) in matrix.rows().into_iter().enumerate() {
            let (head, tail) = rest.split_at_mut(m - row);
            // As a slice the loop is vectorised.
            if let Some(entries) = entries.as_slice() {
                for (slot, entry) in head.iter_mut().zip(&entries[row..]) {
                    *slot = convert(*entry * weight);
                }
            } else {
                for (slot, entry) in head.iter_mut().zip(entries.iter().skip(row)) {
                    *slot = convert(*entry * weight);
                }
            }
            head[0] = convert(entries[row]);
            rest = tail;
        }
        Ok(())
    }

    /// Spreads a flat vector over both triangles of an m x m matrix in row-major
    /// order, off-diagonal entries times `weight`. The caller has matched the lengths.
    pub(crate) fn spread<A: Scalar, T: Scalar>(
        self,
        flat: ArrayView1<'_, A>,
        weight: f64,
        square: &mut [T],
        m: usize,
        convert: impl Fn(A) -> T,
    ) {
        let weight = T::rounded(weight);
        let flat = flat.as_standard_layout();
        let mut rest = flat.as_slice().unwrap_or_default();
        for (row, entries) in square.chunks_exact_mut(m.max(1)).enumerate() {
            let upper = &mut entries[row..];
            let (head, tail) = rest.split_at(upper.len());
            rest = tail;
            for (slot, entry) in upper.iter_mut().zip(head) {
                *slot = convert(*entry) * weight;
            }
            upper[0] = convert(head[0]);
        }
        each_pair(square, m, |upper, lower| *lower = *upper);
    }

    /// The weight of an off-diagonal entry in [`Flatten::gradient`].
    pub(crate) fn gradient_weight(self) -> f64 {
        0.5 * self.weight()
    }
}

/// `a_ji <- a_ij` for every i < j of a square matrix.
pub(crate) fn mirror_upper<T: Copy + num_traits::Zero>(square: &mut ArrayViewMut2<'_, T>) {
    let m = square.ncols();
    match square.as_slice_mut() {
        Some(entries) => each_pair(entries, m, |upper, lower| *lower = *upper),
        None => {
            (0..m).for_each(|row| (0..row).for_each(|column| square[[row, column]] = square[[column, row]]))
        }
    }
}

/// Calls `work(a_ij, a_ji)` for every i < j of an m x m matrix in row-major order.
///
/// In tiles, which are copied out and back: along a column every entry is in a cache
/// line of its own, and a tile is read and written by rows.
pub(crate) fn each_pair<T: Copy + num_traits::Zero>(
    square: &mut [T],
    m: usize,
    work: impl Fn(&mut T, &mut T),
) {
    const TILE: usize = 8;
    let whole = m - m % TILE;
    for top in (0..whole).step_by(TILE) {
        for left in (0..top).step_by(TILE) {
            let (mut upper, mut lower) = ([[T::zero(); TILE]; TILE], [[T::zero(); TILE]; TILE]);
            for row in 0..TILE {
                upper[row].copy_from_slice(&square[(left + row) * m + top..][..TILE]);
                lower[row].copy_from_slice(&square[(top + row) * m + left..][..TILE]);
            }
            for row in 0..TILE {
                for column in 0..TILE {
                    work(&mut upper[column][row], &mut lower[row][column]);
                }
            }
            for row in 0..TILE {
                square[(left + row) * m + top..][..TILE].copy_from_slice(&upper[row]);
                square[(top + row) * m + left..][..TILE].copy_from_slice(&lower[row]);
            }
        }
    }
    // The tiles on the diagonal, and the rows that fill no tile.
    for row in 0..m {
        let first = if row < whole { row - row % TILE } else { 0 };
        let (above, below) = square.split_at_mut(row * m);
        for column in first..row {
            work(&mut above[column * m + row], &mut below[column]);
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::{each_pair, mirror_upper};

    #[test]
    fn mirror_upper_copies_the_upper_triangle() {
        for m in [0, 1, 5, 9] {
            let numbered = Array2::from_shape_fn((m, m), |(i, j)| 100 * i + j);
            let expected = Array2::from_shape_fn((m, m), |(i, j)| 100 * i.min(j) + i.max(j));
            let mut by_rows = numbered.clone();
            mirror_upper(&mut by_rows.view_mut());
            assert_eq!(by_rows, expected);
            // By columns, the upper triangle is the other one in memory.
            let mut by_columns = numbered.t().to_owned();
            mirror_upper(&mut by_columns.view_mut().reversed_axes());
            assert_eq!(by_columns.t(), expected);
        }
    }

    #[test]
    fn every_pair_is_visited_once() {
        for m in [0, 1, 2, 7, 8, 9, 16, 20, 24] {
            let numbered = Array2::from_shape_fn((m, m), |(i, j)| 100 * i + j);
            let mut swapped = numbered.clone();
            each_pair(swapped.as_slice_mut().unwrap(), m, |upper, lower| {
                assert_eq!((*upper / 100, *upper % 100), (*lower % 100, *lower / 100));
                assert!(*upper / 100 < *upper % 100);
                std::mem::swap(upper, lower);
            });
            assert_eq!(swapped, numbered.t());
        }
    }
}
