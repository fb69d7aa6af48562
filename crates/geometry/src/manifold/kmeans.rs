//! k-means over points of the Grassmann manifold.

use rand::{Rng, RngExt};

use crate::check;
use crate::compare::distance::{Distance, Extension};
use crate::compare::pairwise::cross_distances;
use crate::error::{Error, Result};
use crate::manifold::mean::{KarcherSolver, extrinsic_mean_within};
use crate::manifold::point::{GrassmannPoint, check_common_ambient, check_common_manifold};
use crate::scalar::Scalar;

/// Which mean a cluster has, and so which distance is squared and summed.
///
/// ```
/// use egg_geometry::{CentreKind, Distance};
/// assert_eq!(CentreKind::Karcher.distance(), Distance::Geodesic);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CentreKind {
    /// The projector mean, for the projection distance: closed form, quick, and
    /// for points of any dimensions.
    #[default]
    Extrinsic,
    /// The Karcher mean, for the geodesic distance; points of one dimension. One that has not
    /// converged after 200 steps is used as it is.
    Karcher,
}

impl CentreKind {
    /// The distance whose squares this mean minimises; between different
    /// dimensions under [`Extension::Projector`].
    ///
    /// ```
    /// use egg_geometry::{CentreKind, Distance};
    /// assert_eq!(CentreKind::Extrinsic.distance(), Distance::Projection);
    /// ```
    pub fn distance(self) -> Distance {
        match self {
            Self::Extrinsic => Distance::Projection,
            Self::Karcher => Distance::Geodesic,
        }
    }
}

/// k-means (Lloyd, k-means++ starts) over subspaces of one R^m.
///
/// With [`CentreKind::Extrinsic`] the points may have different dimensions, as
/// EGG's graphs do. The cost is half the sum of squared `||P_i - C||_F`, and
/// each centre `C` is a subspace again, the [`extrinsic_mean_within`] of its
/// points: of all subspaces with a dimension from the least to the largest
/// among the points of *all* clusters, the one that costs least. As every step
/// chooses from the same set, none can raise the cost beyond rounding. Points
/// of one Gr(p, m) have centres in Gr(p, m).
///
/// The Euclidean mean of the projectors would cost less than `C`, but it is no
/// subspace. With it this would be k-means of the
/// [`Isometric`](crate::Flatten::Isometric) embeddings, for any program that
/// clusters vectors.
///
/// [`CentreKind::Karcher`] is for points of one dimension.
///
/// ```
/// use egg_geometry::{GrassmannKMeans, GrassmannPoint};
/// use ndarray::array;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let near = |x: f64, y: f64| GrassmannPoint::from_spanning(array![[x], [y]].view());
/// let points = [near(1.0, 0.0)?, near(0.1, 1.0)?, near(1.0, 0.1)?, near(0.0, 1.0)?];
/// let found = GrassmannKMeans::new(2).fit(&points, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!(found.labels[0], found.labels[2]);
/// assert_ne!(found.labels[0], found.labels[1]);
///
/// // Lines, and the plane that holds them.
/// let plane = GrassmannPoint::from_orthonormal(array![[1.0, 0.0], [0.0, 1.0]])?;
/// let mixed = [near(1.0, 0.0)?, plane.clone(), near(1.0, 0.1)?, plane];
/// let found = GrassmannKMeans::new(2).fit(&mixed, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!(found.centres[found.labels[0]].dimension(), 1);
/// assert_eq!(found.centres[found.labels[1]].dimension(), 2);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrassmannKMeans {
    /// Number of clusters k.
    pub clusters: usize,
    /// Which mean and distance.
    pub centre: CentreKind,
    /// Independent starts; the best is kept.
    pub starts: usize,
    /// Assignments at most, in each start.
    pub max_iterations: usize,
}

/// The result of k-means.
///
/// ```
/// # use egg_geometry::{GrassmannKMeans, GrassmannPoint};
/// # use rand::SeedableRng;
/// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
/// let found = GrassmannKMeans::new(1).fit(&[x], &mut rand_chacha::ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!((found.labels, found.converged), (vec![0], true));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GrassmannClustering<T> {
    /// The cluster of each point, `0..k`.
    pub labels: Vec<usize>,
    /// The k means, of dimensions among those of the points or between them.
    pub centres: Vec<GrassmannPoint<T>>,
    /// Sum of squared distances of the points to their centres, those of
    /// [`CentreKind::distance`]: for extrinsic centres half of that of
    /// [`projector_distance`](crate::projector_distance).
    pub inertia: T,
    /// Assignments made in the start that was kept.
    pub iterations: usize,
    /// Whether the labels stopped changing.
    pub converged: bool,
}

