//! The first centres of k-means.

use egg_geometry::Scalar;
use egg_tensor::{blocks, vectorised};
use rand::{Rng, RngExt};

use super::config::Start;
use super::distance::{LANES, Tile};
use super::points::Points;

/// Rows of a block: sums over rows are sums over blocks.
const BLOCK: usize = 1024;

/// The first k centres (k x d, scaled); there must be at least k points.
pub(super) fn first_centres<T: Scalar, R: Rng + ?Sized>(
    points: &Points<'_, T>,
    clusters: usize,
    start: Start,
    rng: &mut R,
) -> Vec<f64> {
    match start {
        Start::PlusPlus => plus_plus(points, clusters, rng),
        Start::Random => {
            let mut centres = Vec::with_capacity(clusters * points.width);
            for index in distinct(points.count, clusters, rng) {
                points.push_row(index, &mut centres);
            }
            centres
        }
    }
}

/// `wanted` different numbers below `count`, by Floyd's method: as many draws.
pub(super) fn distinct<R: Rng + ?Sized>(count: usize, wanted: usize, rng: &mut R) -> Vec<usize> {
    let mut seen = std::collections::HashSet::with_capacity(wanted);
    let mut drawn = Vec::with_capacity(wanted);
    for last in count - wanted..count {
        let index = rng.random_range(0..=last);
        let index = if seen.insert(index) { index } else { last };
        seen.insert(index);
        drawn.push(index);
    }
    drawn
}

/// Greedy k-means++.
fn plus_plus<T: Scalar, R: Rng + ?Sized>(points: &Points<'_, T>, clusters: usize, rng: &mut R) -> Vec<f64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the logarithm of a count"
    )]
    let trials = 2 + (clusters as f64).ln() as usize;
    let mut centres = Vec::with_capacity(clusters * points.width);
    points.push_row(rng.random_range(0..points.count), &mut centres);
    let mut closest = vec![f64::INFINITY; points.count];
    let mut totals = update(points, &centres, &mut closest);
    let mut candidates = Vec::with_capacity(trials * points.width);
    while centres.len() < clusters * points.width {
        candidates.clear();
        for _ in 0..trials {
            let index = draw(&totals, &closest, rng.random::<f64>());
            points.push_row(index, &mut candidates);
        }
        let best = best_candidate(points, &candidates, &closest);
        let chosen = &candidates[best * points.width..(best + 1) * points.width];
        centres.extend_from_slice(chosen);
        if centres.len() < clusters * points.width {
            totals = update(points, chosen, &mut closest);
        }
    }
    centres
}

/// The point at the share `at` of the running sum of `weights`, given the sums
/// of its blocks; the first if all weights are 0.
fn draw(totals: &[f64], weights: &[f64], at: f64) -> usize {
    let mut rest = at * totals.iter().sum::<f64>();
    let last = totals.iter().rposition(|total| *total > 0.0).unwrap_or(0);
    let block = totals[..last].iter().position(|total| {
        let here = rest < *total;
        if !here {
            rest -= total;
        }
        here
    });
    let first = block.unwrap_or(last) * BLOCK;
    let weights = &weights[first..weights.len().min(first + BLOCK)];
    let found = weights.iter().position(|weight| {
        rest -= weight;
        *weight > 0.0 && rest < 0.0
    });
    // Rounding may leave a remainder at the end.
    let found = found.or_else(|| weights.iter().rposition(|weight| *weight > 0.0));
    first + found.unwrap_or(0)
}

/// Lowers the squared distance of each point to its closest centre to that of
/// a new one, and gives the sums of the blocks.
fn update<T: Scalar>(points: &Points<'_, T>, centre: &[f64], closest: &mut [f64]) -> Vec<f64> {
    blocks::map_chunks(closest, BLOCK, |block, closest| {
        update_block(closest, rows_of(points, block), points, centre)
    })
}

