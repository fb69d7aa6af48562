//! Lloyd's iteration, skipping distances that can't matter.
//!
//! Every point keeps an upper bound of the distance to its own centre and a
//! lower bound of that to any other (Hamerly, *Making k-means even faster*,
//! 2010). When centres move, the bounds move with them; while they don't cross,
//! the point stays where it is and no distance is computed. Bounds are widened
//! by more than rounding could spoil them, so labels are those of the plain
//! iteration, whatever was skipped.

use egg_geometry::Scalar;
use egg_tensor::vectorised;
use rayon::prelude::*;

use super::distance::{LANES, Nearest, Tile, square};
use super::points::{Points, add_in_order};

/// The relative gap between bounds that is trusted: far more than accumulated
/// rounding.
const DOUBT: f64 = 1e-9;

/// The relative slack that a bound gains each time it is moved.
const WEAR: f64 = 1e-12;

/// From this many centres on, a bound that fails is first renewed by the one
/// distance it bounds, before all are computed.
const TIGHTEN_FROM: usize = 12;

/// Fewer distances times coordinates than this are done on one thread.
const PARALLEL_FROM: usize = 1 << 15;

/// Label and distance bounds of one point.
#[derive(Debug, Clone, Copy)]
struct Bound {
    upper: f64,
    lower: f64,
    label: u32,
}

/// Consecutive points with the sums of their clusters, kept from one iteration
/// to the next: while no label changes, neither do they.
#[derive(Debug)]
struct Block {
    bounds: Vec<Bound>,
    /// k x d
    sums: Vec<f64>,
    counts: Vec<u32>,
}

/// The state of one run.
#[derive(Debug)]
pub(super) struct Lloyd<'a, T: Scalar> {
    points: &'a Points<'a, T>,
    /// k x d, scaled.
    pub(super) centres: Vec<f64>,
    clusters: usize,
    blocks: Vec<Block>,
    block_rows: usize,
    /// How far each centre moved last.
    moved: Vec<f64>,
    fresh: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// The data of the centres that every block needs.
struct Movement<'a> {
    centres: &'a [f64],
    moved: &'a [f64],
    /// Half the distance of each centre to the next.
    half_gap: Vec<f64>,
    /// The farthest a centre moved, which one it was, and the second farthest.
    farthest: (f64, u32, f64),
    fresh: bool,
}

impl<'a, T: Scalar> Lloyd<'a, T> {
    /// A run from these centres (k x d, scaled).
    pub(super) fn new(points: &'a Points<'a, T>, centres: Vec<f64>) -> Self {
        let clusters = centres.len() / points.width;
        // Sums of all blocks together are no larger than the data.
        let block_rows = (4 * clusters).clamp(256, 1 << 20).next_multiple_of(LANES);
        let unknown = Bound {
            upper: f64::INFINITY,
            lower: 0.0,
            label: u32::MAX,
        };
        let blocks = (0..points.count)
            .step_by(block_rows)
            .map(|first| Block {
                bounds: vec![unknown; block_rows.min(points.count - first)],
                sums: vec![0.0; clusters * points.width],
                counts: vec![0; clusters],
            })
            .collect();
        Self {
            points,
            clusters,
            blocks,
            block_rows,
            moved: vec![0.0; clusters],
            fresh: true,
            centres,
        }
    }

    /// Iterates until no label changes or the squared movements of the centres
    /// add up to no more than `tolerance`.
    pub(super) fn run(&mut self, max_iterations: usize, tolerance: f64) -> Ending {
        for iteration in 1..=max_iterations {
            let changed = self.assign();
            self.update();
            if !changed {
                return Ending {
                    iterations: iteration,
                    converged: true,
                };
            }
            let shift: f64 = self.moved.iter().map(|distance| distance * distance).sum();
            let converged = shift <= tolerance;
            if converged || iteration == max_iterations {
                // Labels must be those of the centres that are returned.
                self.assign();
                return Ending {
                    iterations: iteration,
                    converged,
                };
            }
        }
        Ending {
            iterations: 0,
            converged: false,
        }
    }

    /// Gives every point its nearest centre; whether a label changed.
    fn assign(&mut self) -> bool {
        let movement = Movement {
            centres: &self.centres,
            moved: &self.moved,
            half_gap: half_gaps(&self.centres, self.points.width),
            farthest: farthest(&self.moved),
            fresh: self.fresh,
        };
        let (points, stride) = (self.points, self.block_rows * self.points.width);
        let work = |(block, rows): (&mut Block, &[T])| assign_block(block, rows, points, &movement);
        let rows = points.rows();
        let changed = if points.count * points.width * self.clusters < PARALLEL_FROM {
            let blocks = self.blocks.iter_mut().zip(rows.chunks(stride));
            blocks.map(work).fold(false, |any, changed| any | changed)
        } else {
            let blocks = self.blocks.par_iter_mut().zip(rows.par_chunks(stride));
            blocks.map(work).reduce(|| false, |a, b| a | b)
        };
        self.fresh = false;
        changed
    }