impl GrassmannKMeans {
    /// k clusters, extrinsic means, 10 starts, 100 assignments at most.
    ///
    /// ```
    /// use egg_geometry::{CentreKind, GrassmannKMeans};
    /// let karcher = GrassmannKMeans { centre: CentreKind::Karcher, ..GrassmannKMeans::new(3) };
    /// assert_eq!(karcher.starts, 10);
    /// ```
    pub fn new(clusters: usize) -> Self {
        Self {
            clusters,
            centre: CentreKind::default(),
            starts: 10,
            max_iterations: 100,
        }
    }

    fn validate(&self, points: usize) -> Result<()> {
        let refuse = |name, value: usize, requirement| Error::Parameter {
            name,
            value: value as f64,
            requirement,
        };
        if self.clusters == 0 || self.clusters > points {
            return Err(refuse(
                "clusters",
                self.clusters,
                "it must be at least 1 and at most the number of points",
            ));
        }
        if self.starts == 0 {
            return Err(refuse("starts", 0, "it must be at least 1"));
        }
        if self.max_iterations == 0 {
            return Err(refuse("max_iterations", 0, "it must be at least 1"));
        }
        Ok(())
    }

    /// Clusters the points. The same generator state gives the same result on
    /// any number of threads.
    ///
    /// Complexity: `O(N k m p^2)` for an assignment, p the largest dimension, and
    /// for an extrinsic mean of points with s dimensions in all `O(m s min(m, s))`.
    ///
    /// # Errors
    /// [`Error::TooFew`] for no points, [`Error::Parameter`] for settings out of
    /// range, [`Error::AmbientMismatch`], or with Karcher means
    /// [`Error::DimensionMismatch`] (both as [`Error::InBatch`]),
    /// [`Error::Backend`].
    ///
    /// ```
    /// # use egg_geometry::{Error, GrassmannKMeans, GrassmannPoint};
    /// # use rand::SeedableRng;
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// let refused = GrassmannKMeans::new(2).fit(&[x], &mut rand_chacha::ChaCha8Rng::seed_from_u64(0));
    /// assert!(matches!(refused, Err(Error::Parameter { name: "clusters", .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fit<T: Scalar, R: Rng + ?Sized>(
        &self,
        points: &[GrassmannPoint<T>],
        rng: &mut R,
    ) -> Result<GrassmannClustering<T>> {
        check::at_least("points", points.len(), 1)?;
        match self.centre {
            CentreKind::Extrinsic => check_common_ambient(points)?,
            CentreKind::Karcher => check_common_manifold(
                points,
                "k-means with Karcher means",
                "CentreKind::Extrinsic takes any",
            )?,
        }
        self.validate(points.len())?;
        let mut best = self.one_start(points, rng)?;
        for _ in 1..self.starts {
            let next = self.one_start(points, rng)?;
            if next.inertia < best.inertia {
                best = next;
            }
        }
        Ok(best)
    }

    fn one_start<T: Scalar, R: Rng + ?Sized>(
        &self,
        points: &[GrassmannPoint<T>],
        rng: &mut R,
    ) -> Result<GrassmannClustering<T>> {
        let mut centres = self.plus_plus(points, rng)?;
        let mut assigned = Assignment::new(points, &centres, self.centre)?;
        let mut iterations = 1;
        let mut converged = false;
        while iterations < self.max_iterations && !converged {
            self.update(points, &assigned, &mut centres)?;
            let next = Assignment::new(points, &centres, self.centre)?;
            iterations += 1;
            converged = next.labels == assigned.labels;
            assigned = next;
        }
        Ok(GrassmannClustering {
            inertia: assigned.squares.iter().copied().sum(),
            labels: assigned.labels,
            centres,
            iterations,
            converged,
        })
    }

    /// k-means++: each next centre is a point drawn with probability
    /// proportional to its squared distance from those chosen.
    fn plus_plus<T: Scalar, R: Rng + ?Sized>(
        &self,
        points: &[GrassmannPoint<T>],
        rng: &mut R,
    ) -> Result<Vec<GrassmannPoint<T>>> {
        let mut chosen = vec![rng.random_range(0..points.len())];
        let mut squares = vec![f64::INFINITY; points.len()];
        while chosen.len() < self.clusters {
            let last = chosen.last().copied().unwrap_or(0);
            let latest = std::slice::from_ref(&points[last]);
            let distances = cross_distances(points, latest, self.centre.distance(), Extension::Projector)?;
            for (square, distance) in squares.iter_mut().zip(&distances) {
                *square = square.min(distance.as_f64().powi(2));
            }
            squares[last] = 0.0;
            chosen.push(draw(&squares, &chosen, rng));
        }
        Ok(chosen.into_iter().map(|index| points[index].clone()).collect())
    }

    /// Moves every centre to the mean of its points. A cluster that lost all
    /// of them takes the point that is worst off where it is.
    fn update<T: Scalar>(
        &self,
        points: &[GrassmannPoint<T>],
        assigned: &Assignment<T>,
        centres: &mut [GrassmannPoint<T>],
    ) -> Result<()> {
        let labels = assigned.with_no_cluster_empty(centres.len());
        // Of all points: were it those of a cluster, its last centre could lie
        // outside, and the next cost more.
        let of_points = || points.iter().map(GrassmannPoint::dimension);
        let (least, most) = (of_points().min().unwrap_or(1), of_points().max().unwrap_or(1));
        for (cluster, centre) in centres.iter_mut().enumerate() {
            let members: Vec<GrassmannPoint<T>> = points
                .iter()
                .zip(&labels)
                .filter(|(_, label)| **label == cluster)
                .map(|(point, _)| point.clone())
                .collect();
            *centre = match self.centre {
                CentreKind::Extrinsic => extrinsic_mean_within(&members, least..=most)?.point,
                CentreKind::Karcher => KarcherSolver::default().run(&members)?.point,
            };
        }
        Ok(())
    }
}

