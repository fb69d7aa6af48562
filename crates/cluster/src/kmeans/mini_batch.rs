//! k-means on samples, for millions of rows.

use egg_geometry::Scalar;
use egg_tensor::vectorised;
use ndarray::ArrayView2;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::config::{Start, check_clusters};
use super::distance::{LANES, Nearest, Tile, square};
use super::fit::{KMeansFit, enough, nearest, unscaled_centres, unscaled_inertia};
use super::lloyd::Lloyd;
use super::plus_plus::{distinct, first_centres};
use super::points::Points;
use crate::error::{Result, require};

/// Lloyd's iterations at most on the sample of a start.
const SAMPLE_ITERATIONS: usize = 30;

/// Settings of mini-batch k-means (Sculley, *Web-scale k-means clustering*,
/// 2010): a step draws a batch of rows and moves each centre towards the mean
/// of those that are nearest to it, by their share of all rows assigned to it
/// so far.
///
/// ```
/// use egg_cluster::kmeans::MiniBatchConfig;
/// use ndarray::Array2;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let points = Array2::from_shape_fn((5000, 2), |(row, column)| ((row % 2) * 8 + column) as f32);
/// let kmeans = MiniBatchConfig::new(2).check()?;
/// let found = kmeans.fit(points.view(), &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_ne!(found.labels[0], found.labels[1]);
/// assert_eq!(found.sizes(), [2500, 2500]);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MiniBatchConfig {
    /// k, at least 1.
    pub clusters: usize,
    /// Rows of a batch, at least 1.
    #[serde(default = "defaults::batch")]
    pub batch: usize,
    /// Steps at most, in multiples of n / batch; at least 1.
    #[serde(default = "defaults::epochs")]
    pub epochs: usize,
    /// Steps without a lower smoothed inertia before it ends; at least 1.
    #[serde(default = "defaults::patience")]
    pub patience: usize,
    /// First centres that are tried, each by plain k-means on a sample of three
    /// batches; at least 1.
    #[serde(default = "defaults::starts")]
    pub starts: usize,
    /// A centre that has had less than this share of what the busiest has had
    /// is put on a row of the batch instead; 0 leaves all where they are; below 1.
    #[serde(default = "defaults::reassignment")]
    pub reassignment: f64,
    /// How the first centres are chosen.
    #[serde(default)]
    pub start: Start,
}

mod defaults {
    pub(super) fn batch() -> usize {
        1024
    }
    pub(super) fn epochs() -> usize {
        100
    }
    pub(super) fn patience() -> usize {
        10
    }
    pub(super) fn starts() -> usize {
        3
    }
    pub(super) fn reassignment() -> f64 {
        0.01
    }
}

/// Mini-batch k-means with settings that have been checked; see
/// [`MiniBatchConfig`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MiniBatchKMeans {
    config: MiniBatchConfig,
}

impl MiniBatchConfig {
    /// k clusters, batches of 1024, scikit-learn's values for the rest.
    pub fn new(clusters: usize) -> Self {
        Self {
            clusters,
            batch: defaults::batch(),
            epochs: defaults::epochs(),
            patience: defaults::patience(),
            starts: defaults::starts(),
            reassignment: defaults::reassignment(),
            start: Start::default(),
        }
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting), naming the first that is out
    /// of range.
    pub fn check(self) -> Result<MiniBatchKMeans> {
        check_clusters(self.clusters)?;
        for (name, value) in [
            ("batch", self.batch),
            ("epochs", self.epochs),
            ("patience", self.patience),
            ("starts", self.starts),
        ] {
            require(value >= 1, name, value, "it must be at least 1")?;
        }
        require(
            (0.0..1.0).contains(&self.reassignment),
            "reassignment",
            self.reassignment,
            "it must be at least 0 and below 1",
        )?;
        Ok(MiniBatchKMeans { config: self })
    }
}

impl MiniBatchKMeans {
    /// The settings.
    pub fn config(&self) -> &MiniBatchConfig {
        &self.config
    }

