//! Inner products with, and sums of, rows that lie anywhere in a matrix.

use egg_tensor::Element;
use pulp::{Arch, Simd, WithSimd};

/// Independent sums, so that additions need not wait for each other.
const LANES: usize = 8;

/// Columns whose sums stay in registers.
const COLUMNS: usize = 16;

/// Appends `own . z_j` for each j of `rows`, of `z` with rows as long as `own`.
pub(super) fn append_products<T: Element>(z: &[T], own: &[T], rows: &[u32], out: &mut Vec<T>) {
    Arch::new().dispatch(Products { z, own, rows, out });
}

/// Adds `slopes[k]` times row `rows[k]` of `z` to `sum`, in order.
pub(super) fn add_rows<T: Element>(z: &[T], rows: &[u32], slopes: &[T], sum: &mut [T]) {
    Arch::new().dispatch(Sum { z, rows, slopes, sum });
}

struct Products<'a, T> {
    z: &'a [T],
    own: &'a [T],
    rows: &'a [u32],
    out: &'a mut Vec<T>,
}

impl<T: Element> WithSimd for Products<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.own.len();
        self.out.reserve(self.rows.len());
        for row in self.rows {
            let start = *row as usize * width;
            self.out.push(dot(self.own, &self.z[start..start + width]));
        }
    }
}

#[inline(always)]
fn dot<T: Element>(a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [T::zero(); LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let mut rest = T::zero();
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest += *a * *b;
    }
    let pairs = [
        lanes[0] + lanes[4],
        lanes[1] + lanes[5],
        lanes[2] + lanes[6],
        lanes[3] + lanes[7],
    ];
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]) + rest
}

struct Sum<'a, T> {
    z: &'a [T],
    rows: &'a [u32],
    slopes: &'a [T],
    sum: &'a mut [T],
}

impl<T: Element> WithSimd for Sum<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.sum.len();
        let (blocks, rest) = self.sum.as_chunks_mut::<COLUMNS>();
        let whole = blocks.len() * COLUMNS;
        for (block, sum) in blocks.iter_mut().enumerate() {
            let mut sums = *sum;
            for (row, slope) in self.rows.iter().zip(self.slopes) {
                let start = *row as usize * width + block * COLUMNS;
                let z = &self.z[start..start + COLUMNS];
                for (sum, z) in sums.iter_mut().zip(z) {
                    *sum += *slope * *z;
                }
            }
            *sum = sums;
        }
        for (column, sum) in (whole..).zip(rest) {
            for (row, slope) in self.rows.iter().zip(self.slopes) {
                *sum += *slope * self.z[*row as usize * width + column];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::abs_diff_eq;

    use super::*;

    #[test]
    fn every_width_matches_the_definition() {
        for width in [1, 3, 8, 16, 17, 40] {
            let z: Vec<f64> = (0..6 * width)
                .map(|k| ((k * 37 % 23) as f64 - 11.0) / 7.0)
                .collect();
            let row = |j: u32| &z[j as usize * width..][..width];
            let rows = [4u32, 0, 5, 5];
            let mut products = vec![-1.0];
            append_products(&z, row(2), &rows, &mut products);
            let slopes = [0.5, -2.0, 1.0, 3.0];
            let mut sum = row(1).to_vec();
            add_rows(&z, &rows, &slopes, &mut sum);
            assert_eq!(products[0], -1.0);
            for (k, &j) in rows.iter().enumerate() {
                let expected: f64 = row(2).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                assert!(
                    abs_diff_eq!(products[k + 1], expected, epsilon = 1e-12),
                    "width {width}"
                );
            }
            for (column, sum) in sum.iter().enumerate() {
                let pulled = rows.iter().zip(slopes).map(|(j, slope)| slope * row(*j)[column]);
                let expected = row(1)[column] + pulled.sum::<f64>();
                assert!(abs_diff_eq!(*sum, expected, epsilon = 1e-12), "width {width}");
            }
        }
    }
}
