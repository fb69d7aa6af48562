//! Squared distances of rows to centres, several rows at a time.
//!
//! Rows are taken in tiles of [`LANES`], transposed, so that a vector of the
//! processor holds the same coordinate of several rows, and no sum runs across
//! it. Differences are squared, not products subtracted: a distance is right to
//! a few units in its last place, however far from the origin the points lie.

use egg_geometry::Scalar;
use pulp::Simd;

/// Rows in a tile.
pub(crate) const LANES: usize = 8;

/// Centres of one pass over a tile: as many as have their sums in registers.
const GROUP: usize = 4;

/// One number per row of a tile.
pub(crate) type Lane = [f64; LANES];

/// Memory for one tile and its distances.
#[derive(Debug, Default)]
pub(crate) struct Tile {
    /// width x LANES
    coordinates: Vec<Lane>,
    /// One per centre.
    pub(crate) squares: Vec<Lane>,
}

impl Tile {
    /// Memory for tiles of rows of this width and this many centres.
    pub(crate) fn new(width: usize, centres: usize) -> Self {
        Self {
            coordinates: vec![[0.0; LANES]; width],
            squares: vec![[0.0; LANES]; centres],
        }
    }

    /// The squared distances of up to [`LANES`] rows to all centres (one after
    /// the other in `centres`), in `squares`. Lanes without a row hold the
    /// distances of the origin.
    #[inline(always)]
    pub(crate) fn measure<T: Scalar, S: Simd>(
        &mut self,
        simd: S,
        rows: &[T],
        width: usize,
        scale: f64,
        centres: &[f64],
    ) {
        if rows.len() == LANES * width {
            for (column, lane) in self.coordinates.iter_mut().enumerate() {
                for (at, x) in lane.iter_mut().enumerate() {
                    *x = rows[at * width + column].as_f64() * scale;
                }
            }
        } else {
            self.coordinates.fill([0.0; LANES]);
            for (at, row) in rows.chunks_exact(width).enumerate() {
                for (lane, x) in self.coordinates.iter_mut().zip(row) {
                    lane[at] = x.as_f64() * scale;
                }
            }
        }
        let groups = centres.chunks(GROUP * width);
        for (group, out) in groups.zip(self.squares.chunks_mut(GROUP)) {
            match out.len() {
                4 => several::<4, S>(simd, &self.coordinates, group, out),
                3 => several::<3, S>(simd, &self.coordinates, group, out),
                2 => several::<2, S>(simd, &self.coordinates, group, out),
                _ => several::<1, S>(simd, &self.coordinates, group, out),
            }
        }
    }
}

/// The squared distances of a tile to C centres. Vectorised by hand: compilers
/// do not vectorise the sums of several centres.
#[inline(always)]
fn several<const C: usize, S: Simd>(simd: S, coordinates: &[Lane], centres: &[f64], out: &mut [Lane]) {
    let width = coordinates.len();
    let centres: [&[f64]; C] = std::array::from_fn(|at| &centres[at * width..(at + 1) * width]);
    for vector in 0..LANES / S::F64_LANES {
        let mut sums = [simd.splat_f64s(0.0); C];
        for (column, lane) in coordinates.iter().enumerate() {
            let x = S::as_simd_f64s(lane).0[vector];
            for at in 0..C {
                let difference = simd.sub_f64s(x, simd.splat_f64s(centres[at][column]));
                sums[at] = simd.add_f64s(sums[at], simd.mul_f64s(difference, difference));
            }
        }
        for at in 0..C {
            S::as_mut_simd_f64s(&mut out[at]).0[vector] = sums[at];
        }
    }
}

/// The squared distance of one row to one centre. Not to the last bit what a
/// tile gives.
#[inline(always)]
pub(crate) fn square<T: Scalar>(row: &[T], scale: f64, centre: &[f64]) -> f64 {
    const PARTS: usize = 4;
    let mut sums = [0.0; PARTS];
    let (rows, centres) = (row.chunks_exact(PARTS), centre.chunks_exact(PARTS));
    let rest: f64 = rows
        .remainder()
        .iter()
        .zip(centres.remainder())
        .map(|(x, y)| (x.as_f64() * scale - y).powi(2))
        .sum();
    for (xs, ys) in rows.zip(centres) {
        for at in 0..PARTS {
            let difference = xs[at].as_f64() * scale - ys[at];
            sums[at] += difference * difference;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The nearest centre of each row of a tile, the first of equals, with the
/// squared distances to it and to the second.
#[derive(Debug)]
pub(crate) struct Nearest {
    pub(crate) label: [u32; LANES],
    pub(crate) first: Lane,
    pub(crate) second: Lane,
}

impl Nearest {
    /// From the distances of a tile.
    #[inline(always)]
    pub(crate) fn from_squares<S: Simd>(simd: S, squares: &[Lane]) -> Self {
        let (mut labels, mut firsts, mut seconds) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for vector in 0..LANES / S::F64_LANES {
            // Labels as numbers of the same kind as distances: exact below 2^53.
            let mut label = simd.splat_f64s(0.0);
            let mut first = simd.splat_f64s(f64::MAX);
            let mut second = first;
            for (centre, lane) in (0u32..).zip(squares) {
                let square = S::as_simd_f64s(lane).0[vector];
                let better = simd.less_than_f64s(square, first);
                let displaced = simd.select_f64s(better, first, square);
                second = simd.select_f64s(simd.less_than_f64s(displaced, second), displaced, second);
                first = simd.select_f64s(better, square, first);
                label = simd.select_f64s(better, simd.splat_f64s(f64::from(centre)), label);
            }
            S::as_mut_simd_f64s(&mut labels).0[vector] = label;
            S::as_mut_simd_f64s(&mut firsts).0[vector] = first;
            S::as_mut_simd_f64s(&mut seconds).0[vector] = second;
        }
        Self {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "clusters are counted in u32"
            )]
            label: labels.map(|centre| centre as u32),
            first: firsts,
            second: seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn tiles_and_single_rows_agree_with_the_definition() {
        for width in [1, 2, 3, 4, 7, 16, 33] {
            for centres in [1usize, 2, 3, 4, 5, 9] {
                for rows in [1usize, 5, LANES] {
                    let data: Vec<f32> = (0..rows * width).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
                    let means: Vec<f64> = (0..centres * width).map(|i| (i * 5 % 11) as f64 / 3.0).collect();
                    let mut tile = Tile::new(width, centres);
                    tile.measure(pulp::Scalar, &data, width, 0.5, &means);
                    for (at, row) in data.chunks(width).enumerate() {
                        for (centre, lane) in means.chunks(width).zip(&tile.squares) {
                            let expected: f64 = row
                                .iter()
                                .zip(centre)
                                .map(|(x, y)| (f64::from(*x) * 0.5 - y).powi(2))
                                .sum();
                            assert_abs_diff_eq!(lane[at], expected, epsilon = 1e-13 * expected);
                            assert_abs_diff_eq!(
                                square(row, 0.5, centre),
                                expected,
                                epsilon = 1e-13 * expected
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_of_equals_is_nearest() {
        let nearest = Nearest::from_squares(pulp::Scalar, &[[2.0; LANES], [1.0; LANES], [1.0; LANES]]);
        assert_eq!(
            (nearest.label[3], nearest.first[3], nearest.second[3]),
            (1, 1.0, 1.0)
        );
    }
}