    /// Clusters the rows of an n x d matrix. At the end every row gets its
    /// nearest centre, in parallel, and the inertia is that of all rows.
    ///
    /// The same state of the generator gives the same bits on any number of
    /// threads.
    ///
    /// # Complexity
    /// `O(steps batch k d + n k d)`.
    ///
    /// # Errors
    /// As [`KMeans::fit`](super::KMeans::fit).
    pub fn fit<T: Scalar, R: Rng + ?Sized>(
        &self,
        points: ArrayView2<'_, T>,
        rng: &mut R,
    ) -> Result<KMeansFit> {
        let config = &self.config;
        let points = Points::new(points)?;
        enough(&points, config.clusters)?;
        let (centres, start) = self.first(&points, rng)?;
        let mut state = State {
            points: &points,
            counts: vec![0.0; config.clusters],
            centres,
            since_reassigned: 0,
        };
        let batch = config.batch.min(points.count);
        let most = config.epochs.saturating_mul(points.count.div_ceil(batch));
        let weight = (2.0 * batch as f64 / (points.count as f64 + 1.0)).min(1.0);
        let (mut smoothed, mut lowest, mut waited) = (None, f64::INFINITY, 0);
        let mut drawn = Vec::with_capacity(batch);
        let mut steps = 0;
        while steps < most && waited < config.patience {
            drawn.clear();
            drawn.extend((0..batch).map(|_| rng.random_range(0..points.count)));
            let inertia = state.step(&drawn, config.reassignment, rng);
            steps += 1;
            // The first batch has no earlier inertia to compare with.
            let now = match smoothed {
                None if steps == 1 => continue,
                None => inertia,
                Some(before) => before * (1.0 - weight) + inertia * weight,
            };
            smoothed = Some(now);
            waited = if now < lowest { 0 } else { waited + 1 };
            lowest = lowest.min(now);
        }
        let (labels, inertia) = nearest(&points, &state.centres);
        Ok(KMeansFit {
            labels,
            inertia: unscaled_inertia(inertia, &points),
            centres: unscaled_centres(&state.centres, &points),
            iterations: steps,
            converged: waited >= config.patience,
            start,
        })
    }

    /// The best of several first centres, on a sample.
    fn first<T: Scalar, R: Rng + ?Sized>(
        &self,
        points: &Points<'_, T>,
        rng: &mut R,
    ) -> Result<(Vec<f64>, usize)> {
        let config = &self.config;
        let wanted = config
            .batch
            .saturating_mul(3)
            .max(config.clusters.saturating_mul(3));
        let size = wanted.min(points.count);
        let trial = gathered(points, &distinct(points.count, size, rng));
        let trial = Points::new(ArrayView2::from_shape((size, points.width), &trial).map_err(shape)?)?;
        let mut best: Option<(f64, Vec<f64>, usize)> = None;
        for start in 0..config.starts {
            let sample = gathered(points, &distinct(points.count, size, rng));
            let sample = Points::new(ArrayView2::from_shape((size, points.width), &sample).map_err(shape)?)?;
            let centres = first_centres(&sample, config.clusters, config.start, rng);
            // A few iterations on a sample cost little compared with the steps,
            // which rarely correct a bad start.
            let mut lloyd = Lloyd::new(&sample, centres);
            lloyd.run(SAMPLE_ITERATIONS, 0.0);
            let mut centres = lloyd.centres;
            let change = points.scale / sample.scale;
            centres.iter_mut().for_each(|x| *x *= change);
            let on_trial: Vec<f64> = centres.iter().map(|x| x * trial.scale / points.scale).collect();
            let (_, inertia) = nearest(&trial, &on_trial);
            if best.as_ref().is_none_or(|(lowest, ..)| inertia < *lowest) {
                best = Some((inertia, centres, start));
            }
        }
        let (_, centres, start) = best.unwrap_or_default();
        Ok((centres, start))
    }
}

/// Unreachable: the numbers were gathered to this shape.
fn shape(_: ndarray::ShapeError) -> crate::Error {
    crate::Error::Empty {
        what: "sample of points",
    }
}

