//! Reduction of a symmetric matrix to tridiagonal form by Householder reflections
//! `1 - tau v v^T`, and their product.
//!
//! The tridiagonal matrix has its rows in reverse order: the first row gives its last entry.
//! Reduction from the first row on finds the large eigenvalues there, and QL iteration, which
//! begins at the other endpoint, then takes a tenth fewer rotations.

use pulp::Simd;

use super::super::padded::{Aligned, start_of_vector, vectors, vectors_mut};

/// Squares of the entries to eliminate count as 0 below this, for a matrix scaled to entries of 1:
/// squares near the smallest number have few digits, and a reflection computed from them would not
/// be orthogonal.
const NEGLIGIBLE_SQUARE: f64 = 1e-280;

/// The rest of a positive semidefinite matrix counts as 0 if its trace is at most this share of the
/// whole: rounding leaves as much.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// What is known of the signs of a matrix's eigenvalues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definiteness {
    /// None is negative but for rounding: no entry is larger than the diagonal.
    Semidefinite,
    Unknown,
}

/// Reduces the symmetric matrix in `a` to the tridiagonal one of `diag` and `off_diag`, both in
/// reverse order; row k of `a` stores the vector `v` of reflection k, and `tau` its factor. All
/// three are 0 before.
///
/// The reduction of a semidefinite matrix stops early: `tau`, and with it the reflections, stay 0
/// where the rest is rounding, as for matrices from few distinct rows and those whose eigenvalues
/// decay fast.
#[inline(always)]
pub(super) fn reduce<S: Simd>(
    simd: S,
    stride: usize,
    definiteness: Definiteness,
    a: &mut [f64],
    [tau, diag, off_diag]: [&mut [f64]; 3],
    scratch: &mut Aligned,
) {
    let order = a.len() / stride;
    scratch.reset(5 * stride);
    let scratch = scratch.get_mut();
    scratch.fill(0.0);
    // The pending reflection, and what it subtracts:
    // `row_i -= v_i w + w_i v`.
    let (mut v, rest) = scratch.split_at_mut(stride);
    let (w, rest) = rest.split_at_mut(stride);
    // The reflection after it, and `S v` of the rows below.
    let (mut next, rest) = rest.split_at_mut(stride);
    let (product, remaining) = rest.split_at_mut(stride);
    // The diagonal of the rest, ahead of the rows.
    for i in 0..order {
        remaining[i] = a[i * stride + i];
    }
    let negligible = match definiteness {
        Definiteness::Semidefinite => ROUNDING * remaining.iter().sum::<f64>(),
        Definiteness::Unknown => -1.0,
    };
    for k in 0..order {
        let (head, below) = a[k * stride..].split_at_mut(stride);
        let from = start_of_vector(k);
        update(simd, &mut head[from..], &v[from..], &w[from..], v[k], w[k]);
        diag[order - 1 - k] = head[k];
        remaining[k] = 0.0;
        if k + 1 == order {
            break;
        }
        let first = k + 1;
        let from = start_of_vector(first);
        let reflection = reflect(simd, &head[from..], &mut next[from..], first - from);
        tau[k] = reflection.tau;
        off_diag[order - 2 - k] = reflection.off_diag;
        head[from..].copy_from_slice(&next[from..]);

        // Rows are brought up to date in the pass that multiplies them by the
        // next reflection: each is read and written once per step.
        let pending = PendingUpdate {
            v: &v[from..],
            w: &w[from..],
            next: &next[from..],
        };
        let mut fours = below.chunks_exact_mut(4 * stride);
        let mut i = first;
        for four in &mut fours {
            let sums = pending.four_rows(simd, four, stride, from, [&v[i..i + 4], &w[i..i + 4]]);
            product[i..i + 4].copy_from_slice(&sums);
            i += 4;
        }
        for row in fours.into_remainder().chunks_exact_mut(stride) {
            update(simd, &mut row[from..], &v[from..], &w[from..], v[i], w[i]);
            product[i] = dot(simd, &row[from..], &next[from..]);
            i += 1;
        }

        // w = tau S v - (tau^2 / 2) (v^T S v) v
        std::mem::swap(&mut v, &mut next);
        product[from..first].fill(0.0);
        let t = reflection.tau;
        let half = simd.splat_f64s(-0.5 * t * t * dot(simd, &v[from..], &product[from..]));
        let t = simd.splat_f64s(t);
        let parts = vectors::<S>(&product[from..])
            .iter()
            .zip(vectors::<S>(&v[from..]));
        for (w, (product, v)) in vectors_mut::<S>(&mut w[from..]).iter_mut().zip(parts) {
            *w = simd.mul_add_e_f64s(half, *v, simd.mul_f64s(t, *product));
        }
        if negligible >= 0.0
            && subtract_diagonal(simd, &v[from..], &w[from..], &mut remaining[from..]) <= negligible
        {
            break;
        }
    }
}

