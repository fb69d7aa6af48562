//! Distances and kernels of whole sets of subspaces, in parallel.
//!
//! Everything that depends only on `||U_i^T U_j||_F^2` goes through one pass of
//! matrix products over tiles of stacked bases: no m x m projector is formed,
//! and half the work is saved by symmetry.

use ndarray::{Array2, s};
use rayon::prelude::*;

use crate::compare::distance::{Distance, Extension, extended_distance, sum_of_squared_sines};
use crate::error::Result;
use crate::linalg;
use crate::manifold::point::{GrassmannPoint, check_common_ambient};
use crate::scalar::Scalar;

/// Stacked basis vectors in a tile: 256 x 256 products stay in the L2 cache.
const TILE: usize = 256;

/// `sum sin^2 = q - ||U_1^T U_2||_F^2` loses digits as it nears 0. Below this
/// share of q it is computed from the residual instead.
const CANCELLATION: f64 = 0.01;

/// The symmetric N x N matrix of distances between all pairs of points, in
/// parallel on rayon. The points may have different dimensions in every
/// distance, and the extension says how: `ProjectionFull` under
/// [`Extension::Projector`] is `||P_i - P_j||_F` for all of them.
///
/// `Projection` and `ProjectionFull` take one matrix product over stacked
/// bases, `O(N^2 p^2 m)` flops at the speed of GEMM; the others need the
/// principal angles of every pair.
///
/// # Errors
/// [`Error::InBatch`](crate::Error::InBatch) with the first point of another
/// ambient dimension; [`Error::Backend`](crate::Error::Backend).
///
/// ```
/// use egg_geometry::{Distance, Extension, GrassmannPoint, distance_matrix};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let d = distance_matrix(&[x, y], Distance::Projection, Extension::YeLim)?;
/// assert_eq!(d, array![[0.0, 1.0], [1.0, 0.0]]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn distance_matrix<T: Scalar>(
    points: &[GrassmannPoint<T>],
    distance: Distance,
    extension: Extension,
) -> Result<Array2<T>> {
    check_common_ambient(points)?;
    if let Some(weight) = squared_sine_weight::<T>(distance) {
        return Ok(from_squared_overlaps(points, |i, j, overlap| {
            if i == j {
                return T::zero();
            }
            squared_sines(&points[i], &points[j], overlap, extension).sqrt() * weight
        }));
    }
    symmetric_matrix(points.len(), |i, j| {
        if i == j {
            return Ok(T::zero());
        }
        extended_distance(&points[i], &points[j], distance, extension)
    })
}

/// The N x M matrix of distances from each of `points` to each of `others`, of
/// any dimensions: see [`distance_matrix`].
///
/// # Errors
/// As [`distance_matrix`].
///
/// ```
/// use egg_geometry::{Distance, Extension, GrassmannPoint, cross_distances};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let d = cross_distances(&[x.clone()], &[x, y], Distance::Gap, Extension::YeLim)?;
/// assert_eq!(d, array![[0.0, 1.0]]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn cross_distances<T: Scalar>(
    points: &[GrassmannPoint<T>],
    others: &[GrassmannPoint<T>],
    distance: Distance,
    extension: Extension,
) -> Result<Array2<T>> {
    check_common_ambient(points)?;
    check_common_ambient(others)?;
    let rows: Vec<Result<Vec<T>>> = points
        .par_iter()
        .enumerate()
        .map(|(index, point)| {
            others
                .iter()
                .map(|other| match squared_sine_weight::<T>(distance) {
                    Some(weight) => {
                        point.check_ambient(other)?;
                        let squared =
                            with_missing(sum_of_squared_sines(point, other), point, other, extension);
                        Ok(squared.sqrt() * weight)
                    }
                    None => extended_distance(point, other, distance, extension),
                })
                .collect::<Result<Vec<T>>>()
                .map_err(|error| error.at(index))
        })
        .collect();
    let mut matrix = Array2::zeros((points.len(), others.len()));
    for (mut to, row) in matrix.rows_mut().into_iter().zip(rows) {
        for (entry, value) in to.iter_mut().zip(row?) {
            *entry = value;
        }
    }
    Ok(matrix)
}

