//! Measures that first match clusters with classes.

use super::assignment::best_assignment;
use super::contingency::Contingency;
use crate::error::Result;

impl Contingency {
    /// The class of each cluster in a matching with the most points in common,
    /// by their numbers in [`Self::cluster_sizes`] and [`Self::class_sizes`].
    /// `None` for an unmatched cluster, or one that shares no point with a class
    /// that is.
    ///
    /// Where several matchings are best, it is always the same one of them.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) if both sides have so many
    /// labels that a table of them has more than 2^28 cells (in a part that is
    /// connected by overlaps).
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// let table = Contingency::new(&[0, 0, 0, 1], &[2, 2, 1, 0])?;
    /// assert_eq!(table.assignment()?, [Some(1), None, Some(0)]);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn assignment(&self) -> Result<Vec<Option<u32>>> {
        best_assignment(
            self.overlaps(),
            self.class_sizes().len(),
            self.cluster_sizes().len(),
        )
    }

    /// The share of points whose cluster is matched with their class, in the
    /// best matching: "clustering accuracy". Classes and clusters may differ in
    /// number; points of unmatched clusters count as wrong.
    ///
    /// # Errors
    /// As [`Self::assignment`].
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// let table = Contingency::new(&[0, 0, 0, 1], &[2, 2, 1, 0])?;
    /// assert_eq!(table.accuracy()?, 0.75);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn accuracy(&self) -> Result<f64> {
        Ok(self.accuracy_of(&self.assignment()?))
    }

    fn accuracy_of(&self, assignment: &[Option<u32>]) -> f64 {
        let hits: u64 = self.hits(assignment).map(|(_, _, points)| points).sum();
        hits as f64 / self.points() as f64
    }

    /// Matched classes and clusters with the points they share.
    fn hits<'a>(&'a self, assignment: &'a [Option<u32>]) -> impl Iterator<Item = (usize, usize, u64)> + 'a {
        let matched = self
            .overlaps()
            .iter()
            .filter(|overlap| assignment[overlap.cluster as usize] == Some(overlap.class));
        matched.map(|overlap| (overlap.class as usize, overlap.cluster as usize, overlap.points))
    }

    /// The mean over the classes of `F1 = 2 hits / (class size + size of its
    /// cluster)`, with clusters named by [`Self::assignment`]. A class without
    /// a cluster has F1 = 0; a cluster without a class is no class of its own.
    ///
    /// scikit-learn's `f1_score(average="macro", labels=classes)` of the
    /// clusters so renamed. Where several matchings are best, it is that of one
    /// of them.
    ///
    /// # Errors
    /// As [`Self::assignment`].
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// let table = Contingency::new(&[0, 0, 0, 1], &[2, 2, 1, 0])?;
    /// assert_eq!(table.macro_f1()?, (4.0 / 5.0 + 1.0) / 2.0);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn macro_f1(&self) -> Result<f64> {
        Ok(self.macro_f1_of(&self.assignment()?))
    }

    fn macro_f1_of(&self, assignment: &[Option<u32>]) -> f64 {
        let sum: f64 = self
            .hits(assignment)
            .map(|(class, cluster, points)| {
                let sizes = self.class_sizes()[class] + self.cluster_sizes()[cluster];
                2.0 * points as f64 / sizes as f64
            })
            .sum();
        sum / self.class_sizes().len() as f64
    }

    /// All measures of agreement at once.
    ///
    /// # Errors
    /// As [`Self::assignment`].
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// let all = Contingency::new(&[0, 0, 1], &[1, 1, 0])?.agreement()?;
    /// assert_eq!((all.accuracy, all.adjusted_rand, all.macro_f1), (1.0, 1.0, 1.0));
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn agreement(&self) -> Result<Agreement> {
        let assignment = self.assignment()?;
        Ok(Agreement {
            accuracy: self.accuracy_of(&assignment),
            normalised_mutual_information: self.normalised_mutual_information(),
            adjusted_rand: self.adjusted_rand(),
            completeness: self.completeness(),
            homogeneity: self.homogeneity(),
            v_measure: self.v_measure(),
            macro_f1: self.macro_f1_of(&assignment),
        })
    }
}

/// How well a clustering agrees with the classes; see the methods of
/// [`Contingency`] of the same names.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Agreement {
    /// By optimal assignment.
    pub accuracy: f64,
    /// By the arithmetic mean of the entropies.
    pub normalised_mutual_information: f64,
    /// Adjusted for chance.
    pub adjusted_rand: f64,
    /// Classes lie in one cluster.
    pub completeness: f64,
    /// Clusters have one class.
    pub homogeneity: f64,
    /// Of the two, the harmonic mean.
    pub v_measure: f64,
    /// After optimal assignment.
    pub macro_f1: f64,
}
