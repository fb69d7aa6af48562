//! Matrices that are known by their products.

use egg_geometry::{Scalar, dense};
use egg_graph::CsrMatrix;
use egg_tensor::blocks;
use ndarray::{Array2, ArrayView2};

use crate::error::{Error, Result};
use crate::tall;

/// An n x m matrix `A` that can be multiplied by thin ones, from either side.
///
/// Products must be the same bits on any number of threads.
pub trait LinearMap {
    /// The type of the entries, for what counts as noise.
    type Scalar: Scalar;

    /// n and m.
    fn shape(&self) -> (usize, usize);

    /// `A X` (n x l) for X (m x l).
    ///
    /// # Errors
    /// Of the product.
    fn apply(&self, x: &Array2<f64>) -> Result<Array2<f64>>;

    /// `A^T Y` (m x l) for Y (n x l).
    ///
    /// # Errors
    /// Of the product.
    fn apply_transposed(&self, y: &Array2<f64>) -> Result<Array2<f64>>;

    /// `||A||_F^2`, if it is known without forming the matrix; it is estimated
    /// otherwise.
    fn sum_of_squares(&self) -> Option<f64> {
        None
    }
}

/// A dense matrix, every entry finite.
#[derive(Debug, Clone)]
pub struct DenseMap<T> {
    matrix: Array2<f64>,
    kind: std::marker::PhantomData<T>,
}

impl<T: Scalar> DenseMap<T> {
    /// Copies the matrix, in f64.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NonFinite`].
    pub fn new(matrix: ArrayView2<'_, T>) -> Result<Self> {
        if matrix.is_empty() {
            return Err(Error::Empty { what: "H" });
        }
        if let Some(((row, column), value)) = matrix.indexed_iter().find(|(_, x)| !x.is_finite()) {
            return Err(Error::NonFinite {
                what: "H",
                row,
                column,
                value: value.as_f64(),
            });
        }
        let numbers = matrix.iter().map(|x| x.as_f64()).collect();
        Ok(Self {
            matrix: tall::matrix(numbers, matrix.nrows(), matrix.ncols()),
            kind: std::marker::PhantomData,
        })
    }
}

impl<T: Scalar> LinearMap for DenseMap<T> {
    type Scalar = T;

    fn shape(&self) -> (usize, usize) {
        self.matrix.dim()
    }

    fn apply(&self, x: &Array2<f64>) -> Result<Array2<f64>> {
        tall::times(&self.matrix, x.view())
    }

    fn apply_transposed(&self, y: &Array2<f64>) -> Result<Array2<f64>> {
        // Few blocks: each has a product of the size of the result.
        let (rows, columns) = self.matrix.dim();
        if rows >= columns {
            return tall::cross(&self.matrix, y);
        }
        let mut product = Array2::zeros((columns, y.ncols()));
        dense::multiply(1.0, self.matrix.t(), y.view(), 0.0, &mut product.view_mut())?;
        Ok(product)
    }

    fn sum_of_squares(&self) -> Option<f64> {
        Some(self.matrix.iter().map(|x| x * x).sum())
    }
}

/// A sparse matrix with its transposed, so that both products are shared
/// between threads by rows of the result.
#[derive(Debug, Clone)]
pub struct SparseMap {
    matrix: CsrMatrix,
    transposed: CsrMatrix,
}

impl SparseMap {
    /// Takes the matrix and transposes a copy.
    ///
    /// # Errors
    /// [`Error::Empty`] if it has no rows or no columns.
    ///
    /// ```
    /// use egg_cluster::egg::{LinearMap, SparseMap};
    /// use egg_graph::CsrMatrix;
    /// use ndarray::array;
    ///
    /// let map = SparseMap::new(CsrMatrix::from_dense(array![[0.0, 2.0], [1.0, 0.0]].view())?)?;
    /// assert_eq!(map.apply(&array![[1.0], [3.0]])?, array![[6.0], [1.0]]);
    /// assert_eq!(map.sum_of_squares(), Some(5.0));
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn new(matrix: CsrMatrix) -> Result<Self> {
        let (rows, columns) = matrix.shape();
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { what: "H" });
        }
        Ok(Self {
            transposed: matrix.transposed(),
            matrix,
        })
    }
}

impl LinearMap for SparseMap {
    type Scalar = f32;

    fn shape(&self) -> (usize, usize) {
        self.matrix.shape()
    }

    fn apply(&self, x: &Array2<f64>) -> Result<Array2<f64>> {
        product(&self.matrix, x)
    }

    fn apply_transposed(&self, y: &Array2<f64>) -> Result<Array2<f64>> {
        product(&self.transposed, y)
    }

    fn sum_of_squares(&self) -> Option<f64> {
        Some(self.matrix.values().iter().map(|x| f64::from(*x).powi(2)).sum())
    }
}

fn product(matrix: &CsrMatrix, x: &Array2<f64>) -> Result<Array2<f64>> {
    const ROWS: usize = 64;
    let (rows, columns) = matrix.shape();
    if x.nrows() != columns {
        return Err(Error::Length {
            what: "right factor",
            unit: "rows",
            expected: columns,
            found: x.nrows(),
        });
    }
    let width = x.ncols();
    let x = x.as_standard_layout();
    let numbers = x.as_slice().unwrap_or(&[]);
    let mut out = vec![0.0; rows * width];
    if width > 0 {
        blocks::map_chunks(&mut out, ROWS * width, |block, part| {
            for (at, sum) in part.chunks_exact_mut(width).enumerate() {
                for (column, value) in matrix.row(block * ROWS + at) {
                    let value = f64::from(value);
                    let row = &numbers[column * width..(column + 1) * width];
                    for (sum, x) in sum.iter_mut().zip(row) {
                        *sum += value * x;
                    }
                }
            }
        });
    }
    Ok(tall::matrix(out, rows, width))
}
