//! Nearest neighbours on the manifold.

use std::collections::BTreeMap;

use ndarray::{Array2, Axis};

use crate::check;
use crate::compare::distance::{Distance, Extension};
use crate::compare::pairwise::cross_distances;
use crate::error::{Error, Result};
use crate::manifold::point::GrassmannPoint;
use crate::scalar::Scalar;

/// The k nearest of a set of points to each query, nearest first.
///
/// ```
/// use egg_geometry::{Distance, Extension, GrassmannPoint, nearest_neighbours};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let query = GrassmannPoint::from_spanning(array![[1.0], [0.2]].view())?;
/// let found = nearest_neighbours(&[query], &[y, x], 1, Distance::Geodesic, Extension::YeLim)?;
/// assert_eq!(found.indices, array![[1]]);
/// assert_eq!(found.vote(&["vertical", "horizontal"])?, vec!["horizontal"]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Neighbours<T> {
    /// Queries x k, positions in the set of points.
    pub indices: Array2<usize>,
    /// Queries x k, ascending along each row.
    pub distances: Array2<T>,
}

/// The k nearest of `points` to each of `queries`, by exhaustive search in
/// parallel on rayon. Of equally distant points the one of lower index comes
/// first. Queries and points may have different dimensions, as in
/// [`distance_matrix`](crate::distance_matrix): with
/// [`Extension::Projector`] and `Projection` the neighbours are those of the
/// embedded projectors.
///
/// # Errors
/// [`Error::Parameter`] unless `1 <= k <= points.len()`; as
/// [`cross_distances`].
///
/// ```
/// use egg_geometry::{Distance, Error, Extension, GrassmannPoint, nearest_neighbours};
///
/// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
/// let refused = nearest_neighbours(&[x.clone()], &[x], 2, Distance::Geodesic, Extension::YeLim);
/// assert!(matches!(refused, Err(Error::Parameter { name: "k", .. })));
/// # Ok::<(), Error>(())
/// ```
pub fn nearest_neighbours<T: Scalar>(
    queries: &[GrassmannPoint<T>],
    points: &[GrassmannPoint<T>],
    k: usize,
    distance: Distance,
    extension: Extension,
) -> Result<Neighbours<T>> {
    check::at_least("points", points.len(), 1)?;
    if k == 0 || k > points.len() {
        return Err(Error::Parameter {
            name: "k",
            value: k as f64,
            requirement: "it must be at least 1 and at most the number of points",
        });
    }
    let all = cross_distances(queries, points, distance, extension)?;
    let mut found = Neighbours {
        indices: Array2::zeros((queries.len(), k)),
        distances: Array2::zeros((queries.len(), k)),
    };
    for (query, row) in all.axis_iter(Axis(0)).enumerate() {
        let mut order: Vec<usize> = (0..points.len()).collect();
        let nearer = |i: &usize, j: &usize| row[*i].as_f64().total_cmp(&row[*j].as_f64()).then(i.cmp(j));
        if k < order.len() {
            order.select_nth_unstable_by(k - 1, nearer);
            order.truncate(k);
        }
        order.sort_unstable_by(nearer);
        for (rank, index) in order.into_iter().enumerate() {
            found.indices[[query, rank]] = index;
            found.distances[[query, rank]] = row[index];
        }
    }
    Ok(found)
}

impl<T: Scalar> Neighbours<T> {
    /// The commonest label among each query's neighbours; of equally common
    /// ones, that of the nearest neighbour.
    ///
    /// # Errors
    /// [`Error::Length`] if a neighbour has no label.
    ///
    /// ```
    /// # use egg_geometry::Neighbours;
    /// # use ndarray::array;
    /// let found = Neighbours { indices: array![[0, 1, 2]], distances: array![[0.1, 0.2, 0.3]] };
    /// assert_eq!(found.vote(&['a', 'b', 'b'])?, vec!['b']);
    /// assert_eq!(found.vote(&['a', 'b', 'c'])?, vec!['a']);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn vote<L: Ord + Clone>(&self, labels: &[L]) -> Result<Vec<L>> {
        let needed = self.indices.iter().max().map_or(0, |last| last.saturating_add(1));
        if labels.len() < needed {
            return Err(Error::Length {
                what: "labels",
                expected: needed,
                found: labels.len(),
            });
        }
        let winner = |row: ndarray::ArrayView1<'_, usize>| {
            let mut votes: BTreeMap<&L, usize> = BTreeMap::new();
            for index in row {
                *votes.entry(&labels[*index]).or_default() += 1;
            }
            let most = votes.values().max().copied().unwrap_or(0);
            row.iter()
                .map(|index| &labels[*index])
                .find(|label| votes[*label] == most)
        };
        Ok(self
            .indices
            .rows()
            .into_iter()
            .filter_map(winner)
            .cloned()
            .collect())
    }
}
