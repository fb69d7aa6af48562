//! Matrix products, cut into pieces for which OpenBLAS has kernels that don't
//! pack their operands first.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

use super::few_columns::multiply_rows;
use crate::tuning::accuracy::LONGEST_SUM;
use crate::tuning::speed::{GRAM_HALVED_ORDER, PRODUCT_FEW_COLUMNS, PRODUCT_NARROW, PRODUCT_PIECE};

/// `C <- alpha A B + beta C`. With `beta = 0` what `C` held does not matter.
///
/// Where the cuts are depends on the shape alone.
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

/// `C <- A A^T`. The lower left quarter is the upper right one turned over, which saves a
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

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    /// Small integers: every sum is exact, in whatever order.
    fn integers(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            ((7 * i + 3 * j + seed) % 5) as f64 - 2.0
        })
    }

    #[test]
    fn pieces_make_up_the_whole() {
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
    fn a_gram_matrix_is_the_product() {
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
    fn no_piece_is_longer_than_allowed() {
        for (length, longest) in [(1, 1), (10, 3), (244, 244), (245, 244), (1000, 61)] {
            let all: Vec<_> = pieces(length, longest).collect();
            assert!(all.iter().all(|(from, to)| (1..=longest).contains(&(to - from))));
            assert_eq!(all.iter().map(|(from, to)| to - from).sum::<usize>(), length);
            assert_eq!((all[0].0, all[all.len() - 1].1), (0, length));
        }
    }
}
