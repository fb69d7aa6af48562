//! Sums over rows and over all numbers, with and without the gate of a ReLU, on slices.
//!
//! Rows are shared between threads in blocks of a fixed size, whose sums are added in
//! their order: the order depends only on the shape.

use crate::blocks::{map, map_new};
use crate::columns::part;
use crate::element::Element;
use crate::{for_columns, vectorised};

/// Rows whose sum is one term of a column's sum.
const SUMMED_ROWS: usize = 256;

/// Products whose sum is one term of a [`dot`] product.
const SUMMED_PRODUCTS: usize = 1 << 13;

/// Independent partial sums of a [`dot`] product, so that an addition need not wait for the
/// previous one. A constant, so that all processors give the same bits; twice as many would not
/// stay in registers.
const LANES: usize = 32;

/// The gradient where the output was above 0 and 0 elsewhere, and the sum of
/// each of its columns.
pub fn gate<T: Element>(gradient: &[T], output: &[T], width: usize) -> (Vec<T>, Vec<T>) {
    let chunk = SUMMED_ROWS * width;
    let (gated, partial) = map_new(gradient.len(), chunk, |block, gated: &mut [T]| {
        let from = block * chunk..block * chunk + gated.len();
        let mut sums = vec![T::zero(); width];
        gate_and_sum(&gradient[from.clone()], &output[from], gated, &mut sums);
        sums
    });
    (gated, sum_in_order(&partial, width))
}

/// The sum of each column.
pub fn column_sum<T: Element>(data: &[T], width: usize) -> Vec<T> {
    let partial = map(data, SUMMED_ROWS * width, |_, rows| {
        let mut sums = vec![T::zero(); width];
        add_rows(rows, &mut sums);
        sums
    });
    sum_in_order(&partial, width)
}

/// The sums of blocks, added in the order of the blocks.
///
/// ```
/// assert_eq!(egg_tensor::sums::sum_in_order(&[vec![1.0, 2.0], vec![3.0, 4.0]], 2), [4.0, 6.0]);
/// ```
pub fn sum_in_order<T: Element>(partial: &[Vec<T>], width: usize) -> Vec<T> {
    let mut sums = vec![T::zero(); width];
    for partial in partial {
        sums.iter_mut()
            .zip(partial)
            .for_each(|(sum, value)| *sum += *value);
    }
    sums
}

/// `sum(a o b)` for two slices of one length.
pub fn dot<T: Element>(a: &[T], b: &[T]) -> T {
    let partial = map(a, SUMMED_PRODUCTS, |block, a| {
        dot_of_block(a, &b[block * SUMMED_PRODUCTS..][..a.len()])
    });
    partial.into_iter().fold(T::zero(), |sum, term| sum + term)
}

vectorised! {
    fn dot_of_block<T: Element>(a: &'a [T], b: &'a [T]) -> T {
        let ((blocks, rest), (others, others_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        let mut sums = [T::zero(); LANES];
        for (a, b) in blocks.iter().zip(others) {
            for lane in 0..LANES {
                sums[lane] += a[lane] * b[lane];
            }
        }
        let terms = rest.iter().zip(others_rest).map(|(a, b)| *a * *b);
        sums.into_iter().chain(terms).fold(T::zero(), |sum, term| sum + term)
    }
}

vectorised! {
    /// The gradient where the output of a ReLU is above 0, and 0 elsewhere; its
    /// columns are added to `sums`.
    pub(crate) fn gate_and_sum<T: Element>(gradient: &'a [T], output: &'a [T], gated_out: &'a mut [T], sums: &'a mut [T]) -> () {
        let width = sums.len();
        for_columns!(width, at, N => {
            let mut total = part::<T, N>(sums, at);
            let rows = gradient.chunks_exact(width).zip(output.chunks_exact(width));
            for (out, (g, y)) in gated_out.chunks_exact_mut(width).zip(rows) {
                let (mut g, y) = (part::<T, N>(g, at), part::<T, N>(y, at));
                for lane in 0..N {
                    g[lane] = g[lane].gated_by(y[lane]);
                    total[lane] += g[lane];
                }
                out[at..at + N].copy_from_slice(&g);
            }
            sums[at..at + N].copy_from_slice(&total);
        });
    }
}

vectorised! {
    /// Adds the rows of a block to `sums`.
    pub(crate) fn add_rows<T: Element>(data: &'a [T], sums: &'a mut [T]) -> () {
        let width = sums.len();
        for_columns!(width, at, N => {
            let mut total = part::<T, N>(sums, at);
            for row in data.chunks_exact(width) {
                let row = part::<T, N>(row, at);
                for lane in 0..N {
                    total[lane] += row[lane];
                }
            }
            sums[at..at + N].copy_from_slice(&total);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers: the sums are exact in any order.
    fn counting(length: usize, seed: usize) -> Vec<f32> {
        (0..length).map(|i| ((i + seed) * 7 % 11) as f32 - 5.0).collect()
    }

    #[test]
    fn sums_match_their_definition() {
        for (rows, width) in [
            (0, 3),
            (1, 1),
            (5, 7),
            (256, 16),
            (300, 64),
            (257, 83),
            (1000, 129),
        ] {
            let (gradient, output) = (counting(rows * width, 0), counting(rows * width, 5));
            let expected: Vec<f32> = gradient
                .iter()
                .zip(&output)
                .map(|(g, y)| if *y > 0.0 { *g } else { 0.0 })
                .collect();
            let column = |data: &[f32], at: usize| data.iter().skip(at).step_by(width).sum::<f32>();
            let columns = |data: &[f32]| (0..width).map(|at| column(data, at)).collect::<Vec<_>>();

            let (gated, sums) = gate(&gradient, &output, width);
            assert_eq!(
                (&gated, &sums),
                (&expected, &columns(&expected)),
                "{rows} x {width}"
            );
            assert_eq!(
                column_sum(&gradient, width),
                columns(&gradient),
                "{rows} x {width}"
            );

            let products: f32 = gradient.iter().zip(&output).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&gradient, &output), products, "{rows} x {width}");
        }
    }

    #[test]
    fn open_gate_passes_nan() {
        for at in [0, 40, 65] {
            let (mut gradient, output) = (vec![1.0; 66], vec![1.0; 66]);
            gradient[at] = f64::NAN;
            let (gated, sums) = gate(&gradient, &output, 66);
            assert!(gated[at].is_nan() && sums[at].is_nan());
            let (gated, _) = gate(&gradient, &[0.0; 66], 66);
            assert_eq!(gated, [0.0; 66]);
        }
    }
}