/// Rows by index, one after the other.
fn gathered<T: Scalar>(points: &Points<'_, T>, indices: &[usize]) -> Vec<T> {
    indices
        .iter()
        .flat_map(|index| points.row(*index))
        .copied()
        .collect()
}

struct State<'a, T: Scalar> {
    points: &'a Points<'a, T>,
    centres: Vec<f64>,
    /// How many rows each centre has had; whole numbers.
    counts: Vec<f64>,
    since_reassigned: usize,
}

impl<T: Scalar> State<'_, T> {
    /// Moves the centres by one batch; the mean squared distance before.
    fn step<R: Rng + ?Sized>(&mut self, drawn: &[usize], reassignment: f64, rng: &mut R) -> f64 {
        let rows = gathered(self.points, drawn);
        let (mut sums, mut sizes) = (vec![0.0; self.centres.len()], vec![0.0; self.counts.len()]);
        let inertia = add_batch(&mut sums, &mut sizes, &rows, self.points, &self.centres);
        let width = self.points.width;
        let centres = self.centres.chunks_exact_mut(width).zip(sums.chunks_exact(width));
        for ((centre, sum), (count, size)) in centres.zip(self.counts.iter_mut().zip(&sizes)) {
            if *size > 0.0 {
                *count += size;
                let share = size / *count;
                for (x, sum) in centre.iter_mut().zip(sum) {
                    *x += (sum / size - *x) * share;
                }
            }
        }
        self.since_reassigned += drawn.len();
        if self.counts.contains(&0.0) || self.since_reassigned >= 10 * self.counts.len() {
            self.since_reassigned = 0;
            self.reassign(drawn, reassignment, rng);
        }
        inertia / drawn.len() as f64
    }

    /// Puts centres with very few rows on rows of the batch.
    fn reassign<R: Rng + ?Sized>(&mut self, drawn: &[usize], reassignment: f64, rng: &mut R) {
        let busiest = self.counts.iter().copied().fold(0.0, f64::max);
        let mut idle: Vec<usize> = (0..self.counts.len())
            .filter(|cluster| self.counts[*cluster] < reassignment * busiest)
            .collect();
        // At most half a batch, the smallest first: the rest may grow in later steps.
        idle.sort_by(|a, b| self.counts[*a].total_cmp(&self.counts[*b]));
        idle.truncate((drawn.len() / 2).max(1));
        if idle.is_empty() {
            return;
        }
        let width = self.points.width;
        let places = distinct(drawn.len(), idle.len().min(drawn.len()), rng);
        let others = (0..self.counts.len()).filter(|cluster| !idle.contains(cluster));
        let least = others
            .map(|cluster| self.counts[cluster])
            .fold(f64::INFINITY, f64::min);
        for (cluster, place) in idle.iter().zip(places) {
            let row = self.points.row(drawn[place]);
            let centre = &mut self.centres[cluster * width..(cluster + 1) * width];
            // Another centre is on this row already.
            if square(row, self.points.scale, centre) > 0.0 {
                for (y, x) in centre.iter_mut().zip(row) {
                    *y = x.as_f64() * self.points.scale;
                }
            }
            self.counts[*cluster] = least;
        }
    }
}

vectorised! {
    /// Adds rows to the sums and sizes of their clusters; the sum of their
    /// squared distances.
    fn add_batch<T: Scalar>(
        simd;
        sums: &'a mut [f64],
        sizes: &'a mut [f64],
        rows: &'a [T],
        points: &'a Points<'a, T>,
        centres: &'a [f64],
    ) -> f64 {
        let (width, scale) = (points.width, points.scale);
        let mut tile = Tile::new(width, sizes.len());
        let mut inertia = 0.0;
        for part in rows.chunks(LANES * width) {
            tile.measure(simd, part, width, scale, centres);
            let nearest = Nearest::from_squares(simd, &tile.squares);
            for (at, row) in part.chunks_exact(width).enumerate() {
                let label = nearest.label[at] as usize;
                inertia += nearest.first[at];
                sizes[label] += 1.0;
                for (sum, x) in sums[label * width..(label + 1) * width].iter_mut().zip(row) {
                    *sum += x.as_f64() * scale;
                }
            }
        }
        inertia
    }
}