/// An index drawn with probability proportional to the weights; if all are 0,
/// the first that is not chosen yet.
fn draw<R: Rng + ?Sized>(weights: &[f64], chosen: &[usize], rng: &mut R) -> usize {
    let total: f64 = weights.iter().sum();
    let first_free = (0..weights.len())
        .find(|index| !chosen.contains(index))
        .unwrap_or(0);
    let mut rest = rng.random::<f64>() * total;
    let drawn = weights.iter().position(|weight| {
        rest -= weight;
        *weight > 0.0 && rest <= 0.0
    });
    drawn.unwrap_or(first_free)
}

/// Each point's nearest centre and the squared distance to it.
struct Assignment<T> {
    labels: Vec<usize>,
    squares: Vec<T>,
}

impl<T: Scalar> Assignment<T> {
    fn new(points: &[GrassmannPoint<T>], centres: &[GrassmannPoint<T>], kind: CentreKind) -> Result<Self> {
        let distances = cross_distances(points, centres, kind.distance(), Extension::Projector)?;
        let nearest = distances.rows().into_iter().map(|row| {
            // The first of equals, so that ties are broken deterministically.
            row.iter()
                .copied()
                .enumerate()
                .fold(
                    (0, T::infinity()),
                    |best, next| if next.1 < best.1 { next } else { best },
                )
        });
        let (labels, lengths): (Vec<usize>, Vec<T>) = nearest.unzip();
        Ok(Self {
            labels,
            squares: lengths.into_iter().map(|length| length * length).collect(),
        })
    }

    /// The labels, with the worst-off points moved to clusters that have none.
    fn with_no_cluster_empty(&self, clusters: usize) -> Vec<usize> {
        let mut labels = self.labels.clone();
        let mut sizes = vec![0usize; clusters];
        for label in &labels {
            sizes[*label] += 1;
        }
        for cluster in 0..clusters {
            if sizes[cluster] > 0 {
                continue;
            }
            let worst = (0..labels.len())
                .filter(|point| sizes[labels[*point]] > 1)
                .max_by(|i, j| self.squares[*i].as_f64().total_cmp(&self.squares[*j].as_f64()));
            if let Some(point) = worst {
                sizes[labels[point]] -= 1;
                sizes[cluster] = 1;
                labels[point] = cluster;
            }
        }
        labels
    }
}
