//! Running k-means.

use egg_geometry::Scalar;
use egg_tensor::{blocks, vectorised};
use ndarray::{Array2, ArrayView2};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::config::KMeans;
use super::distance::{LANES, Nearest, Tile};
use super::lloyd::Lloyd;
use super::plus_plus::first_centres;
use super::points::Points;
use crate::error::{Error, Result, require};

/// What k-means found.
///
/// ```
/// use egg_cluster::kmeans::KMeansConfig;
/// use ndarray::array;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let points = array![[0.0], [9.0], [0.5], [9.5]];
/// let found = KMeansConfig::new(2).check()?.fit(points.view(), &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!(found.labels[0], found.labels[2]);
/// assert_eq!(found.sizes(), [2, 2]);
/// assert!((found.inertia - 0.25).abs() < 1e-15 && found.converged);
/// assert_eq!(found.predict(array![[8.0]].view())?, [found.labels[1]]);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KMeansFit {
    /// The cluster of each point, below k.
    pub labels: Vec<u32>,
    /// k x d.
    pub centres: Array2<f64>,
    /// The sum of squared distances of the points to their centres.
    pub inertia: f64,
    /// Iterations of the run that was kept.
    pub iterations: usize,
    /// Whether that run ended before its iterations were used up.
    pub converged: bool,
    /// Which run was kept, from 0.
    pub start: usize,
}

impl KMeans {
    /// Clusters the rows of an n x d matrix.
    ///
    /// The same state of the generator gives the same bits on any number of
    /// threads: each run has a generator of its own, seeded from `rng` in
    /// order, and sums over blocks of rows are added in order. Arithmetic
    /// is f64 for either type of input.
    ///
    /// If there are fewer different points than clusters, some clusters stay
    /// empty ([`KMeansFit::sizes`] shows them).
    ///
    /// # Complexity
    /// At most `O(starts iterations n k d)`; bounds on distances leave out most
    /// of it after the first iterations. Memory: 20 bytes a point and run that
    /// in progress, in addition to the matrix.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NonFinite`], and [`Error::Setting`] if there
    /// are fewer points than clusters.
    pub fn fit<T: Scalar, R: Rng + ?Sized>(
        &self,
        points: ArrayView2<'_, T>,
        rng: &mut R,
    ) -> Result<KMeansFit> {
        let config = self.config();
        let points = Points::new(points)?;
        enough(&points, config.clusters)?;
        let tolerance = config.tolerance * points.mean_variance();
        let seeds: Vec<u64> = (0..config.starts).map(|_| rng.random()).collect();
        let run = |(start, seed): (usize, &u64)| {
            let mut rng = ChaCha8Rng::seed_from_u64(*seed);
            let centres = first_centres(&points, config.clusters, config.start, &mut rng);
            let mut lloyd = Lloyd::new(&points, centres);
            let ending = lloyd.run(config.max_iterations, tolerance);
            Run {
                inertia: lloyd.inertia(),
                labels: lloyd.labels(),
                centres: lloyd.centres,
                ending,
                start,
            }
        };
        let runs = seeds.par_iter().enumerate().map(run);
        match runs.reduce_with(Run::better) {
            Some(best) => Ok(best.fit(&points)),
            None => Err(Error::setting("starts", 0, "it must be at least 1")),
        }
    }

    /// Clusters the rows of an n x d matrix, beginning with the given centres
    /// (k x d): one run, with nothing random in it.
    ///
    /// # Errors
    /// As [`Self::fit`], and [`Error::Length`] if the centres are not k x d.
    ///
    /// ```
    /// use egg_cluster::kmeans::KMeansConfig;
    /// use ndarray::array;
    ///
    /// let (points, centres) = (array![[0.0], [9.0], [0.5]], array![[9.0], [1.0]]);
    /// let found = KMeansConfig::new(2).check()?.fit_from(points.view(), centres.view())?;
    /// assert_eq!(found.labels, [1, 0, 1]);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn fit_from<T: Scalar, C: Scalar>(
        &self,
        points: ArrayView2<'_, T>,
        centres: ArrayView2<'_, C>,
    ) -> Result<KMeansFit> {
        let config = self.config();
        let points = Points::new(points)?;
        enough(&points, config.clusters)?;
        let length = |unit, expected, found| Error::Length {
            what: "matrix of centres",
            unit,
            expected,
            found,
        };
        if centres.nrows() != config.clusters {
            return Err(length("rows", config.clusters, centres.nrows()));
        }
        if centres.ncols() != points.width {
            return Err(length("columns", points.width, centres.ncols()));
        }
        if let Some(((row, column), value)) = centres.indexed_iter().find(|(_, x)| !x.is_finite()) {
            return Err(Error::NonFinite {
                what: "matrix of centres",
                row,
                column,
                value: value.as_f64(),
            });
        }
        let tolerance = config.tolerance * points.mean_variance();
        let centres = centres.iter().map(|x| x.as_f64() * points.scale).collect();
        let mut lloyd = Lloyd::new(&points, centres);
        let ending = lloyd.run(config.max_iterations, tolerance);
        let run = Run {
            inertia: lloyd.inertia(),
            labels: lloyd.labels(),
            centres: lloyd.centres,
            ending,
            start: 0,
        };
        Ok(run.fit(&points))
    }
}

