//! Products of a few vectors with symmetric matrices in packed form, as flat upper triangles: no
//! square matrix is formed, which would be four times as many bytes to write and read.

use pulp::{Arch, Simd, WithSimd};

use crate::scalar::Scalar;

/// Independent partial sums.
const LANES: usize = 8;

/// The upper triangle of `U^T U`, off-diagonal entries times `weight`, for `U` of up to
/// [`TRIANGLE_DIRECTIONS`](crate::tuning::speed::TRIANGLE_DIRECTIONS) rows of length m; `out` has `m (m + 1) / 2` places.
pub(crate) fn square_of<T: Scalar>(rows: &[f64], m: usize, weight: f64, out: &mut [T]) {
    if rows.is_empty() {
        return out.fill(T::zero());
    }
    let job = SquareOf { rows, m, weight, out };
    Arch::new().dispatch(job);
}

struct SquareOf<'a, T> {
    rows: &'a [f64],
    m: usize,
    weight: f64,
    out: &'a mut [T],
}

impl<T: Scalar> WithSimd for SquareOf<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.rows.len() / self.m {
            1 => self.with_rows::<1>(),
            2 => self.with_rows::<2>(),
            3 => self.with_rows::<3>(),
            _ => self.with_rows::<4>(),
        }
    }
}

impl<T: Scalar> SquareOf<'_, T> {
    #[inline(always)]
    fn with_rows<const N: usize>(self) {
        let mut rest = self.out;
        for first in 0..self.m {
            let (out, tail) = rest.split_at_mut(self.m - first);
            rest = tail;
            let (mut factors, mut parts) = ([0.0; N], [&[][..]; N]);
            for i in 0..N {
                parts[i] = &self.rows[i * self.m + first..(i + 1) * self.m];
                factors[i] = self.weight * parts[i][0];
            }
            for (column, out) in out.iter_mut().enumerate() {
                let mut sum = 0.0;
                for i in 0..N {
                    sum += factors[i] * parts[i][column];
                }
                *out = T::rounded(sum);
            }
            let mut diagonal = 0.0;
            for part in parts {
                diagonal += part[0] * part[0];
            }
            out[0] = T::rounded(diagonal);
        }
    }
}

/// `U G` for `U` of up to [`TRIANGLE_DIRECTIONS`](crate::tuning::speed::TRIANGLE_DIRECTIONS) rows of length m and the symmetric m x m matrix `G`
/// whose upper triangle, off-diagonal entries divided by `weight`, all by `scale`, is `flat`.
pub(crate) fn multiply<T: Scalar>(
    rows: &[f64],
    m: usize,
    flat: &[T],
    weight: f64,
    scale: f64,
    out: &mut [f64],
) {
    if rows.is_empty() {
        return;
    }
    let job = Multiply {
        rows,
        m,
        flat,
        weight,
        scale,
        out,
    };
    Arch::new().dispatch(job);
}

struct Multiply<'a, T> {
    rows: &'a [f64],
    m: usize,
    flat: &'a [T],
    weight: f64,
    scale: f64,
    out: &'a mut [f64],
}

impl<T: Scalar> WithSimd for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.rows.len() / self.m {
            1 => self.with_rows::<1>(),
            2 => self.with_rows::<2>(),
            3 => self.with_rows::<3>(),
            _ => self.with_rows::<4>(),
        }
    }
}

impl<T: Scalar> Multiply<'_, T> {
    /// Entry `(r, c)`, c > r, is used twice: `out_r += u_c g` and `out_c += u_r g`.
    #[inline(always)]
    fn with_rows<const N: usize>(self) {
        let m = self.m;
        self.out.fill(0.0);
        let mut rest = self.flat;
        let off_diagonal = self.weight * self.scale;
        for row in 0..m {
            let (g, tail) = rest.split_at(m - row);
            rest = tail;
            let diagonal = g[0].as_f64() * self.scale;
            let g = &g[1..];
            for i in 0..N {
                let u = &self.rows[i * m + row..(i + 1) * m];
                let out = &mut self.out[i * m + row..(i + 1) * m];
                let (here, u) = (u[0], &u[1..]);
                let (sum_here, out) = out.split_at_mut(1);
                let whole = g.len() / LANES * LANES;
                let mut sums = [0.0; LANES];
                let parts = g[..whole].as_chunks::<LANES>().0.iter();
                let parts = parts.zip(u[..whole].as_chunks::<LANES>().0);
                for ((g, u), out) in parts.zip(out[..whole].as_chunks_mut::<LANES>().0) {
                    for lane in 0..LANES {
                        let g = g[lane].as_f64() * off_diagonal;
                        sums[lane] += g * u[lane];
                        out[lane] += g * here;
                    }
                }
                let mut sum = diagonal * here;
                for lane in sums {
                    sum += lane;
                }
                for at in whole..g.len() {
                    let g = g[at].as_f64() * off_diagonal;
                    sum += g * u[at];
                    out[at] += g * here;
                }
                sum_here[0] += sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;
    use crate::Flatten;
    use crate::tuning::speed::TRIANGLE_DIRECTIONS;

    /// Small integers: every sum is exact in any order.
    fn integers(rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| ((7 * i + 3 * j) % 5) as f64 - 2.0)
    }

    #[test]
    fn triangle_products_match_the_square() {
        for m in [1, 2, 7, 8, 9, 10, 17, 64] {
            for p in 0..=TRIANGLE_DIRECTIONS {
                let u = integers(p, m);
                let rows = u.as_slice().unwrap();
                for weight in [1.0, 0.5] {
                    let mut flat = vec![f32::NAN; Flatten::length(m)];
                    square_of(rows, m, weight, &mut flat);
                    let square = u.t().dot(&u);
                    let expected = (0..m).flat_map(|i| (i..m).map(move |j| (i, j)));
                    for (found, (i, j)) in flat.iter().zip(expected) {
                        let weight = if i == j { 1.0 } else { weight };
                        assert_eq!(f64::from(*found), weight * square[[i, j]], "{m} {p}");
                    }

                    let flat: Array1<f32> = (0..Flatten::length(m)).map(|i| (i % 7) as f32 - 3.0).collect();
                    let g = Array2::from_shape_fn((m, m), |(i, j)| {
                        let (first, second) = (i.min(j), i.max(j));
                        let at = first * m - first * first.saturating_sub(1) / 2 + second - first;
                        f64::from(flat[at]) * if i == j { 4.0 } else { 4.0 * weight }
                    });
                    let mut out = Array2::from_elem((p, m), f64::NAN);
                    let to = out.as_slice_mut().unwrap();
                    multiply(rows, m, flat.as_slice().unwrap(), weight, 4.0, to);
                    assert_eq!(out, u.dot(&g), "{m} {p} {weight}");
                }
            }
        }
    }
}
