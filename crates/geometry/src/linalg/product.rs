//! Matrix products, cut into pieces for which OpenBLAS has kernels that don't
//! pack their operands first; those of many rows with a few others are made here, where
//! they stay in registers or the nearest cache.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use pulp::{Arch, Simd, WithSimd};

use super::padded::vectors;
use crate::tuning::accuracy::LONGEST_SUM;
use crate::tuning::speed::{GRAM_HALVED_ORDER, PRODUCT_FEW_COLUMNS, PRODUCT_NARROW, PRODUCT_PIECE};

/// `C <- alpha A B + beta C`. With `beta = 0` what `C` held does not matter.
///
/// The cuts depend only on the shape.
pub(crate) fn multiply(
    alpha: f64,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    beta: f64,
    c: &mut ArrayViewMut2<'_, f64>,
) {
    let ((rows, inner), columns) = (a.dim(), b.ncols());
    if beta == 0.0 && (1..=LONGEST_SUM).contains(&inner) && (1..=PRODUCT_FEW_COLUMNS).contains(&columns) {
        let slices = (a.to_slice(), b.t().to_slice(), c.as_slice_mut());
        if let (Some(a), Some(b), Some(c)) = slices {
            return multiply_rows(alpha, a, b, inner, c);
        }
    }
    if rows.saturating_mul(inner).saturating_mul(columns) <= PRODUCT_PIECE {
        general_mat_mul(alpha, &a, &b, beta, c);
    } else if rows.max(columns) <= PRODUCT_NARROW {
        let mut beta = beta;
        for (from, to) in pieces(inner, (PRODUCT_PIECE / (rows * columns)).min(LONGEST_SUM)) {
            general_mat_mul(
                alpha,
                &a.slice(s![.., from..to]),
                &b.slice(s![from..to, ..]),
                beta,
                c,
            );
            beta = 1.0;
        }
    } else if inner.max(columns) <= PRODUCT_NARROW {
        for (from, to) in pieces(rows, PRODUCT_PIECE / (inner * columns)) {
            let mut c = c.slice_mut(s![from..to, ..]);
            general_mat_mul(alpha, &a.slice(s![from..to, ..]), &b, beta, &mut c);
        }
    } else {
        general_mat_mul(alpha, &a, &b, beta, c);
    }
}

/// `C <- A A^T`. The lower left quarter is the transpose of the upper right one, which saves a
/// quarter of the work.
pub(crate) fn gram(a: ArrayView2<'_, f64>, c: &mut ArrayViewMut2<'_, f64>) {
    let order = a.nrows();
    if order < GRAM_HALVED_ORDER {
        return multiply(1.0, a, a.t(), 0.0, c);
    }
    // Kernels work on whole vectors.
    let half = (order / 2).next_multiple_of(8);
    let (mut upper, mut lower) = c.view_mut().split_at(Axis(0), half);
    let (first, second) = a.split_at(Axis(0), half);
    multiply(1.0, first, a.t(), 0.0, &mut upper);
    let (mut turned, mut corner) = lower.view_mut().split_at(Axis(1), half);
    multiply(1.0, second, second.t(), 0.0, &mut corner);
    turned.assign(&upper.slice(s![.., half..]).t());
}

/// As few pieces as `longest` allows, of about the same length.
fn pieces(length: usize, longest: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = length.div_ceil(longest);
    (0..count).map(move |piece| (piece * length / count, (piece + 1) * length / count))
}

/// `C <- alpha A B^T`: rows of `inner` numbers in `a` and `b`, a row of `C` for each of `a`,
/// a number in it for each of `b`.
fn multiply_rows(alpha: f64, a: &[f64], b: &[f64], inner: usize, c: &mut [f64]) {
    Arch::new().dispatch(MultiplyRows {
        alpha,
        a,
        b,
        inner,
        c,
    });
}

struct MultiplyRows<'a> {
    alpha: f64,
    a: &'a [f64],
    b: &'a [f64],
    inner: usize,
    c: &'a mut [f64],
}

impl WithSimd for MultiplyRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let columns = self.b.len() / self.inner;
        for (a, c) in self
            .a
            .chunks_exact(self.inner)
            .zip(self.c.chunks_exact_mut(columns))
        {
            let (c, rest) = c.as_chunks_mut::<4>();
            let (whole, last) = self.b.split_at(4 * c.len() * self.inner);
            for (c, b) in c.iter_mut().zip(whole.chunks_exact(4 * self.inner)) {
                *c = dots::<S, 4>(simd, self.alpha, a, b);
            }
            for (c, b) in rest.iter_mut().zip(last.chunks_exact(self.inner)) {
                [*c] = dots::<S, 1>(simd, self.alpha, a, b);
            }
        }
    }
}