vectorised! {
    fn update_block<T: Scalar>(
        simd;
        closest: &'a mut [f64],
        rows: &'a [T],
        points: &'a Points<'a, T>,
        centre: &'a [f64],
    ) -> f64 {
        let width = points.width;
        let mut tile = Tile::new(width, 1);
        let mut sums = [0.0; LANES];
        for (part, closest) in rows.chunks(LANES * width).zip(closest.chunks_mut(LANES)) {
            tile.measure(simd, part, width, points.scale, centre);
            for ((old, new), sum) in closest.iter_mut().zip(&tile.squares[0]).zip(&mut sums) {
                *old = if *new < *old { *new } else { *old };
                *sum += *old;
            }
        }
        sums.iter().sum()
    }
}

/// The candidate with the smallest resulting sum of squared distances; the first of
/// equals.
fn best_candidate<T: Scalar>(points: &Points<'_, T>, candidates: &[f64], closest: &[f64]) -> usize {
    let count = candidates.len() / points.width;
    let parts = blocks::map(closest, BLOCK, |block, closest| {
        candidates_block(closest, rows_of(points, block), points, candidates)
    });
    let totals = super::points::add_in_order(parts.iter().map(Vec::as_slice), count);
    let mut best = 0;
    for (at, total) in totals.iter().enumerate() {
        if *total < totals[best] {
            best = at;
        }
    }
    best
}

fn rows_of<'a, T: Scalar>(points: &'a Points<'_, T>, block: usize) -> &'a [T] {
    let first = block * BLOCK;
    let end = points.count.min(first + BLOCK);
    &points.rows()[first * points.width..end * points.width]
}

vectorised! {
    /// The sum over these rows that would result from each candidate.
    fn candidates_block<T: Scalar>(
        simd;
        closest: &'a [f64],
        rows: &'a [T],
        points: &'a Points<'a, T>,
        candidates: &'a [f64],
    ) -> Vec<f64> {
        let width = points.width;
        let count = candidates.len() / width;
        let mut tile = Tile::new(width, count);
        let mut sums = vec![[0.0; LANES]; count];
        for (part, closest) in rows.chunks(LANES * width).zip(closest.chunks(LANES)) {
            tile.measure(simd, part, width, points.scale, candidates);
            // Lanes without a row add nothing.
            let mut old = [0.0; LANES];
            old[..closest.len()].copy_from_slice(closest);
            for (sum, new) in sums.iter_mut().zip(&tile.squares) {
                for lane in 0..LANES {
                    sum[lane] += if new[lane] < old[lane] { new[lane] } else { old[lane] };
                }
            }
        }
        sums.iter().map(|sum| sum.iter().sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn draws_have_the_probabilities_of_the_weights() {
        let mut weights = vec![0.0; 3000];
        (weights[5], weights[2000], weights[2999]) = (1.0, 2.0, 1.0);
        let totals: Vec<f64> = weights.chunks(BLOCK).map(|part| part.iter().sum()).collect();
        for (at, index) in [
            (0.0, 5),
            (0.2, 5),
            (0.3, 2000),
            (0.7, 2000),
            (0.8, 2999),
            (1.0, 2999),
        ] {
            assert_eq!(draw(&totals, &weights, at), index, "{at}");
        }
        assert_eq!(draw(&[0.0, 0.0], &vec![0.0; 1500], 0.5), 0);
    }

    #[test]
    fn distinct_draws_have_no_repeats() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (count, wanted) in [(1, 1), (5, 5), (100, 7), (10, 0)] {
            let mut drawn = distinct(count, wanted, &mut rng);
            assert!(drawn.iter().all(|index| *index < count));
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), wanted);
        }
    }

    #[test]
    fn far_groups_get_a_centre_each() {
        let rows: Vec<f64> = (0..300)
            .map(|i| f64::from(i % 3) * 1e6 + f64::from(i) * 1e-3)
            .collect();
        let matrix = ndarray::ArrayView2::from_shape((300, 1), &rows).unwrap();
        let points = Points::new(matrix).unwrap();
        for seed in 0..20 {
            let mut centres =
                first_centres(&points, 3, Start::PlusPlus, &mut ChaCha8Rng::seed_from_u64(seed));
            centres.sort_by(f64::total_cmp);
            assert!(centres[0] < 1.0 && centres[2] > 1.9e6);
            assert_abs_diff_eq!(centres[1], 1e6, epsilon = 1.0);
        }
    }
}