    /// Moves every centre to the mean of its points.
    fn update(&mut self) {
        let width = self.points.width;
        let mut counts = vec![0usize; self.clusters];
        for block in &self.blocks {
            for (count, part) in counts.iter_mut().zip(&block.counts) {
                *count += *part as usize;
            }
        }
        let parts = self.blocks.iter().map(|block| block.sums.as_slice());
        let mut sums = add_in_order(parts, self.clusters * width);
        if counts.contains(&0) {
            self.fill_empty(&mut sums, &mut counts);
        }
        let largest = (0..self.clusters).rev().max_by_key(|cluster| counts[*cluster]);
        for (sum, count) in sums.chunks_exact_mut(width).zip(&counts) {
            if *count > 0 {
                let count = *count as f64;
                sum.iter_mut().for_each(|x| *x /= count);
            }
        }
        for cluster in (0..self.clusters).filter(|cluster| counts[*cluster] == 0) {
            // There are fewer different points than centres: the centre is put on
            // the largest cluster's, not at the origin.
            let from = largest.unwrap_or(0) * width;
            sums.copy_within(from..from + width, cluster * width);
        }
        for ((moved, new), old) in self
            .moved
            .iter_mut()
            .zip(sums.chunks_exact(width))
            .zip(self.centres.chunks_exact(width))
        {
            *moved = square(new, 1.0, old).sqrt();
        }
        self.centres = sums;
    }

    /// Gives each cluster without points the point farthest from its centre, as
    /// scikit-learn does.
    fn fill_empty(&self, sums: &mut [f64], counts: &mut [usize]) {
        let width = self.points.width;
        let empty: Vec<usize> = (0..self.clusters).filter(|c| counts[*c] == 0).collect();
        let bounds = self.blocks.iter().flat_map(|block| &block.bounds);
        let mut by_distance: Vec<(f64, usize, usize)> = bounds
            .enumerate()
            .map(|(index, bound)| {
                let label = bound.label as usize;
                let centre = &self.centres[label * width..(label + 1) * width];
                let distance = square(self.points.row(index), self.points.scale, centre);
                (distance, index, label)
            })
            .collect();
        let farther =
            |a: &(f64, usize, usize), b: &(f64, usize, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let wanted = empty.len().min(by_distance.len());
        by_distance.select_nth_unstable_by(wanted - 1, farther);
        by_distance.truncate(wanted);
        by_distance.sort_unstable_by(farther);
        for (cluster, (distance, index, label)) in empty.into_iter().zip(by_distance) {
            // A point that is its own cluster would only leave that one empty.
            if distance == 0.0 || counts[label] <= 1 {
                continue;
            }
            for (column, x) in self.points.row(index).iter().enumerate() {
                let x = x.as_f64() * self.points.scale;
                sums[label * width + column] -= x;
                sums[cluster * width + column] = x;
            }
            counts[label] -= 1;
            counts[cluster] = 1;
        }
    }

    /// The label of every point.
    pub(super) fn labels(&self) -> Vec<u32> {
        let bounds = self.blocks.iter().flat_map(|block| &block.bounds);
        bounds.map(|bound| bound.label).collect()
    }

    /// The sum of the squared distances of the points to their centres, scaled.
    pub(super) fn inertia(&self) -> f64 {
        let (points, width) = (self.points, self.points.width);
        let parts: Vec<f64> = self
            .blocks
            .par_iter()
            .zip(points.rows().par_chunks(self.block_rows * width))
            .with_min_len(PARALLEL_FROM.div_ceil(self.block_rows * width))
            .map(|(block, rows)| inertia_of(&block.bounds, rows, points, &self.centres))
            .collect();
        parts.iter().sum()
    }
}

vectorised! {
    /// Labels for the rows of a block; whether one changed.
    fn assign_block<T: Scalar>(
        simd;
        block: &'a mut Block,
        rows: &'a [T],
        points: &'a Points<'a, T>,
        movement: &'a Movement<'a>,
    ) -> bool {
        block.assign(simd, rows, points, movement)
    }
}

vectorised! {
    /// The sum of the squared distances of rows to their centres, scaled.
    fn inertia_of<T: Scalar>(
        _simd;
        bounds: &'a [Bound],
        rows: &'a [T],
        points: &'a Points<'a, T>,
        centres: &'a [f64],
    ) -> f64 {
        let width = points.width;
        let mut sum = 0.0;
        for (row, bound) in rows.chunks_exact(width).zip(bounds) {
            let first = bound.label as usize * width;
            sum += square(row, points.scale, &centres[first..first + width]);
        }
        sum
    }
}

impl Block {
    /// Labels for the rows of this block; whether one changed.
    #[inline(always)]
    fn assign<T: Scalar, S: pulp::Simd>(
        &mut self,
        simd: S,
        rows: &[T],
        points: &Points<'_, T>,
        movement: &Movement<'_>,
    ) -> bool {
        let width = points.width;
        let clusters = movement.half_gap.len();
        let mut tile = Tile::new(width, clusters);
        let mut any_changed = false;
        for (part, bounds) in rows.chunks(LANES * width).zip(self.bounds.chunks_mut(LANES)) {
            if !movement.fresh {
                let mut sure = true;
                for bound in bounds.iter_mut() {
                    movement.apply(bound);
                    sure &= movement.holds(bound);
                }
                if !sure && clusters >= TIGHTEN_FROM {
                    sure = movement.tighten(part, points, bounds);
                }
                if sure {
                    continue;
                }
            }
            tile.measure(simd, part, width, points.scale, movement.centres);
            let nearest = Nearest::from_squares(simd, &tile.squares);
            for (at, bound) in bounds.iter_mut().enumerate() {
                any_changed |= bound.label != nearest.label[at];
                *bound = Bound {
                    upper: nearest.first[at].sqrt(),
                    lower: nearest.second[at].sqrt(),
                    label: nearest.label[at],
                };
            }
        }
        if any_changed {
            self.add(rows, points);
        }
        any_changed
    }

