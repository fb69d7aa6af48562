//! Settings of a clustering.

use serde::{Deserialize, Serialize};

use super::features::FeatureUse;
use crate::egg::EggConfig;
use crate::error::{Result, require};
use crate::kmeans::{KMeansConfig, MiniBatchConfig};
use crate::vgae::AutoencoderConfig;

/// Which edges the autoencoder sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Links {
    /// All of them; no validation.
    #[default]
    All,
    /// All but those held out.
    Split {
        /// The share for validation.
        validation: f64,
        /// The share for testing.
        test: f64,
        /// The seed of the split only, so that repetitions with other seeds share it.
        seed: u64,
    },
}

/// What k-means is run on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Coordinates {
    /// The rows of `H` itself.
    Plain {
        /// Whether each row is divided by its length first.
        normalise_rows: bool,
    },
    /// The rows of EGG(H).
    Egg(EggConfig),
}

/// Which k-means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Clusterer {
    /// Lloyd's, on all rows.
    KMeans {
        /// Runs of which the best is kept.
        starts: usize,
        /// Iterations at most in one run.
        max_iterations: usize,
        /// See [`KMeansConfig::tolerance`].
        tolerance: f64,
    },
    /// On samples, for millions of rows.
    MiniBatch {
        /// Rows of a sample.
        batch: usize,
    },
}

impl Default for Clusterer {
    fn default() -> Self {
        let KMeansConfig {
            starts,
            max_iterations,
            tolerance,
            ..
        } = KMeansConfig::new(1);
        Self::KMeans {
            starts,
            max_iterations,
            tolerance,
        }
    }
}

/// Settings of a whole clustering; [`super::Preset`] names some.
///
/// ```
/// use egg_cluster::pipeline::{NodeClusteringConfig, Preset};
///
/// let text = serde_json::to_string(&Preset::Paper.config())?;
/// let read: NodeClusteringConfig = serde_json::from_str(&text)?;
/// assert_eq!(read, Preset::Paper.config());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeClusteringConfig {
    /// How node features are prepared.
    #[serde(default)]
    pub features: FeatureUse,
    /// The edges that the encoder sees.
    #[serde(default)]
    pub links: Links,
    /// The encoder and its training.
    #[serde(default)]
    pub autoencoder: AutoencoderConfig,
    /// What k-means is run on.
    pub coordinates: Coordinates,
    /// The number of clusters; `None` means that of the known classes.
    #[serde(default)]
    pub clusters: Option<usize>,
    /// Which k-means.
    #[serde(default)]
    pub clusterer: Clusterer,
    /// The seed of training and k-means.
    #[serde(default)]
    pub seed: u64,
}

impl NodeClusteringConfig {
    pub(super) fn check(&self) -> Result<()> {
        self.autoencoder.check()?;
        if let Coordinates::Egg(egg) = self.coordinates {
            egg.check()?;
        }
        if let Links::Split { .. } = self.links {
            // The shares are checked when the graph is known.
        } else {
            require(
                self.autoencoder.stop_early.is_none(),
                "links",
                "all",
                "early stopping needs held-out edges: split some off",
            )?;
        }
        let clusters = self.clusters.unwrap_or(1);
        match self.clusterer {
            Clusterer::KMeans { .. } => self.clusterer.kmeans(clusters).check().map(|_| ()),
            Clusterer::MiniBatch { .. } => self.clusterer.mini_batch(clusters).check().map(|_| ()),
        }
    }
}

impl Clusterer {
    pub(super) fn kmeans(self, clusters: usize) -> KMeansConfig {
        let config = KMeansConfig::new(clusters);
        match self {
            Self::KMeans {
                starts,
                max_iterations,
                tolerance,
            } => KMeansConfig {
                starts,
                max_iterations,
                tolerance,
                ..config
            },
            Self::MiniBatch { .. } => config,
        }
    }

    pub(super) fn mini_batch(self, clusters: usize) -> MiniBatchConfig {
        let config = MiniBatchConfig::new(clusters);
        match self {
            Self::MiniBatch { batch } => MiniBatchConfig { batch, ..config },
            Self::KMeans { .. } => config,
        }
    }
}