/// `w` for the distances that are `w sqrt(sum sin^2)`.
fn squared_sine_weight<T: Scalar>(distance: Distance) -> Option<T> {
    match distance {
        Distance::Projection => Some(T::one()),
        Distance::ProjectionFull => Some(T::SQRT_2()),
        _ => None,
    }
}

/// `sum sin^2 theta_i` from `||U_1^T U_2||_F^2`, extended to missing angles.
fn squared_sines<T: Scalar>(
    a: &GrassmannPoint<T>,
    b: &GrassmannPoint<T>,
    overlap: T,
    extension: Extension,
) -> T {
    let q = T::rounded(a.dimension().min(b.dimension()) as f64);
    let difference = q - overlap;
    let squared = if difference < T::rounded(CANCELLATION) * q {
        sum_of_squared_sines(a, b)
    } else {
        difference
    };
    with_missing(squared, a, b, extension)
}

/// Adds the squared sine of each missing angle: 1 where the extension counts it
/// as pi/2, and 1/2 where as pi/4.
fn with_missing<T: Scalar>(
    squared: T,
    a: &GrassmannPoint<T>,
    b: &GrassmannPoint<T>,
    extension: Extension,
) -> T {
    let missing = a.dimension().abs_diff(b.dimension()) as f64;
    match extension {
        Extension::Containment => squared,
        Extension::YeLim => squared + T::rounded(missing),
        Extension::Projector => squared + T::rounded(0.5 * missing),
    }
}

/// The symmetric N x N matrix of `f(i, j, ||U_i^T U_j||_F^2)`, for i <= j.
pub(crate) fn from_squared_overlaps<T: Scalar>(
    points: &[GrassmannPoint<T>],
    f: impl Fn(usize, usize, T) -> T + Sync,
) -> Array2<T> {
    linalg::init_backend();
    let stacked = Stacked::new(points);
    let tiles = stacked.tiles();
    let pairs: Vec<(usize, usize)> = (0..tiles.len())
        .flat_map(|i| (i..tiles.len()).map(move |j| (i, j)))
        .collect();
    let blocks: Vec<Array2<T>> = pairs
        .par_iter()
        .map_init(Vec::new, |product, &(i, j)| {
            let (rows, columns) = (&tiles[i], &tiles[j]);
            let mut block = stacked.block(rows, columns, product);
            for ((row, column), entry) in block.indexed_iter_mut() {
                let (row, column) = (rows.start + row, columns.start + column);
                if row <= column {
                    *entry = f(row, column, *entry);
                }
            }
            block
        })
        .collect();

    let mut matrix = Array2::zeros((points.len(), points.len()));
    for ((i, j), mut block) in pairs.into_iter().zip(blocks) {
        if i == j {
            // One entry serves both sides: its mirror image was summed in
            // another order.
            for row in 0..block.nrows() {
                for column in 0..row {
                    block[[row, column]] = block[[column, row]];
                }
            }
        }
        let (rows, columns) = (tiles[i].clone(), tiles[j].clone());
        matrix
            .slice_mut(s![columns.clone(), rows.clone()])
            .assign(&block.t());
        matrix.slice_mut(s![rows, columns]).assign(&block);
    }
    matrix
}

/// The bases of all points stacked, one basis vector per row.
struct Stacked<T> {
    /// (sum of p_i) x m
    vectors: Array2<T>,
    /// The first row of each point, and the number of rows.
    offsets: Vec<usize>,
}