/// `alpha a b_k` for the `N` rows of `b`.
#[inline(always)]
fn dots<S: Simd, const N: usize>(simd: S, alpha: f64, a: &[f64], b: &[f64]) -> [f64; N] {
    let inner = a.len();
    let from = vectors::<S>(a);
    let mut sums = [simd.splat_f64s(0.0); N];
    let mut rows = [from; N];
    for k in 0..N {
        rows[k] = &vectors::<S>(&b[k * inner..][..inner])[..from.len()];
    }
    for at in 0..from.len() {
        for k in 0..N {
            sums[k] = simd.mul_add_e_f64s(from[at], rows[k][at], sums[k]);
        }
    }
    let mut out = [0.0; N];
    let whole = size_of_val(from) / size_of::<f64>();
    for k in 0..N {
        let mut sum = simd.reduce_sum_f64s(sums[k]);
        for at in whole..inner {
            sum += a[at] * b[k * inner + at];
        }
        out[k] = alpha * sum;
    }
    out
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    /// Small integers: every sum is exact in any order.
    fn integers(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            ((7 * i + 3 * j + seed) % 5) as f64 - 2.0
        })
    }

    /// Row by row.
    fn flat(rows: usize, columns: usize, seed: usize) -> Vec<f64> {
        integers(rows, columns, seed).into_raw_vec_and_offset().0
    }

    #[test]
    fn pieces_cover_the_length_once() {
        for (rows, inner, columns) in [
            (3, 4, 5),
            (64, 1000, 64),
            (1000, 64, 64),
            (128, 62, 128),
            (130, 130, 70),
            (1, 2_000_003, 1),
            (0, 4, 5),
            (5, 0, 4),
        ] {
            let (a, b) = (integers(rows, inner, 0), integers(inner, columns, 1));
            let start = integers(rows, columns, 2);
            for beta in [0.0, -2.0] {
                let mut expected = start.clone();
                general_mat_mul(3.0, &a, &b, beta, &mut expected);
                let mut c = start.clone();
                multiply(3.0, a.view(), b.view(), beta, &mut c.view_mut());
                assert_eq!(c, expected, "{rows} x {inner} x {columns}");

                // The same numbers by columns, as the transpose of rows.
                let turned = b.t().to_owned();
                let mut c = start.clone();
                multiply(3.0, a.view(), turned.t(), beta, &mut c.view_mut());
                assert_eq!(c, expected, "{rows} x {inner} x {columns}, turned");
            }
        }
    }

    #[test]
    fn gram_matches_the_product() {
        for (order, inner) in [
            (0, 3),
            (1, 1),
            (31, 40),
            (32, 0),
            (33, 7),
            (64, 1000),
            (65, 65),
            (150, 20),
        ] {
            let a = integers(order, inner, 1);
            let mut c = Array2::from_elem((order, order), f64::NAN);
            gram(a.view(), &mut c.view_mut());
            assert_eq!(c, a.dot(&a.t()), "{order} x {inner}");
        }
    }

    #[test]
    fn pieces_never_exceed_the_longest() {
        for (length, longest) in [(1, 1), (10, 3), (244, 244), (245, 244), (1000, 61)] {
            let all: Vec<_> = pieces(length, longest).collect();
            assert!(all.iter().all(|(from, to)| (1..=longest).contains(&(to - from))));
            assert_eq!(all.iter().map(|(from, to)| to - from).sum::<usize>(), length);
            assert_eq!((all[0].0, all[all.len() - 1].1), (0, length));
        }
    }

    #[test]
    fn narrow_products_match_their_definition() {
        for (rows, inner, columns) in [
            (0, 3, 2),
            (1, 1, 1),
            (5, 7, 3),
            (9, 16, 4),
            (64, 33, 5),
            (3, 284, PRODUCT_FEW_COLUMNS),
        ] {
            let (a, b) = (flat(rows, inner, 0), flat(columns, inner, 4));
            // The old content does not matter.
            let mut c = vec![f64::NAN; rows * columns];
            multiply_rows(-2.0, &a, &b, inner, &mut c);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let expected: Vec<f64> = a
                .chunks(inner)
                .flat_map(|a| b.chunks(inner).map(move |b| -2.0 * dot(a, b)))
                .collect();
            assert_eq!(c, expected, "{rows} x {inner} x {columns}");
        }
    }

    #[test]
    fn nan_affects_only_its_row() {
        let (mut a, b) = (flat(3, 20, 0), flat(5, 20, 4));
        a[25] = f64::NAN;
        let mut c = vec![0.0; 15];
        multiply_rows(1.0, &a, &b, 20, &mut c);
        assert!(c[5..10].iter().all(|number| number.is_nan()));
        assert!(c[..5].iter().chain(&c[10..]).all(|number| number.is_finite()));
    }
}
