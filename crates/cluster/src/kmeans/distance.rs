//! Squared distances of rows to centres, several rows at a time.
//!
//! Rows are taken in tiles of [`LANES`], transposed, so that a vector of the
//! processor holds the same coordinate of several rows, and no sum runs across
//! it. Differences are squared, not products subtracted: a distance is right to
//! a few units in its last place, however far from the origin the points lie.

use egg_geometry::Scalar;

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
    pub(crate) fn measure<T: Scalar>(&mut self, rows: &[T], width: usize, scale: f64, centres: &[f64]) {
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
                4 => several::<4>(&self.coordinates, group, out),
                3 => several::<3>(&self.coordinates, group, out),
                2 => several::<2>(&self.coordinates, group, out),
                _ => several::<1>(&self.coordinates, group, out),
            }
        }
    }
}

/// The squared distances of a tile to C centres.
#[inline(always)]
fn several<const C: usize>(coordinates: &[Lane], centres: &[f64], out: &mut [Lane]) {
    let width = coordinates.len();
    let centres: [&[f64]; C] = std::array::from_fn(|at| &centres[at * width..(at + 1) * width]);
    let mut sums = [[0.0f64; LANES]; C];
    for (column, lane) in coordinates.iter().enumerate() {
        for (sum, centre) in sums.iter_mut().zip(&centres) {
            let y = centre[column];
            for at in 0..LANES {
                let difference = lane[at] - y;
                sum[at] += difference * difference;
            }
        }
    }
    out.copy_from_slice(&sums);
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
    pub(crate) fn of(squares: &[Lane]) -> Self {
        // As numbers of the same width as distances: one kind of vector.
        let mut label = [0u64; LANES];
        let mut first = [f64::MAX; LANES];
        let mut second = [f64::MAX; LANES];
        for (centre, lane) in (0u64..).zip(squares) {
            for at in 0..LANES {
                let square = lane[at];
                let better = square < first[at];
                let displaced = if better { first[at] } else { square };
                second[at] = if displaced < second[at] {
                    displaced
                } else {
                    second[at]
                };
                first[at] = if better { square } else { first[at] };
                label[at] = if better { centre } else { label[at] };
            }
        }
        Self {
            #[expect(clippy::cast_possible_truncation, reason = "clusters are counted in u32")]
            label: label.map(|centre| centre as u32),
            first,
            second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_and_single_rows_agree_with_the_definition() {
        for width in [1, 2, 3, 4, 7, 16, 33] {
            for centres in [1usize, 2, 3, 4, 5, 9] {
                for rows in [1usize, 5, LANES] {
                    let data: Vec<f32> = (0..rows * width).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
                    let means: Vec<f64> = (0..centres * width).map(|i| (i * 5 % 11) as f64 / 3.0).collect();
                    let mut tile = Tile::new(width, centres);
                    tile.measure(&data, width, 0.5, &means);
                    for (at, row) in data.chunks(width).enumerate() {
                        for (centre, lane) in means.chunks(width).zip(&tile.squares) {
                            let expected: f64 = row
                                .iter()
                                .zip(centre)
                                .map(|(x, y)| (f64::from(*x) * 0.5 - y).powi(2))
                                .sum();
                            assert!((lane[at] - expected).abs() <= 1e-13 * expected);
                            assert!((square(row, 0.5, centre) - expected).abs() <= 1e-13 * expected);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_of_equals_is_nearest() {
        let nearest = Nearest::of(&[[2.0; LANES], [1.0; LANES], [1.0; LANES]]);
        assert_eq!(
            (nearest.label[3], nearest.first[3], nearest.second[3]),
            (1, 1.0, 1.0)
        );
    }
}
