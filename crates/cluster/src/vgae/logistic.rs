//! Softplus and sigmoid of whole tiles, as fast as the processor's widest
//! vectors allow.
//!
//! The exact likelihood needs both for every pair of nodes: 194 million times an
//! epoch on Pubmed. The library's `exp` and `ln_1p` are calls that no compiler
//! vectorises, so f32 has polynomials here. f64, which is for checking, has the
//! library's.

use egg_tensor::Element;

/// f32 or f64, with the activation of a tile.
pub(crate) trait Logistic: Element {
    /// Replaces each number by its sigmoid; gives the sum of the softplus.
    fn activate(x: &mut [Self]) -> f64;
}

impl Logistic for f32 {
    fn activate(x: &mut [Self]) -> f64 {
        activate_f32(x)
    }
}

impl Logistic for f64 {
    fn activate(x: &mut [Self]) -> f64 {
        activate_f64(x)
    }
}

/// Terms added in f32 before the sum is widened to f64.
const RUN: usize = 1024;

/// Independent sums, so that additions need not wait for each other.
const LANES: usize = 16;

/// Replaces each `x` by `sigmoid(x)`; gives the sum of all
/// `softplus(x) = ln(1 + exp(x))`.
pub(super) fn activate_f32(x: &mut [f32]) -> f64 {
    struct Kernel<'a>(&'a mut [f32]);
    impl pulp::WithSimd for Kernel<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
            // Without vectors there may be no fused operation either, and the
            // library's imitation of one is slow.
            if size_of::<S::f32s>() > size_of::<f32>() {
                activate::<true>(self.0)
            } else {
                activate::<false>(self.0)
            }
        }
    }
    pulp::Arch::new().dispatch(Kernel(x))
}

/// The same in f64, by the library.
pub(super) fn activate_f64(x: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for x in x {
        let (softplus, sigmoid) = softplus_sigmoid(*x);
        sum += softplus;
        *x = sigmoid;
    }
    sum
}

/// Softplus and sigmoid of one number, by the library; no `x` overflows.
pub(super) fn softplus_sigmoid(x: f64) -> (f64, f64) {
    let e = (-x.abs()).exp();
    let near = 1.0 / (1.0 + e);
    (x.max(0.0) + e.ln_1p(), if x < 0.0 { e * near } else { near })
}

#[inline(always)]
fn activate<const FUSED: bool>(x: &mut [f32]) -> f64 {
    let mut softplus = [0f32; RUN];
    let mut total = 0.0;
    for run in x.chunks_mut(RUN) {
        let softplus = &mut softplus[..run.len()];
        for (x, softplus) in run.iter_mut().zip(softplus.iter_mut()) {
            (*softplus, *x) = softplus_sigmoid_f32::<FUSED>(*x);
        }
        let mut sums = [0f32; LANES];
        let lanes = softplus.chunks_exact(LANES);
        let rest: f32 = lanes.remainder().iter().sum();
        for lane in lanes {
            for (sum, value) in sums.iter_mut().zip(lane) {
                *sum += value;
            }
        }
        total += sums.iter().map(|sum| f64::from(*sum)).sum::<f64>() + f64::from(rest);
    }
    total
}

#[inline(always)]
fn softplus_sigmoid_f32<const FUSED: bool>(x: f32) -> (f32, f32) {
    let e = exp_of_minus::<FUSED>(x.abs());
    let near = 1.0 / (1.0 + e);
    let tail = ln_1p::<FUSED>(e);
    if x < 0.0 {
        (tail, e * near)
    } else {
        // NaN takes this branch too.
        (x + tail, near)
    }
}

