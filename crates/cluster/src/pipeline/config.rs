//! Settings of a clustering.

use serde::{Deserialize, Serialize};

use super::features::FeatureUse;
use crate::egg::EggConfig;
use crate::error::{Result, require};
use crate::kmeans::{KMeansConfig, MiniBatchConfig};
use crate::smooth::SmoothConfig;
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

/// How `H` is made of the graph and its features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Encoder {
    /// By a graph autoencoder that is trained to predict edges.
    Autoencoder(AutoencoderConfig),
    /// By smoothing features along edges, without training.
    Smooth(SmoothConfig),
}

impl Default for Encoder {
    fn default() -> Self {
        Self::Autoencoder(AutoencoderConfig::default())
    }
}

impl Encoder {
    /// The settings of the autoencoder, if it is one.
    pub fn autoencoder(&self) -> Option<&AutoencoderConfig> {
        match self {
            Self::Autoencoder(config) => Some(config),
            Self::Smooth(_) => None,
        }
    }
}

/// Settings of a whole clustering; [`super::Preset`] names some.
///
/// In JSON the encoder is the key of its kind: `"autoencoder": {...}` or `"smooth": {...}`.
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
#[serde(try_from = "Form", into = "Form")]
pub struct NodeClusteringConfig {
    /// How node features are prepared.
    pub features: FeatureUse,
    /// The edges that the encoder sees.
    pub links: Links,
    /// What makes `H`.
    pub encoder: Encoder,
    /// What k-means is run on.
    pub coordinates: Coordinates,
    /// The number of clusters; `None` means that of the known classes.
    pub clusters: Option<usize>,
    /// Which k-means.
    pub clusterer: Clusterer,
    /// The seed of the encoder and k-means.
    pub seed: u64,
}

/// The JSON form, with the encoder as one of two keys.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    features: FeatureUse,
    #[serde(default)]
    links: Links,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    autoencoder: Option<AutoencoderConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    smooth: Option<SmoothConfig>,
    coordinates: Coordinates,
    #[serde(default)]
    clusters: Option<usize>,
    #[serde(default)]
    clusterer: Clusterer,
    #[serde(default)]
    seed: u64,
}

impl TryFrom<Form> for NodeClusteringConfig {
    type Error = &'static str;

    fn try_from(form: Form) -> std::result::Result<Self, Self::Error> {
        let encoder = match (form.autoencoder, form.smooth) {
            (Some(_), Some(_)) => {
                return Err("there are two encoders, autoencoder and smooth: leave one out");
            }
            (Some(config), None) => Encoder::Autoencoder(config),
            (None, Some(config)) => Encoder::Smooth(config),
            (None, None) => Encoder::default(),
        };
        Ok(Self {
            features: form.features,
            links: form.links,
            encoder,
            coordinates: form.coordinates,
            clusters: form.clusters,
            clusterer: form.clusterer,
            seed: form.seed,
        })
    }
}

impl From<NodeClusteringConfig> for Form {
    fn from(config: NodeClusteringConfig) -> Self {
        let (autoencoder, smooth) = match config.encoder {
            Encoder::Autoencoder(config) => (Some(config), None),
            Encoder::Smooth(config) => (None, Some(config)),
        };
        Self {
            features: config.features,
            links: config.links,
            autoencoder,
            smooth,
            coordinates: config.coordinates,
            clusters: config.clusters,
            clusterer: config.clusterer,
            seed: config.seed,
        }
    }
}

impl NodeClusteringConfig {
    /// The settings of the autoencoder, to change them; another encoder is replaced by an autoencoder with its defaults.
    pub fn autoencoder_mut(&mut self) -> &mut AutoencoderConfig {
        if self.encoder.autoencoder().is_none() {
            self.encoder = Encoder::default();
        }
        match &mut self.encoder {
            Encoder::Autoencoder(config) => config,
            Encoder::Smooth(_) => unreachable!("it was replaced above"),
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let stops_early = match self.encoder {
            Encoder::Autoencoder(config) => {
                config.check()?;
                config.stop_early.is_some()
            }
            Encoder::Smooth(config) => {
                config.check()?;
                require(
                    self.links == Links::All,
                    "links",
                    "split",
                    "nothing is trained, so nothing is held out: use all edges",
                )?;
                false
            }
        };
        if let Coordinates::Egg(egg) = self.coordinates {
            egg.check()?;
        }
        if let Links::Split { .. } = self.links {
            // The shares are checked when the graph is known.
        } else {
            require(
                !stops_early,
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
