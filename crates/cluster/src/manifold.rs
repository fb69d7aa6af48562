//! k-means over graphs or groups of nodes as points of the Grassmann manifold:
//! [`egg_geometry::GrassmannKMeans`], with this crate's labels.
//!
//! Where [`kmeans`](crate::kmeans) clusters the *nodes* of one graph, this
//! clusters *subspaces*: each H (n_i x m) of a list, of any number of rows, is
//! one point.
//!
//! ```
//! use egg_cluster::manifold::cluster_subspaces;
//! use egg_cluster::metrics::Contingency;
//! use egg_geometry::{CentreKind, GrassmannKMeans};
//! use ndarray::array;
//! use rand::SeedableRng;
//! use rand_chacha::ChaCha8Rng;
//!
//! // Four groups of nodes; two spread along the first axis, two along the second.
//! let groups = [
//!     array![[2.0, 0.1, 0.0], [4.0, 0.0, 0.1]],
//!     array![[0.1, 3.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.1]],
//!     array![[1.0, 0.0, 0.0]],
//!     array![[0.0, 5.0, 0.2], [0.1, 4.0, 0.0]],
//! ];
//! let views: Vec<_> = groups.iter().map(|group| group.view()).collect();
//! let kmeans = GrassmannKMeans { centre: CentreKind::Karcher, ..GrassmannKMeans::new(2) };
//! let found = cluster_subspaces(&views, 1, &kmeans, &mut ChaCha8Rng::seed_from_u64(0))?;
//! assert_eq!(Contingency::new(&[0, 1, 0, 1], &found.labels)?.accuracy()?, 1.0);
//! # Ok::<(), egg_cluster::Error>(())
//! ```

use egg_geometry::{GrassmannClustering, GrassmannKMeans, GrassmannPoint, RankRule, Scalar, rectify_batch};
use ndarray::ArrayView2;
use rand::Rng;

use crate::error::{Error, Result};

/// Clusters of subspaces.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SubspaceClusters<T> {
    /// The cluster of each matrix.
    pub labels: Vec<u32>,
    /// Centres, inertia and iterations.
    pub found: GrassmannClustering<T>,
}

/// Clusters matrices (n_i x m) by the p-dimensional subspaces of R^m that their
/// rows span, in parallel.
///
/// # Errors
/// [`Error::Geometry`] for what a matrix or the settings have wrong, and
/// [`Error::Setting`] if a matrix has a rank below p, or singular values tied
/// at the cut: k-means needs points of one dimension.
pub fn cluster_subspaces<T: Scalar, R: Rng + ?Sized>(
    matrices: &[ArrayView2<'_, T>],
    p: usize,
    kmeans: &GrassmannKMeans,
    rng: &mut R,
) -> Result<SubspaceClusters<T>> {
    let mut points: Vec<GrassmannPoint<T>> = Vec::with_capacity(matrices.len());
    for (index, rectified) in rectify_batch(matrices, RankRule::Fixed(p))?
        .into_iter()
        .enumerate()
    {
        if rectified.choice.p != p {
            return Err(Error::setting(
                "p",
                format!("{p}, and matrix {index} has {} directions", rectified.choice.p),
                "every matrix must have p, with no tie at the cut: choose another p",
            ));
        }
        points.push(rectified.point()?);
    }
    let found = kmeans.fit(&points, rng)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more clusters than matrices in memory"
    )]
    let labels = found.labels.iter().map(|label| *label as u32).collect();
    Ok(SubspaceClusters { labels, found })
}