/// Refuses fewer points than clusters.
pub(super) fn enough<T: Scalar>(points: &Points<'_, T>, clusters: usize) -> Result<()> {
    require(
        clusters <= points.count,
        "clusters",
        clusters,
        "there must be at least as many points as clusters",
    )
}

/// A finished run.
struct Run {
    inertia: f64,
    labels: Vec<u32>,
    centres: Vec<f64>,
    ending: super::lloyd::Ending,
    start: usize,
}

impl Run {
    /// The run of lower inertia; of equals, the first.
    fn better(self, other: Self) -> Self {
        let order = self.inertia.total_cmp(&other.inertia);
        if order.then(self.start.cmp(&other.start)).is_le() {
            self
        } else {
            other
        }
    }

    /// In the units of the data.
    fn fit<T: Scalar>(self, points: &Points<'_, T>) -> KMeansFit {
        KMeansFit {
            labels: self.labels,
            inertia: unscaled_inertia(self.inertia, points),
            centres: unscaled_centres(&self.centres, points),
            iterations: self.ending.iterations,
            converged: self.ending.converged,
            start: self.start,
        }
    }
}

/// Centres in the units of the data, k x d.
pub(super) fn unscaled_centres<T: Scalar>(centres: &[f64], points: &Points<'_, T>) -> Array2<f64> {
    let shape = (centres.len() / points.width, points.width);
    Array2::from_shape_fn(shape, |(row, column)| {
        centres[row * points.width + column] / points.scale
    })
}

/// A sum of squares in the units of the data; the largest number there is if
/// it is larger.
pub(super) fn unscaled_inertia<T: Scalar>(inertia: f64, points: &Points<'_, T>) -> f64 {
    (inertia / points.scale / points.scale).min(f64::MAX)
}

impl KMeansFit {
    /// How many points each cluster has.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.centres.nrows()];
        for label in &self.labels {
            sizes[*label as usize] += 1;
        }
        sizes
    }

    /// The nearest centre of each row of an n x d matrix, the first of equals.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NonFinite`], and [`Error::Length`] unless the
    /// rows are as long as those that were clustered.
    pub fn predict<T: Scalar>(&self, points: ArrayView2<'_, T>) -> Result<Vec<u32>> {
        let points = Points::new(points)?;
        if points.width != self.centres.ncols() {
            return Err(Error::Length {
                what: "matrix of points",
                unit: "columns",
                expected: self.centres.ncols(),
                found: points.width,
            });
        }
        let centres: Vec<f64> = self.centres.iter().map(|x| x * points.scale).collect();
        Ok(nearest(&points, &centres).0)
    }
}

/// The label of every point and the sum of squared distances, scaled.
pub(super) fn nearest<T: Scalar>(points: &Points<'_, T>, centres: &[f64]) -> (Vec<u32>, f64) {
    const BLOCK: usize = 1024;
    let width = points.width;
    let mut labels = vec![0u32; points.count];
    let parts = blocks::map_chunks(&mut labels, BLOCK, |block, labels| {
        let first = block * BLOCK * width;
        let rows = &points.rows()[first..first + labels.len() * width];
        nearest_of(labels, rows, points, centres)
    });
    (labels, parts.iter().sum())
}

vectorised! {
    /// The labels of some rows, and the sum of their squared distances.
    fn nearest_of<T: Scalar>(
        simd;
        labels: &'a mut [u32],
        rows: &'a [T],
        points: &'a Points<'a, T>,
        centres: &'a [f64],
    ) -> f64 {
        let width = points.width;
        let mut tile = Tile::new(width, centres.len() / width);
        let mut sum = 0.0;
        for (part, labels) in rows.chunks(LANES * width).zip(labels.chunks_mut(LANES)) {
            tile.measure(simd, part, width, points.scale, centres);
            let nearest = Nearest::from_squares(simd, &tile.squares);
            labels.copy_from_slice(&nearest.label[..labels.len()]);
            sum += nearest.first[..labels.len()].iter().sum::<f64>();
        }
        sum
    }
}
