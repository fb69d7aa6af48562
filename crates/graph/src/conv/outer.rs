//! The gradient of a weight behind a sparse matrix, on slices, in one pass over the rows.
//!
//! Of `y = M V + 1 b^T`, or its ReLU: `dV = M^T g` and `db = g^T 1`, with `g` gated by
//! `y > 0`. `V` has few rows, and its gradient stays in the nearest cache while rows of `g`
//! are added to it. Rows are shared between threads in blocks whose size depends on the
//! shape alone; their sums are added in order.

use egg_tensor::Element;
use egg_tensor::blocks::map;
use egg_tensor::sums::sum_in_order;
use pulp::{Arch, Simd, WithSimd};

use crate::sparse::CsrMatrix;

/// The least rows of a block, and the most blocks.
const ROWS: usize = 256;
const BLOCKS: usize = 16;

/// `dV` (columns of the matrix x width) and `db`.
pub(super) fn outer<T: Element>(
    matrix: &CsrMatrix,
    gradient: &[T],
    output: Option<&[T]>,
    width: usize,
) -> (Vec<T>, Vec<T>) {
    let (rows, columns) = matrix.shape();
    let arch = Arch::new();
    let block_rows = ROWS.max(rows.div_ceil(BLOCKS));
    let partial = map(gradient, block_rows * width, |block, gradient| {
        let first = block * block_rows;
        // The bias is one row more.
        let mut sums = vec![T::default(); (columns + 1) * width];
        arch.dispatch(Outer {
            matrix,
            first,
            gradient,
            output: output.map(|output| &output[first * width..][..gradient.len()]),
            width,
            sums: &mut sums,
        });
        sums
    });
    let mut sums = sum_in_order(&partial, (columns + 1) * width);
    let bias = sums.split_off(columns * width);
    (sums, bias)
}

/// Some rows of it.
struct Outer<'a, T> {
    matrix: &'a CsrMatrix,
    first: usize,
    gradient: &'a [T],
    output: Option<&'a [T]>,
    width: usize,
    sums: &'a mut [T],
}

impl<T: Element> WithSimd for Outer<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let mut at = 0;
        while at + 4 * lanes <= self.width {
            self.columns::<S, 4>(simd, at, 4 * lanes);
            at += 4 * lanes;
        }
        while at + lanes <= self.width {
            self.columns::<S, 1>(simd, at, lanes);
            at += lanes;
        }
        for at in at..self.width {
            self.column(at);
        }
    }
}

impl<T: Element> Outer<'_, T> {
    /// The columns of `N` vectors, `length` numbers, from `at` on.
    #[inline(always)]
    fn columns<S: Simd, const N: usize>(&mut self, simd: S, at: usize, length: usize) {
        let (width, matrix) = (self.width, self.matrix);
        let mut bias = [T::splat(simd, T::default()); N];
        for (row, from) in (at..self.gradient.len()).step_by(width).enumerate() {
            let mut g = [bias[0]; N];
            g.copy_from_slice(T::vectors::<S>(&self.gradient[from..][..length]));
            if let Some(output) = self.output {
                let output = T::vectors::<S>(&output[from..][..length]);
                for k in 0..N {
                    g[k] = T::where_positive(simd, output[k], g[k]);
                }
            }
            for k in 0..N {
                bias[k] = T::add_vectors(simd, bias[k], g[k]);
            }
            let entries = matrix.offsets()[self.first + row]..matrix.offsets()[self.first + row + 1];
            for (column, value) in matrix.columns()[entries.clone()]
                .iter()
                .zip(&matrix.values()[entries])
            {
                let value = T::splat(simd, T::from_f32(*value));
                let sums = T::vectors_mut::<S>(&mut self.sums[*column as usize * width + at..][..length]);
                for k in 0..N {
                    sums[k] = T::add_product(simd, sums[k], value, g[k]);
                }
            }
        }
        let last = self.sums.len() - width;
        T::vectors_mut::<S>(&mut self.sums[last + at..][..length]).copy_from_slice(&bias);
    }

    /// One column.
    fn column(&mut self, at: usize) {
        let width = self.width;
        let last = self.sums.len() - width;
        for (row, from) in (at..self.gradient.len()).step_by(width).enumerate() {
            // Not `<=`: a NaN of the output lets nothing through.
            let open = self.output.is_none_or(|output| output[from] > T::default());
            if !open {
                continue;
            }
            let g = self.gradient[from];
            self.sums[last + at] += g;
            for (column, value) in self.matrix.row(self.first + row) {
                self.sums[column * width + at] += T::from_f32(value) * g;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    /// Small whole numbers: the sums are exact, in whatever order.
    fn counting(length: usize, seed: usize) -> Vec<f32> {
        (0..length).map(|i| ((i + seed) * 7 % 11) as f32 - 5.0).collect()
    }

    #[test]
    fn gradients_are_those_of_the_definition() {
        for (rows, columns, width) in [
            (0, 2, 3),
            (1, 1, 1),
            (7, 3, 5),
            (300, 4, 16),
            (257, 5, 83),
            (5000, 7, 64),
        ] {
            let dense = Array2::from_shape_fn((rows, columns), |(i, j)| match (i + j) % 3 {
                0 => ((i + 2 * j) % 5) as f32 - 2.0,
                _ => 0.0,
            });
            let matrix = CsrMatrix::from_dense(dense.view()).unwrap();
            let (gradient, output) = (counting(rows * width, 0), counting(rows * width, 5));
            for output in [None, Some(&output[..])] {
                let g = Array2::from_shape_fn((rows, width), |(i, j)| {
                    let at = i * width + j;
                    match output {
                        Some(output) if output[at] <= 0.0 => 0.0,
                        _ => gradient[at],
                    }
                });
                let (weight, bias) = outer(&matrix, &gradient, output, width);
                let what = format!("{rows} x {columns}, {width}");
                let expected = Array2::from_shape_fn((columns, width), |(i, j)| {
                    (0..rows).map(|row| dense[[row, i]] * g[[row, j]]).sum::<f32>()
                });
                assert_eq!(weight, expected.into_iter().collect::<Vec<_>>(), "{what}");
                assert_eq!(bias, g.sum_axis(ndarray::Axis(0)).to_vec(), "{what}");
            }
        }
    }
}