impl<T: Scalar> Stacked<T> {
    fn new(points: &[GrassmannPoint<T>]) -> Self {
        let ambient = points.first().map_or(0, GrassmannPoint::ambient);
        let mut offsets = vec![0];
        for point in points {
            offsets.push(offsets.last().copied().unwrap_or(0) + point.dimension());
        }
        let mut vectors = Array2::zeros((offsets.last().copied().unwrap_or(0), ambient));
        for (point, range) in points.iter().zip(offsets.windows(2)) {
            vectors
                .slice_mut(s![range[0]..range[1], ..])
                .assign(&point.basis().t());
        }
        Self { vectors, offsets }
    }

    /// Runs of points with about [`TILE`] vectors each.
    fn tiles(&self) -> Vec<std::ops::Range<usize>> {
        let mut tiles = Vec::new();
        let mut first = 0;
        let count = self.offsets.len() - 1;
        for point in 0..count {
            let is_last = point + 1 == count;
            if is_last || self.offsets[point + 2] - self.offsets[first] > TILE {
                tiles.push(first..point + 1);
                first = point + 1;
            }
        }
        tiles
    }

    /// `||U_i^T U_j||_F^2` for i in one tile and j in another.
    fn block(
        &self,
        left: &std::ops::Range<usize>,
        right: &std::ops::Range<usize>,
        buffer: &mut Vec<T>,
    ) -> Array2<T> {
        let vectors = |tile: &std::ops::Range<usize>| {
            self.vectors
                .slice(s![self.offsets[tile.start]..self.offsets[tile.end], ..])
        };
        let (a, b) = (vectors(left), vectors(right));
        buffer.resize(a.nrows() * b.nrows(), T::zero());
        let Ok(mut product) = ndarray::ArrayViewMut2::from_shape((a.nrows(), b.nrows()), &mut buffer[..])
        else {
            unreachable!("the buffer was just given this size")
        };
        ndarray::linalg::general_mat_mul(T::one(), &a, &b.t(), T::zero(), &mut product);

        let width = b.nrows();
        let mut block = Array2::zeros((left.len(), right.len()));
        let mut sums = vec![T::zero(); width];
        for (i, mut row) in left.clone().zip(block.rows_mut()) {
            let first = self.offsets[left.start];
            let rows = self.offsets[i] - first..self.offsets[i + 1] - first;
            column_squares(&buffer[rows.start * width..rows.end * width], &mut sums);
            let first = self.offsets[right.start];
            for (j, entry) in right.clone().zip(row.iter_mut()) {
                *entry = sums[self.offsets[j] - first..self.offsets[j + 1] - first]
                    .iter()
                    .copied()
                    .sum();
            }
        }
        block
    }
}

/// Sums of squares down the columns of a row-major matrix `sums.len()` wide, a
/// few columns at a time so that the sums stay in registers.
fn column_squares<T: Scalar>(matrix: &[T], sums: &mut [T]) {
    const LANES: usize = 8;
    let width = sums.len();
    let mut start = 0;
    while start + LANES <= width {
        let mut lanes = [T::zero(); LANES];
        for row in matrix.chunks_exact(width) {
            for (lane, entry) in lanes.iter_mut().zip(&row[start..start + LANES]) {
                *lane += *entry * *entry;
            }
        }
        sums[start..start + LANES].copy_from_slice(&lanes);
        start += LANES;
    }
    for column in start..width {
        sums[column] = matrix
            .chunks_exact(width)
            .map(|row| row[column] * row[column])
            .sum();
    }
}

/// A symmetric N x N matrix from a function of i <= j, rows in parallel.
pub(crate) fn symmetric_matrix<T: Scalar>(
    count: usize,
    entry: impl Fn(usize, usize) -> Result<T> + Sync,
) -> Result<Array2<T>> {
    let rows: Vec<Result<Vec<T>>> = (0..count)
        .into_par_iter()
        .map(|i| (i..count).map(|j| entry(i, j)).collect())
        .collect();
    let mut matrix = Array2::zeros((count, count));
    for (i, row) in rows.into_iter().enumerate() {
        for (j, value) in (i..count).zip(row?) {
            matrix[[i, j]] = value;
            matrix[[j, i]] = value;
        }
    }
    Ok(matrix)
}
