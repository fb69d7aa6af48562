//! The rotations of a QL iteration, recorded while it runs and applied
//! afterwards: forwards to all rows of a matrix, or backwards to a few vectors.
//!
//! With `R_k ... R_1` the rotations in order and S the signs that came before
//! them, row r of `R_k ... R_1 S Z` is an eigenvector, and its coefficients in
//! the rows of Z are `S R_1^T ... R_k^T e_r`. Few eigenvectors are had far sooner
//! that way, and are as orthogonal as all: a product of rotations either way.

use std::ops::Range;

use pulp::Simd;

use super::super::padded::{WIDEST, vectors_mut};

/// As many vectors are rotated at once as keep their sums in registers.
const PANEL: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Rotations {
    /// Cosine and sine, in order.
    pairs: Vec<[f64; 2]>,
    /// First and last row of each sweep. Its rotations go from its end to its beginning.
    sweeps: Vec<(usize, usize)>,
    /// Which rows change their sign before all else.
    negative: Vec<bool>,
}

impl Rotations {
    /// Clears the rotations and stores the signs of the rows.
    pub(super) fn begin(&mut self, negative: impl Iterator<Item = bool>) {
        self.pairs.clear();
        self.sweeps.clear();
        self.negative.clear();
        self.negative.extend(negative);
        // As many as are usual, and more.
        self.pairs.reserve(self.negative.len() * self.negative.len());
        self.sweeps.reserve(4 * self.negative.len());
    }

    pub(super) fn begin_sweep(&mut self, first: usize, last: usize) {
        self.sweeps.push((first, last));
    }

    /// Of the next two rows x, y of a sweep, which become `c x - s y` and `s x + c y`:
    /// the squares of c and s, with their signs.
    #[inline(always)]
    pub(super) fn push_squared(&mut self, cosine: f64, sine: f64) {
        self.pairs.push([cosine, sine]);
    }

    /// Takes the roots, once all squares are recorded.
    #[inline(always)]
    pub(super) fn take_roots<S: Simd>(&mut self, simd: S) {
        let (vectors, rest) = S::as_mut_simd_f64s(self.pairs.as_flattened_mut());
        for squared in vectors {
            let size = simd.abs_f64s(*squared);
            let sign = simd.xor_f64s(size, *squared);
            *squared = simd.or_f64s(simd.sqrt_f64s(size), sign);
        }
        for squared in rest {
            *squared = squared.abs().sqrt().copysign(*squared);
        }
    }

    /// Rotates the rows of `z`.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(&self, simd: S, stride: usize, z: &mut [f64]) {
        for (row, _) in z
            .chunks_exact_mut(stride)
            .zip(&self.negative)
            .filter(|(_, n)| **n)
        {
            for vector in vectors_mut::<S>(row) {
                *vector = simd.neg_f64s(*vector);
            }
        }
        // Columns in panels, each through all sweeps: it stays in the first cache, and
        // the row that two rotations share stays in registers.
        let width = size_of::<S::f64s>() / size_of::<f64>();
        let mut from = 0;
        while from < stride {
            let vectors = (stride - from) / width;
            let columns = |vectors: usize| from..from + vectors * width;
            let taken = vectors.min(PANEL);
            match taken {
                4 => self.apply_to_panel::<S, 4>(simd, stride, columns(4), z),
                3 => self.apply_to_panel::<S, 3>(simd, stride, columns(3), z),
                2 => self.apply_to_panel::<S, 2>(simd, stride, columns(2), z),
                _ => self.apply_to_panel::<S, 1>(simd, stride, columns(1), z),
            }
            from += taken * width;
        }
    }

    #[inline(always)]
    fn apply_to_panel<S: Simd, const N: usize>(
        &self,
        simd: S,
        stride: usize,
        columns: Range<usize>,
        z: &mut [f64],
    ) {
        let mut pairs = &self.pairs[..];
        for &(first, last) in &self.sweeps {
            let (sweep, rest) = pairs.split_at(last - first);
            pairs = rest;
            let rows = &mut z[first * stride..(last + 1) * stride];
            let mut y = [simd.splat_f64s(0.0); N];
            y.copy_from_slice(&vectors_mut::<S>(&mut rows[(last - first) * stride..][columns.clone()])[..N]);
            for (i, [cosine, sine]) in (0..last - first).rev().zip(sweep) {
                let (c, s) = (simd.splat_f64s(*cosine), simd.splat_f64s(*sine));
                let minus_s = simd.neg_f64s(s);
                let (above, below) = rows[i * stride..(i + 2) * stride].split_at_mut(stride);
                let x = &vectors_mut::<S>(&mut above[columns.clone()])[..N];
                let to = &mut vectors_mut::<S>(&mut below[columns.clone()])[..N];
                for j in 0..N {
                    to[j] = simd.mul_add_e_f64s(s, x[j], simd.mul_f64s(c, y[j]));
                    y[j] = simd.mul_add_e_f64s(c, x[j], simd.mul_f64s(minus_s, y[j]));
                }
            }
            vectors_mut::<S>(&mut rows[columns.clone()])[..N].copy_from_slice(&y);
        }
    }

    /// Rotates the entries of up to [`WIDEST`] vectors backwards; `lanes` has a row of
    /// that many per entry.
    #[inline(always)]
    pub(super) fn apply_backwards<S: Simd>(&self, simd: S, lanes: &mut [f64]) {
        // Of a row of lanes; the widest vectors need one.
        match WIDEST * size_of::<f64>() / size_of::<S::f64s>() {
            1 => self.rotate_back::<S, 1>(simd, lanes),
            2 => self.rotate_back::<S, 2>(simd, lanes),
            4 => self.rotate_back::<S, 4>(simd, lanes),
            _ => self.rotate_back::<S, 8>(simd, lanes),
        }
        for (row, _) in lanes
            .chunks_exact_mut(WIDEST)
            .zip(&self.negative)
            .filter(|(_, n)| **n)
        {
            for vector in vectors_mut::<S>(row) {
                *vector = simd.neg_f64s(*vector);
            }
        }
    }

    #[inline(always)]
    fn rotate_back<S: Simd, const N: usize>(&self, simd: S, lanes: &mut [f64]) {
        let mut pairs = &self.pairs[..];
        for &(first, last) in self.sweeps.iter().rev() {
            let (rest, sweep) = pairs.split_at(pairs.len() - (last - first));
            pairs = rest;
            let rows = vectors_mut::<S>(&mut lanes[first * WIDEST..(last + 1) * WIDEST]);
            let mut x = [simd.splat_f64s(0.0); N];
            x.copy_from_slice(&rows[..N]);
            for (i, [cosine, sine]) in sweep.iter().rev().enumerate() {
                let (c, s) = (simd.splat_f64s(*cosine), simd.splat_f64s(*sine));
                let minus_s = simd.neg_f64s(s);
                let pair = &mut rows[i * N..(i + 2) * N];
                for j in 0..N {
                    let y = pair[N + j];
                    pair[j] = simd.mul_add_e_f64s(s, y, simd.mul_f64s(c, x[j]));
                    x[j] = simd.mul_add_e_f64s(minus_s, x[j], simd.mul_f64s(c, y));
                }
            }
            rows[(last - first) * N..].copy_from_slice(&x);
        }
    }
}
