//! What gradients of biases and of GIN's own term need: sums over rows, and over all
//! numbers, on slices.
//!
//! Rows are shared between threads in blocks of a fixed size, whose sums are added in
//! their order: it depends on the shape alone.

use egg_nn::blocks::{map, map_new};
use pulp::{Arch, Simd, WithSimd};

use super::tensor::Element;

/// Rows whose sum is one term of a column's sum.
const SUMMED_ROWS: usize = 256;

/// Products whose sum is one term of a [`dot`] product.
const SUMMED_PRODUCTS: usize = 1 << 13;

/// Sums of a [`dot`] product kept side by side, so that the next term need not wait for the
/// last. A constant, for the same bits on all processors; twice as many would not stay in
/// registers.
const LANES: usize = 32;

/// The gradient where the output was above 0 and 0 elsewhere, and the sum of
/// each of its columns.
pub(super) fn gate<T: Element>(gradient: &[T], output: &[T], width: usize) -> (Vec<T>, Vec<T>) {
    let arch = Arch::new();
    let chunk = SUMMED_ROWS * width;
    let (gated, partial) = map_new(gradient.len(), chunk, |block, gated: &mut [T]| {
        let from = block * chunk..block * chunk + gated.len();
        let mut sums = vec![T::default(); width];
        arch.dispatch(GateAndSum {
            gradient: &gradient[from.clone()],
            output: &output[from],
            gated,
            sums: &mut sums,
        });
        sums
    });
    (gated, in_order(&partial, width))
}

/// `gradient` where `output` is above 0, and the sum of each column of it. All but `sums`
/// are rows of its length.
struct GateAndSum<'a, T> {
    gradient: &'a [T],
    output: &'a [T],
    gated: &'a mut [T],
    sums: &'a mut [T],
}

impl<T: Element> WithSimd for GateAndSum<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let width = self.sums.len();
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let mut at = 0;
        while at + 4 * lanes <= width {
            self.columns::<S, 4>(simd, at, 4 * lanes);
            at += 4 * lanes;
        }
        while at + lanes <= width {
            self.columns::<S, 1>(simd, at, lanes);
            at += lanes;
        }
        for at in at..width {
            for row in (at..self.gated.len()).step_by(width) {
                if self.output[row] > T::default() {
                    self.gated[row] = self.gradient[row];
                    self.sums[at] += self.gradient[row];
                }
            }
        }
    }
}

impl<T: Element> GateAndSum<'_, T> {
    /// The columns of `N` vectors, `length` numbers, from `at` on.
    #[inline(always)]
    fn columns<S: Simd, const N: usize>(&mut self, simd: S, at: usize, length: usize) {
        let mut sums = [T::splat(simd, T::default()); N];
        for row in (at..self.gated.len()).step_by(self.sums.len()) {
            let gradient = T::vectors::<S>(&self.gradient[row..][..length]);
            let output = T::vectors::<S>(&self.output[row..][..length]);
            let gated = T::vectors_mut::<S>(&mut self.gated[row..][..length]);
            for k in 0..N {
                gated[k] = T::where_positive(simd, output[k], gradient[k]);
                sums[k] = T::sum(simd, sums[k], gated[k]);
            }
        }
        T::vectors_mut::<S>(&mut self.sums[at..][..length]).copy_from_slice(&sums);
    }
}

/// The sum of each column.
pub(super) fn column_sum<T: Element>(data: &[T], width: usize) -> Vec<T> {
    let arch = Arch::new();
    let partial = map(data, SUMMED_ROWS * width, |_, rows| {
        let mut sums = vec![T::default(); width];
        arch.dispatch(AddRows {
            rows,
            sums: &mut sums,
        });
        sums
    });
    in_order(&partial, width)
}

/// Adds rows to `sums`.
struct AddRows<'a, T> {
    rows: &'a [T],
    sums: &'a mut [T],
}

impl<T: Element> WithSimd for AddRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.rows.chunks_exact(self.sums.len().max(1)) {
            self.sums
                .iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += *value);
        }
    }
}

/// The sums of blocks, added in the order of the blocks.
fn in_order<T: Element>(partial: &[Vec<T>], width: usize) -> Vec<T> {
    let mut sums = vec![T::default(); width];
    for partial in partial {
        sums.iter_mut()
            .zip(partial)
            .for_each(|(sum, value)| *sum += *value);
    }
    sums
}

/// `sum(a o b)` for two slices of one length.
pub(super) fn dot<T: Element>(a: &[T], b: &[T]) -> T {
    let arch = Arch::new();
    let partial = map(a, SUMMED_PRODUCTS, |block, a| {
        let b = &b[block * SUMMED_PRODUCTS..][..a.len()];
        arch.dispatch(Dot { a, b })
    });
    partial.into_iter().fold(T::default(), |sum, term| sum + term)
}

struct Dot<'a, T> {
    a: &'a [T],
    b: &'a [T],
}

impl<T: Element> WithSimd for Dot<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T {
        let (blocks, rest) = self.a.as_chunks::<LANES>();
        let (others, others_rest) = self.b.as_chunks::<LANES>();
        let mut sums = [T::default(); LANES];
        for (a, b) in blocks.iter().zip(others) {
            for lane in 0..LANES {
                sums[lane] += a[lane] * b[lane];
            }
        }
        let terms = rest.iter().zip(others_rest).map(|(a, b)| *a * *b);
        sums.into_iter()
            .chain(terms)
            .fold(T::default(), |sum, term| sum + term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers: the sums are exact, in whatever order.
    fn counting(length: usize, seed: usize) -> Vec<f32> {
        (0..length).map(|i| ((i + seed) * 7 % 11) as f32 - 5.0).collect()
    }

    #[test]
    fn sums_are_those_of_the_definition() {
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
    fn a_nan_comes_through_a_gate_that_is_open() {
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
