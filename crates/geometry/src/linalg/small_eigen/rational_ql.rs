//! QL iteration on a symmetric tridiagonal matrix, with eigenvectors, in the
//! square-root-free form of Pal, Walker and Kahan.
//!
//! A sweep chases a rotation from the end of a block to its beginning, and each
//! rotation waits for the one before it: the time is that of this chain, not of
//! the arithmetic. With roots it is a root and a quotient long; on squares (of
//! the cosines, of what is beside the diagonal) it is one quotient. The roots
//! that the rotations of the eigenvectors need are taken beside the chain.
//! Squares lose signs; they are kept apart.

use pulp::Simd;

use super::super::padded::vectors_mut;

/// Sweeps per eigenvalue; two or three are usual.
const MOST_SWEEPS: usize = 60;

/// Below this a squared cosine is 0, and the next step divides by nothing.
const NO_COSINE: f64 = 1e-290;

/// Turns the tridiagonal matrix into its eigenvalues, on `diagonal`, and the
/// rows of `z` with it. `beside[k]` stands between entries k and k + 1 of the
/// diagonal; its last entry is ignored. False if a value does not converge.
#[inline(always)]
pub(super) fn diagonalise<S: Simd>(
    simd: S,
    stride: usize,
    diagonal: &mut [f64],
    beside: &mut [f64],
    z: &mut [f64],
) -> bool {
    let order = diagonal.len();
    beside[order - 1] = 0.0;
    let norm = diagonal
        .iter()
        .chain(&*beside)
        .fold(0.0f64, |most, entry| most.max(entry.abs()));
    // What is left out in all is rounding of the matrix itself.
    let negligible = (0.5 * f64::EPSILON * norm).powi(2);
    square(simd, stride, beside, z);
    for first in 0..order {
        // Of what is beside the first entry; all others are positive.
        let mut sign = 1.0;
        let mut sweeps = 0;
        loop {
            let last = beside[first..]
                .iter()
                .position(|entry| *entry <= negligible)
                .map_or(order - 1, |length| first + length);
            if last == first {
                break;
            }
            if sweeps == MOST_SWEEPS {
                return false;
            }
            sweeps += 1;
            sign *= sweep(
                simd,
                stride,
                &mut diagonal[first..=last],
                &mut beside[first..last],
                &mut z[first * stride..(last + 1) * stride],
                sign,
            );
        }
    }
    true
}

/// Squares what is beside the diagonal, after turning the signs of rows of `z`
/// such that all of it is positive.
#[inline(always)]
fn square<S: Simd>(simd: S, stride: usize, beside: &mut [f64], z: &mut [f64]) {
    let mut negative = false;
    for (entry, row) in beside.iter_mut().zip(z.chunks_exact_mut(stride)) {
        if negative {
            for vector in vectors_mut::<S>(row) {
                *vector = simd.neg_f64s(*vector);
            }
        }
        negative ^= *entry < 0.0;
        *entry *= *entry;
    }
}

/// One sweep over an unreduced block, with Wilkinson's shift. `sign` is that of
/// what is beside the first entry; returned is what it has to be multiplied by.
#[inline(always)]
fn sweep<S: Simd>(
    simd: S,
    stride: usize,
    diagonal: &mut [f64],
    beside: &mut [f64],
    z: &mut [f64],
    first_sign: f64,
) -> f64 {
    let last = diagonal.len() - 1;
    let root = beside[0].sqrt();
    let slope = (diagonal[1] - diagonal[0]) / (2.0 * root);
    let shift = diagonal[0] - root / (slope + (slope * slope + 1.0).sqrt().copysign(slope));

    // q is what the rotation turns onto the diagonal, q2 its square; gamma is q
    // times the cosine before it. cos2 and sin2 are squares too.
    let mut gamma = diagonal[last] - shift;
    let mut q2 = gamma * gamma;
    let mut sign_of_q = 1f64.copysign(gamma);
    let (mut cos2, mut sin2) = (1.0, 0.0);
    for i in (0..last).rev() {
        let (b2, d) = (beside[i], diagonal[i]);
        let r2 = q2 + b2;
        let inverse = r2.recip();
        if i + 1 != last {
            beside[i + 1] = sin2 * r2;
        }
        let cos2_before = cos2;
        (cos2, sin2) = (q2 * inverse, b2 * inverse);
        let cosine = cos2.sqrt() * sign_of_q;
        let sine = sin2.sqrt() * if i == 0 { first_sign } else { 1.0 };

        let numerator = q2 * (d - shift) - b2 * gamma;
        let gamma_before = gamma;
        gamma = numerator * inverse;
        diagonal[i + 1] = gamma_before + (d - gamma);
        if cos2 > NO_COSINE {
            // gamma^2 / cos2, without waiting for either.
            q2 = numerator * numerator / (r2 * q2);
            sign_of_q *= 1f64.copysign(gamma);
        } else {
            q2 = cos2_before * b2;
            sign_of_q = -sign_of_q;
        }
        rotate(simd, &mut z[i * stride..(i + 2) * stride], cosine, sine);
    }
    beside[0] = sin2 * q2;
    diagonal[0] = shift + gamma;
    sign_of_q
}

/// Two rows x, y become `c x - s y` and `s x + c y`.
#[inline(always)]
fn rotate<S: Simd>(simd: S, rows: &mut [f64], cosine: f64, sine: f64) {
    let (c, s) = (simd.splat_f64s(cosine), simd.splat_f64s(sine));
    let minus_s = simd.neg_f64s(s);
    let (x, y) = rows.split_at_mut(rows.len() / 2);
    for (x, y) in vectors_mut::<S>(x).iter_mut().zip(vectors_mut::<S>(y)) {
        let (a, b) = (*x, *y);
        *x = simd.mul_add_e_f64s(c, a, simd.mul_f64s(minus_s, b));
        *y = simd.mul_add_e_f64s(s, a, simd.mul_f64s(c, b));
    }
}
