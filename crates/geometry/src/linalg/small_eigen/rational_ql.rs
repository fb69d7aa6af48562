//! QL iteration on a symmetric tridiagonal matrix in the square-root-free form
//! of Pal, Walker and Kahan; its rotations are recorded.
//!
//! A sweep chases a rotation from the end of a block to its beginning, and each rotation depends on
//! the one before it: the latency of this chain decides the time. With square roots it is a root
//! and a quotient per rotation; on squares (of the cosines, of the off-diagonal entries) it is one
//! quotient. The roots that the rotations of the eigenvectors need are taken afterwards: processors
//! divide and take roots in the same unit, one at a time. Squares lose signs; the signs are stored
//! separately.

use super::rotations::Rotations;

/// Sweeps per eigenvalue; two or three are usual.
const MAX_SWEEPS: usize = 60;

/// Below this a squared cosine is 0, and the next step divides by nothing.
const TINY_COSINE: f64 = 1e-290;

/// Replaces `diag` by the eigenvalues of the tridiagonal matrix and records the `rotations` of rows
/// that diagonalise it. `off_diag[k]` is between entries k and k + 1 of the diagonal; its last
/// entry is ignored. False if a value does not converge.
pub(super) fn diagonalise(diag: &mut [f64], off_diag: &mut [f64], rotations: &mut Rotations) -> bool {
    let order = diag.len();
    off_diag[order - 1] = 0.0;
    let norm = diag
        .iter()
        .chain(&*off_diag)
        .fold(0.0f64, |most, entry| most.max(entry.abs()));
    // What is left out in all is rounding of the matrix itself.
    let negligible = (0.5 * f64::EPSILON * norm).powi(2);
    // Rows change their signs such that all off-diagonal entries are positive.
    let mut negative = false;
    rotations.begin(off_diag.iter().map(|entry| {
        let here = negative;
        negative ^= *entry < 0.0;
        here
    }));
    for entry in off_diag.iter_mut() {
        *entry *= *entry;
    }
    for first in 0..order {
        // Of the first off-diagonal entry; all others are positive.
        let mut sign = 1.0;
        let mut sweeps = 0;
        loop {
            let last = off_diag[first..]
                .iter()
                .position(|entry| *entry <= negligible)
                .map_or(order - 1, |length| first + length);
            if last == first {
                break;
            }
            if sweeps == MAX_SWEEPS {
                return false;
            }
            sweeps += 1;
            rotations.begin_sweep(first, last);
            sign *= sweep(
                &mut diag[first..=last],
                &mut off_diag[first..last],
                rotations,
                sign,
            );
        }
    }
    true
}

/// One sweep over an unreduced block, with Wilkinson's shift. `first_sign` is that
/// of the first off-diagonal entry; returned is what it has to be multiplied by.
fn sweep(diag: &mut [f64], off_diag: &mut [f64], rotations: &mut Rotations, first_sign: f64) -> f64 {
    let last = diag.len() - 1;
    let root = off_diag[0].sqrt();
    let slope = (diag[1] - diag[0]) / (2.0 * root);
    let shift = diag[0] - root / (slope + (slope * slope + 1.0).sqrt().copysign(slope));

    // q is what the rotation moves onto the diagonal, q2 its square; gamma is q
    // times the cosine before it. cos2 and sin2 are squares too.
    let mut gamma = diag[last] - shift;
    let mut q2 = gamma * gamma;
    let mut sign_of_q = 1f64.copysign(gamma);
    let (mut cos2, mut sin2) = (1.0, 0.0);
    for i in (0..last).rev() {
        let (b2, d) = (off_diag[i], diag[i]);
        let r2 = q2 + b2;
        let inverse = r2.recip();
        if i + 1 != last {
            off_diag[i + 1] = sin2 * r2;
        }
        let cos2_before = cos2;
        (cos2, sin2) = (q2 * inverse, b2 * inverse);
        let (cosine, sine) = (
            cos2.copysign(sign_of_q),
            sin2.copysign(if i == 0 { first_sign } else { 1.0 }),
        );

        let numerator = q2 * (d - shift) - b2 * gamma;
        let gamma_before = gamma;
        gamma = numerator * inverse;
        diag[i + 1] = gamma_before + (d - gamma);
        if cos2 > TINY_COSINE {
            // gamma^2 / cos2, without waiting for either.
            q2 = numerator * numerator / (r2 * q2);
            sign_of_q *= 1f64.copysign(gamma);
        } else {
            q2 = cos2_before * b2;
            sign_of_q = -sign_of_q;
        }
        rotations.push_squared(cosine, sine);
    }
    off_diag[0] = sin2 * q2;
    diag[0] = shift + gamma;
    sign_of_q
}
