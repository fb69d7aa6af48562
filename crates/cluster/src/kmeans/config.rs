//! Settings of k-means, checked once.

use serde::{Deserialize, Serialize};

use crate::error::{Result, require};

/// How the first centres are chosen.
///
/// ```
/// use egg_cluster::kmeans::Start;
/// assert_eq!(serde_json::to_string(&Start::Random)?, r#""random""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Start {
    /// Greedy k-means++: of several points drawn with probability proportional
    /// to their squared distance from the centres chosen so far, the one that
    /// lowers the sum of these squares most. `2 + floor(ln k)` points are
    /// drawn, as in scikit-learn.
    #[default]
    PlusPlus,
    /// k different rows, each set of rows equally likely.
    Random,
}

/// Settings of k-means, unchecked. [`Self::check`] returns a [`KMeans`], which runs.
///
/// ```
/// use egg_cluster::kmeans::KMeansConfig;
///
/// let config = KMeansConfig { starts: 3, ..KMeansConfig::new(7) };
/// let kmeans = config.check()?;
/// assert_eq!(kmeans.config().clusters, 7);
/// assert!(KMeansConfig::new(0).check().is_err());
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KMeansConfig {
    /// k, at least 1.
    pub clusters: usize,
    /// Independent runs, at least 1; that of the lowest inertia is kept.
    /// scikit-learn's `n_init`.
    #[serde(default = "defaults::starts")]
    pub starts: usize,
    /// Iterations at most in one run, at least 1.
    #[serde(default = "defaults::max_iterations")]
    pub max_iterations: usize,
    /// A run ends when the squared movements of the centres add up to no more
    /// than this share of the mean variance of a column; at least 0.
    /// scikit-learn's `tol`.
    #[serde(default = "defaults::tolerance")]
    pub tolerance: f64,
    /// How the first centres of a run are chosen.
    #[serde(default)]
    pub start: Start,
}

mod defaults {
    pub(super) fn starts() -> usize {
        10
    }
    pub(super) fn max_iterations() -> usize {
        300
    }
    pub(super) fn tolerance() -> f64 {
        1e-4
    }
}

impl KMeansConfig {
    /// k clusters, 10 runs from k-means++, 300 iterations at most, tolerance
    /// 1e-4: scikit-learn's values.
    pub fn new(clusters: usize) -> Self {
        Self {
            clusters,
            starts: defaults::starts(),
            max_iterations: defaults::max_iterations(),
            tolerance: defaults::tolerance(),
            start: Start::default(),
        }
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting), naming the first that is out
    /// of range.
    pub fn check(self) -> Result<KMeans> {
        check_clusters(self.clusters)?;
        require(self.starts >= 1, "starts", self.starts, "it must be at least 1")?;
        require(
            self.max_iterations >= 1,
            "max_iterations",
            self.max_iterations,
            "it must be at least 1",
        )?;
        require(
            self.tolerance >= 0.0 && self.tolerance.is_finite(),
            "tolerance",
            self.tolerance,
            "it must be finite and not negative",
        )?;
        Ok(KMeans { config: self })
    }
}

/// Refuses an impossible number of clusters.
pub(super) fn check_clusters(clusters: usize) -> Result<()> {
    require(
        clusters >= 1 && u32::try_from(clusters).is_ok(),
        "clusters",
        clusters,
        "it must be at least 1 and below 2^32",
    )
}

/// k-means with settings that have been checked; see [`KMeansConfig`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KMeans {
    config: KMeansConfig,
}

impl KMeans {
    /// The settings.
    pub fn config(&self) -> &KMeansConfig {
        &self.config
    }
}
