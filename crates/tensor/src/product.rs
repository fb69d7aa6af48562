//! Dense matrix products on the `gemm` crate, one thread per product.
//!
//! candle calls the same kernels with as many threads as the machine has; here
//! the callers split rows into fixed blocks instead, so that the split is the
//! same everywhere, and what follows a product finds its block still in cache.

use std::mem::MaybeUninit;

use gemm::Parallelism;

use crate::element::Element;

/// A matrix in row-major order, or the transpose of one.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T: Element> Matrix<'a, T> {
    /// The `rows` x `columns` matrix that `data` holds row by row.
    ///
    /// # Panics
    /// Unless it has as many numbers.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows} x {columns} matrix");
        Self {
            data,
            rows,
            columns,
            row_stride: columns,
            column_stride: 1,
        }
    }

    /// The transpose, without moving a number.
    pub fn transposed(self) -> Self {
        Self {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

/// `left right`, row by row, in new memory.
///
/// # Panics
/// As [`multiply`].
pub fn product<T: Element>(left: Matrix<'_, T>, right: Matrix<'_, T>) -> Vec<T> {
    let length = left.rows * right.columns;
    let mut out = Vec::with_capacity(length);
    multiply(left, right, &mut out.spare_capacity_mut()[..length]);
    // SAFETY: `multiply` has filled as many places, which are within the capacity.
    unsafe { out.set_len(length) };
    out
}

/// Writes `left right` over `out`, row by row.
///
/// # Panics
/// As [`multiply`].
pub fn multiply_over<T: Element>(left: Matrix<'_, T>, right: Matrix<'_, T>, out: &mut [T]) {
    // SAFETY: `MaybeUninit<T>` has the layout of `T`, and `multiply` only writes numbers to it.
    let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [MaybeUninit<T>]) };
    multiply(left, right, out);
}

/// Writes `left right` into `out`, row by row, and gives it back filled.
///
/// # Panics
/// Unless the inner dimensions agree and `out` has the length of the result.
pub fn multiply<'a, T: Element>(
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    out: &'a mut [MaybeUninit<T>],
) -> &'a mut [T] {
    assert_eq!(left.columns, right.rows, "inner dimensions of a product");
    assert_eq!(out.len(), left.rows * right.columns, "room for a product");
    // SAFETY: `Matrix::new` made sure that each operand's slice holds exactly
    // rows * columns numbers, and its strides are those of that slice read by
    // rows or by columns, so every index gemm forms is inside it. `out` was
    // just found to hold the whole result and is borrowed mutably, so it
    // overlaps neither operand. `read_dst` is false: gemm only writes to it, and
    // writes all of it, zeros if the inner dimension is 0; so it may be read afterwards.
    // Strides that are ever used are shorter than a slice, so they keep their sign.
    unsafe {
        gemm::gemm(
            left.rows,
            right.columns,
            left.columns,
            out.as_mut_ptr().cast::<T>(),
            1,
            right.columns.cast_signed(),
            false,
            left.data.as_ptr(),
            left.column_stride.cast_signed(),
            left.row_stride.cast_signed(),
            right.data.as_ptr(),
            right.column_stride.cast_signed(),
            right.row_stride.cast_signed(),
            T::zero(),
            T::one(),
            false,
            false,
            false,
            Parallelism::None,
        );
        out.assume_init_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(len: usize) -> Vec<f64> {
        (0..len).map(|i| (i * 7 % 11) as f64 - 5.0).collect()
    }

    #[test]
    fn products_of_every_shape_and_transpose_match_the_definition() {
        for (m, n, k) in [
            (1, 1, 1),
            (3, 5, 2),
            (17, 4, 33),
            (65, 63, 70),
            (1, 31, 15),
            (0, 4, 3),
            (2, 3, 0),
        ] {
            let a = counting(m * k);
            let b = counting(k * n);
            let transpose = |x: &[f64], rows: usize, columns: usize| -> Vec<f64> {
                (0..rows * columns)
                    .map(|i| x[(i % rows) * columns + i / rows])
                    .collect()
            };
            let want: Vec<f64> = (0..m * n)
                .map(|i| (0..k).map(|l| a[i / n * k + l] * b[l * n + i % n]).sum())
                .collect();
            let (at, bt) = (transpose(&a, m, k), transpose(&b, k, n));
            let lefts = [Matrix::new(&a, m, k), Matrix::new(&at, k, m).transposed()];
            let rights = [Matrix::new(&b, k, n), Matrix::new(&bt, n, k).transposed()];
            for left in lefts {
                for right in rights {
                    let mut out = vec![MaybeUninit::new(f64::NAN); m * n];
                    assert_eq!(multiply(left, right, &mut out), want, "{m} x {k} by {k} x {n}");
                    assert_eq!(product(left, right), want, "{m} x {k} by {k} x {n}");
                    let mut out = vec![f64::NAN; m * n];
                    multiply_over(left, right, &mut out);
                    assert_eq!(out, want, "{m} x {k} by {k} x {n}");
                }
            }
            // Twice as many to a vector. Small whole numbers: the sums are exact.
            let narrow = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
            let out = product(Matrix::new(&narrow(&a), m, k), Matrix::new(&narrow(&b), k, n));
            assert_eq!(out, narrow(&want), "{m} x {k} by {k} x {n} in f32");
        }
    }

    #[test]
    #[should_panic(expected = "room for a product")]
    fn short_output_is_rejected_before_gemm_writes() {
        let a = counting(4);
        multiply(
            Matrix::new(&a, 2, 2),
            Matrix::new(&a, 2, 2),
            &mut [MaybeUninit::new(0.0); 3],
        );
    }
}