    /// The sums and sizes of the clusters within this block.
    #[inline(always)]
    fn add<T: Scalar>(&mut self, rows: &[T], points: &Points<'_, T>) {
        self.sums.fill(0.0);
        self.counts.fill(0);
        for (row, bound) in rows.chunks_exact(points.width).zip(&self.bounds) {
            let label = bound.label as usize;
            self.counts[label] += 1;
            let first = label * points.width;
            for (sum, x) in self.sums[first..first + points.width].iter_mut().zip(row) {
                *sum += x.as_f64() * points.scale;
            }
        }
    }
}

impl Movement<'_> {
    /// Moves a point's bounds with the centres.
    #[inline(always)]
    fn apply(&self, bound: &mut Bound) {
        let (farthest, which, second) = self.farthest;
        let others = if which == bound.label { second } else { farthest };
        bound.upper = (bound.upper + self.moved[bound.label as usize]) * (1.0 + WEAR);
        bound.lower = (bound.lower - others) - bound.lower.abs() * WEAR;
    }

    /// Whether the point is certainly nearest to its own centre.
    #[inline(always)]
    fn holds(&self, bound: &Bound) -> bool {
        let gap = self.half_gap[bound.label as usize];
        let limit = if gap > bound.lower { gap } else { bound.lower };
        bound.upper * (1.0 + DOUBT) < limit
    }

    /// Renews the upper bounds that fail; whether all hold then.
    #[inline(always)]
    fn tighten<T: Scalar>(&self, rows: &[T], points: &Points<'_, T>, bounds: &mut [Bound]) -> bool {
        let width = points.width;
        for (row, bound) in rows.chunks_exact(width).zip(bounds) {
            if !self.holds(bound) {
                let first = bound.label as usize * width;
                bound.upper = square(row, points.scale, &self.centres[first..first + width]).sqrt();
                if !self.holds(bound) {
                    return false;
                }
            }
        }
        true
    }
}

/// Half the distance of each centre to the nearest other one.
fn half_gaps(centres: &[f64], width: usize) -> Vec<f64> {
    let clusters = centres.len() / width;
    // Among very many centres this would cost more than it saves.
    if clusters > 256 {
        return vec![0.0; clusters];
    }
    let mut gaps = vec![f64::MAX; clusters];
    for (a, first) in centres.chunks_exact(width).enumerate() {
        for (b, second) in centres.chunks_exact(width).enumerate().skip(a + 1) {
            let half = square(first, 1.0, second).sqrt() / 2.0;
            gaps[a] = gaps[a].min(half);
            gaps[b] = gaps[b].min(half);
        }
    }
    gaps
}

/// The farthest movement, of which centre, and the second farthest.
fn farthest(moved: &[f64]) -> (f64, u32, f64) {
    let mut result = (0.0, u32::MAX, 0.0);
    for (centre, &distance) in (0u32..).zip(moved) {
        if distance > result.0 {
            result = (distance, centre, result.0);
        } else if distance > result.2 {
            result.2 = distance;
        }
    }
    result
}