/// `remaining_i -= 2 v_i w_i`; returns the sum of the absolute values.
#[inline(always)]
fn subtract_diagonal<S: Simd>(simd: S, v: &[f64], w: &[f64], remaining: &mut [f64]) -> f64 {
    let mut sum = simd.splat_f64s(0.0);
    let minus_two = simd.splat_f64s(-2.0);
    let parts = vectors::<S>(v).iter().zip(vectors::<S>(w));
    for (remaining, (v, w)) in vectors_mut::<S>(remaining).iter_mut().zip(parts) {
        *remaining = simd.mul_add_e_f64s(simd.mul_f64s(minus_two, *v), *w, *remaining);
        sum = simd.add_f64s(sum, simd.abs_f64s(*remaining));
    }
    simd.reduce_sum_f64s(sum)
}

/// `Z = Q^T` with its rows in reverse order, as `reduce` numbers them, from the
/// reflections in `a`.
#[inline(always)]
pub(super) fn accumulate<S: Simd>(simd: S, stride: usize, a: &[f64], tau: &[f64], z: &mut [f64]) {
    let order = a.len() / stride;
    z.fill(0.0);
    for i in 0..order {
        z[(order - 1 - i) * stride + i] = 1.0;
    }
    for k in (0..order.saturating_sub(1)).rev() {
        // Rows 0 to k of Q^T are still those of the identity.
        reflect_rows(simd, stride, k, a, tau[k], &mut z[..(order - 1 - k) * stride]);
    }
}

/// Rows `x` become `x Q^T`: coefficients in the basis of the tridiagonal matrix
/// (in order, not in reverse) become those of the matrix itself.
#[inline(always)]
pub(super) fn to_matrix_basis<S: Simd>(simd: S, stride: usize, a: &[f64], tau: &[f64], rows: &mut [f64]) {
    for k in (0..(a.len() / stride).saturating_sub(1)).rev() {
        reflect_rows(simd, stride, k, a, tau[k], rows);
    }
}

/// The reverse, `x Q`.
#[inline(always)]
pub(super) fn to_tridiagonal_basis<S: Simd>(
    simd: S,
    stride: usize,
    a: &[f64],
    tau: &[f64],
    rows: &mut [f64],
) {
    // There is none for the last row.
    let reflections = (a.len() / stride).saturating_sub(1);
    for (k, tau) in tau[..reflections].iter().enumerate() {
        reflect_rows(simd, stride, k, a, *tau, rows);
    }
}

/// Reflection k of rows.
#[inline(always)]
fn reflect_rows<S: Simd>(simd: S, stride: usize, k: usize, a: &[f64], tau: f64, rows: &mut [f64]) {
    if tau == 0.0 {
        return;
    }
    let from = start_of_vector(k + 1);
    let v = &a[k * stride + from..(k + 1) * stride];
    let mut fours = rows.chunks_exact_mut(4 * stride);
    for four in &mut fours {
        reflect_four_rows(simd, four, stride, from, v, tau);
    }
    for row in fours.into_remainder().chunks_exact_mut(stride) {
        let sum = simd.splat_f64s(-tau * dot(simd, &row[from..], v));
        for (entry, v) in vectors_mut::<S>(&mut row[from..]).iter_mut().zip(vectors::<S>(v)) {
            *entry = simd.mul_add_e_f64s(sum, *v, *entry);
        }
    }
}

/// A reflection that takes a row to a multiple of its first entry.
struct Reflection {
    tau: f64,
    /// The multiple.
    off_diag: f64,
}

/// The reflection of `row[first..]`; its vector, 1 at `first` and 0 before it,
/// goes to `v`.
#[inline(always)]
fn reflect<S: Simd>(simd: S, row: &[f64], v: &mut [f64], first: usize) -> Reflection {
    v.copy_from_slice(row);
    v[..first].fill(0.0);
    let head = v[first];
    v[first] = 0.0;
    let rest = dot(simd, v, v);
    if rest < NEGLIGIBLE_SQUARE {
        v.fill(0.0);
        v[first] = 1.0;
        return Reflection {
            tau: 0.0,
            off_diag: head,
        };
    }
    // Away from the entry: no cancellation.
    let off_diag = -(head * head + rest).sqrt().copysign(head);
    let inverse = simd.splat_f64s((head - off_diag).recip());
    for entry in vectors_mut::<S>(v) {
        *entry = simd.mul_f64s(*entry, inverse);
    }
    v[first] = 1.0;
    Reflection {
        tau: (off_diag - head) / off_diag,
        off_diag,
    }
}

/// `row -= v_i w + w_i v`
#[inline(always)]
fn update<S: Simd>(simd: S, row: &mut [f64], v: &[f64], w: &[f64], v_i: f64, w_i: f64) {
    let (v_i, w_i) = (simd.splat_f64s(-v_i), simd.splat_f64s(-w_i));
    let parts = vectors::<S>(v).iter().zip(vectors::<S>(w));
    for (entry, (v, w)) in vectors_mut::<S>(row).iter_mut().zip(parts) {
        *entry = simd.mul_add_e_f64s(v_i, *w, simd.mul_add_e_f64s(w_i, *v, *entry));
    }
}

#[inline(always)]
fn dot<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let mut sum = simd.splat_f64s(0.0);
    for (x, y) in vectors::<S>(x).iter().zip(vectors::<S>(y)) {
        sum = simd.mul_add_e_f64s(*x, *y, sum);
    }
    simd.reduce_sum_f64s(sum)
}

