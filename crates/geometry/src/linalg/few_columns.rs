//! Products of many rows with a few others, which stay in registers or the nearest cache.

use pulp::{Arch, Simd, WithSimd};

use super::padded::vectors;

/// `C <- alpha A B^T`: rows of `inner` numbers in `a` and `b`, a row of `C` for each of `a`,
/// a number in it for each of `b`.
pub(super) fn multiply_rows(alpha: f64, a: &[f64], b: &[f64], inner: usize, c: &mut [f64]) {
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
    use super::*;
    use crate::tuning::speed::PRODUCT_FEW_COLUMNS;

    /// Small whole numbers: every sum is exact, in whatever order.
    fn integers(length: usize, seed: usize) -> Vec<f64> {
        (0..length).map(|i| ((7 * i + seed) % 11) as f64 - 5.0).collect()
    }

    #[test]
    fn products_are_those_of_the_definition() {
        for (rows, inner, columns) in [
            (0, 3, 2),
            (1, 1, 1),
            (5, 7, 3),
            (9, 16, 4),
            (64, 33, 5),
            (3, 284, PRODUCT_FEW_COLUMNS),
        ] {
            let (a, b) = (integers(rows * inner, 0), integers(columns * inner, 4));
            // What was there does not matter.
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
    fn a_nan_comes_through_to_its_row_alone() {
        let (mut a, b) = (integers(3 * 20, 0), integers(5 * 20, 4));
        a[25] = f64::NAN;
        let mut c = vec![0.0; 15];
        multiply_rows(1.0, &a, &b, 20, &mut c);
        assert!(c[5..10].iter().all(|number| number.is_nan()));
        assert!(c[..5].iter().chain(&c[10..]).all(|number| number.is_finite()));
    }
}