#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// `exp(-x)` for `x >= 0`, to 1.5 ulp; below the least normal number, that.
#[inline(always)]
fn exp_of_minus<const FUSED: bool>(x: f32) -> f32 {
    /// ln 2 in two parts, the first of which times a whole number below 256 is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    /// Adding it rounds to a whole number, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    /// The relative minimax polynomial of exp on [-ln 2 / 2, ln 2 / 2], off by 2e-9.
    const P: [f32; 7] = [
        1.0,
        1.0,
        0.499_999_9,
        0.166_664_2,
        0.041_668_233,
        0.008_374_899,
        0.001_383_674_2,
    ];
    // NaN stays NaN: a comparison with it is false.
    let x = if x > 87.0 { 87.0 } else { x };
    let shifted = multiply_add::<FUSED>(x, -std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = multiply_add::<FUSED>(k, -LN_2_HIGH, -x);
    let r = multiply_add::<FUSED>(k, -LN_2_LOW, r);
    let mut p = P[6];
    p = multiply_add::<FUSED>(p, r, P[5]);
    p = multiply_add::<FUSED>(p, r, P[4]);
    p = multiply_add::<FUSED>(p, r, P[3]);
    p = multiply_add::<FUSED>(p, r, P[2]);
    p = multiply_add::<FUSED>(p, r, P[1]);
    p = multiply_add::<FUSED>(p, r, P[0]);
    // Times 2^k: added to the exponent's bits.
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// `ln(1 + x)` for x in [0, 1], to 2 ulp.
#[inline(always)]
fn ln_1p<const FUSED: bool>(x: f32) -> f32 {
    /// The relative minimax polynomial of `ln(1 + x) / x`, off by 5e-9.
    const P: [f32; 10] = [
        1.0,
        -0.499_999,
        0.333_299_64,
        -0.249_541_34,
        0.196_759_39,
        -0.153_055_9,
        0.106_036_514,
        -0.056_959_5,
        0.019_851_444,
        -0.003_244_021_2,
    ];
    let mut p = P[9];
    p = multiply_add::<FUSED>(p, x, P[8]);
    p = multiply_add::<FUSED>(p, x, P[7]);
    p = multiply_add::<FUSED>(p, x, P[6]);
    p = multiply_add::<FUSED>(p, x, P[5]);
    p = multiply_add::<FUSED>(p, x, P[4]);
    p = multiply_add::<FUSED>(p, x, P[3]);
    p = multiply_add::<FUSED>(p, x, P[2]);
    p = multiply_add::<FUSED>(p, x, P[1]);
    p = multiply_add::<FUSED>(p, x, P[0]);
    p * x
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    use super::*;

    /// Every 1,000th number from 0 to 100.
    fn numbers() -> impl Iterator<Item = f32> {
        (0..100f32.to_bits()).step_by(1000).map(f32::from_bits)
    }

    fn ulps(found: f32, exact: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, reason = "the nearest f32")]
        let nearest = exact as f32;
        let ulp = f64::from(f32::from_bits(nearest.to_bits() + 1)) - f64::from(nearest);
        (f64::from(found) - exact).abs() / ulp
    }

    fn check<const FUSED: bool>() {
        for x in numbers() {
            let exact = (-f64::from(x)).exp();
            if x < 87.0 {
                let off = ulps(exp_of_minus::<FUSED>(x), exact);
                assert!(off < 1.5, "exp(-{x}): {off} ulp");
            }
            if x <= 1.0 {
                let off = ulps(ln_1p::<FUSED>(x), f64::from(x).ln_1p());
                assert!(off < 2.5, "ln_1p({x}): {off} ulp");
            }
            for x in [x, -x] {
                let (softplus, sigmoid) = softplus_sigmoid_f32::<FUSED>(x);
                let (exact_softplus, exact_sigmoid) = softplus_sigmoid(f64::from(x));
                let below = f64::from(f32::MIN_POSITIVE) * 2.0;
                let close = |found: f32, exact: f64| {
                    ulps(found, exact) < 4.0 || (exact < below && f64::from(found) < below)
                };
                assert!(close(softplus, exact_softplus), "softplus({x}) = {softplus}");
                assert!(close(sigmoid, exact_sigmoid), "sigmoid({x}) = {sigmoid}");
            }
        }
    }

    #[test]
    fn polynomials_have_the_documented_error() {
        check::<true>();
        check::<false>();
    }

    #[test]
    fn extreme_arguments_do_not_overflow() {
        let mut x = [0.0, 1e30, -1e30, f32::INFINITY, f32::NEG_INFINITY, f32::MAX];
        assert_eq!(
            activate_f32(&mut x[..3]),
            f64::from(1e30f32) + f64::from(std::f32::consts::LN_2)
        );
        assert_eq!(activate_f32(&mut x[3..]), f64::INFINITY);
        assert_eq!(&x[..2], [0.5, 1.0]);
        assert!(x[2] < 1e-37 && x[4] < 1e-37 && x[3] == 1.0 && x[5] == 1.0);
        assert!(activate_f32(&mut [f32::NAN]).is_nan() && activate_f64(&mut [f64::NAN]).is_nan());
        assert_eq!(softplus_sigmoid(-1e300), (0.0, 0.0));
    }

    #[test]
    fn sums_of_any_length_are_right() {
        for length in [0, 1, 15, 16, 17, 1023, 1024, 1025, 5000] {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let values: Vec<f32> = (0..length).map(|at| (at % 97) as f32 * 0.2 - 9.0).collect();
            let exact: f64 = values.iter().map(|x| softplus_sigmoid(f64::from(*x)).0).sum();
            let mut x = values.clone();
            let sum = activate_f32(&mut x);
            assert!(
                abs_diff_eq!(sum, exact, epsilon = 3e-7 * exact),
                "{length}: {sum} for {exact}"
            );
            for (x, value) in x.iter().zip(&values) {
                assert_abs_diff_eq!(
                    f64::from(*x),
                    softplus_sigmoid(f64::from(*value)).1,
                    epsilon = 1e-7
                );
            }
        }
    }
}