/// Four rows as `length` vectors each, from column `from` on.
///
/// Here and below nothing goes through a closure or `map`: they are compiled
/// for the oldest processor, and the vectors with them.
#[inline(always)]
fn four_rows<S: Simd>(four: &mut [f64], stride: usize, from: usize, length: usize) -> [&mut [S::f64s]; 4] {
    let (first, rest) = four.split_at_mut(stride);
    let (second, rest) = rest.split_at_mut(stride);
    let (third, fourth) = rest.split_at_mut(stride);
    [
        &mut vectors_mut::<S>(&mut first[from..])[..length],
        &mut vectors_mut::<S>(&mut second[from..])[..length],
        &mut vectors_mut::<S>(&mut third[from..])[..length],
        &mut vectors_mut::<S>(&mut fourth[from..])[..length],
    ]
}

#[inline(always)]
fn reduce_four<S: Simd>(simd: S, sums: [S::f64s; 4]) -> [f64; 4] {
    [
        simd.reduce_sum_f64s(sums[0]),
        simd.reduce_sum_f64s(sums[1]),
        simd.reduce_sum_f64s(sums[2]),
        simd.reduce_sum_f64s(sums[3]),
    ]
}

#[inline(always)]
fn splat_four<S: Simd>(simd: S, factor: f64, values: &[f64]) -> [S::f64s; 4] {
    [
        simd.splat_f64s(factor * values[0]),
        simd.splat_f64s(factor * values[1]),
        simd.splat_f64s(factor * values[2]),
        simd.splat_f64s(factor * values[3]),
    ]
}

/// The update of the rows below the current one, applied together with the next reflection.
struct PendingUpdate<'a> {
    v: &'a [f64],
    w: &'a [f64],
    next: &'a [f64],
}

impl PendingUpdate<'_> {
    /// Brings four rows up to date and multiplies them by the next reflection:
    /// four at once, so that what they share is loaded once.
    #[inline(always)]
    fn four_rows<S: Simd>(
        &self,
        simd: S,
        four: &mut [f64],
        stride: usize,
        from: usize,
        [v_i, w_i]: [&[f64]; 2],
    ) -> [f64; 4] {
        let next = vectors::<S>(self.next);
        let length = next.len();
        let (v, w) = (&vectors::<S>(self.v)[..length], &vectors::<S>(self.w)[..length]);
        let [r0, r1, r2, r3] = four_rows::<S>(four, stride, from, length);
        let [v0, v1, v2, v3] = splat_four(simd, -1.0, v_i);
        let [w0, w1, w2, w3] = splat_four(simd, -1.0, w_i);
        let mut sums = [simd.splat_f64s(0.0); 4];
        for j in 0..length {
            let (v, w, x) = (v[j], w[j], next[j]);
            r0[j] = simd.mul_add_e_f64s(v0, w, simd.mul_add_e_f64s(w0, v, r0[j]));
            r1[j] = simd.mul_add_e_f64s(v1, w, simd.mul_add_e_f64s(w1, v, r1[j]));
            r2[j] = simd.mul_add_e_f64s(v2, w, simd.mul_add_e_f64s(w2, v, r2[j]));
            r3[j] = simd.mul_add_e_f64s(v3, w, simd.mul_add_e_f64s(w3, v, r3[j]));
            sums[0] = simd.mul_add_e_f64s(r0[j], x, sums[0]);
            sums[1] = simd.mul_add_e_f64s(r1[j], x, sums[1]);
            sums[2] = simd.mul_add_e_f64s(r2[j], x, sums[2]);
            sums[3] = simd.mul_add_e_f64s(r3[j], x, sums[3]);
        }
        reduce_four(simd, sums)
    }
}

/// `row -= tau (row v) v` for four rows.
#[inline(always)]
fn reflect_four_rows<S: Simd>(simd: S, four: &mut [f64], stride: usize, from: usize, v: &[f64], tau: f64) {
    let v = vectors::<S>(v);
    let length = v.len();
    let [r0, r1, r2, r3] = four_rows::<S>(four, stride, from, length);
    let mut sums = [simd.splat_f64s(0.0); 4];
    for j in 0..length {
        sums[0] = simd.mul_add_e_f64s(r0[j], v[j], sums[0]);
        sums[1] = simd.mul_add_e_f64s(r1[j], v[j], sums[1]);
        sums[2] = simd.mul_add_e_f64s(r2[j], v[j], sums[2]);
        sums[3] = simd.mul_add_e_f64s(r3[j], v[j], sums[3]);
    }
    let [s0, s1, s2, s3] = splat_four(simd, -tau, &reduce_four(simd, sums));
    for j in 0..length {
        r0[j] = simd.mul_add_e_f64s(s0, v[j], r0[j]);
        r1[j] = simd.mul_add_e_f64s(s1, v[j], r1[j]);
        r2[j] = simd.mul_add_e_f64s(s2, v[j], r2[j]);
        r3[j] = simd.mul_add_e_f64s(s3, v[j], r3[j]);
    }
}
