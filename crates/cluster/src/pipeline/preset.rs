//! Named settings.

use std::str::FromStr;

use egg_geometry::RankRule;
use serde::{Deserialize, Serialize};

use super::config::{Clusterer, Coordinates, Encoder, Links, NodeClusteringConfig};
use super::features::FeatureUse;
use crate::egg::{EggConfig, Weighting};
use crate::error::{Error, Result};
use crate::vgae::{AutoencoderConfig, EncoderConfig};

/// Named settings.
///
/// ```
/// use egg_cluster::pipeline::Preset;
/// let preset: Preset = "paper".parse()?;
/// assert_eq!(preset.config().encoder.autoencoder().unwrap().epochs, 200);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preset {
    /// As in the paper: raw features, a VGAE of 32 and 16 columns trained for 200
    /// epochs on 85 % of the edges (one split for all repetitions), EGG with 0.8
    /// of the columns and flat weights, k-means from 10 starts.
    ///
    /// The public code that goes with the paper is of an earlier submission, which has
    /// neither Coauthor-CS nor Wiki-CS; where the paper has no detail, they are read as
    /// PyTorch Geometric reads them.
    #[default]
    Paper,
    /// What [`tune`](super::tune()) chose on Cora and Citeseer, without their labels,
    /// from the default [`Grid`](super::Grid): features of unit length, a GAE trained
    /// for 200 epochs on all edges, EGG with 0.8 of the columns, weighted by the roots
    /// of the singular values, rows divided by their length.
    Tuned,
}

impl Preset {
    /// Every preset.
    pub const ALL: &[Self] = &[Self::Paper, Self::Tuned];

    /// The name, as on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Tuned => "tuned",
        }
    }

    /// The settings. A data set may change some:
    /// [`NodeClusteringConfig::with_overrides`].
    pub fn config(self) -> NodeClusteringConfig {
        match self {
            Self::Paper => NodeClusteringConfig {
                features: FeatureUse::Raw,
                links: Links::Split {
                    validation: 0.05,
                    test: 0.10,
                    seed: 0,
                },
                encoder: Encoder::default(),
                coordinates: Coordinates::Egg(EggConfig::new(RankRule::Ratio(0.8))),
                clusters: None,
                clusterer: Clusterer::default(),
                seed: 0,
            },
            Self::Tuned => NodeClusteringConfig {
                features: FeatureUse::UnitLength,
                links: Links::All,
                encoder: Encoder::Autoencoder(AutoencoderConfig {
                    encoder: EncoderConfig {
                        variational: false,
                        ..EncoderConfig::default()
                    },
                    ..AutoencoderConfig::default()
                }),
                coordinates: Coordinates::Egg(EggConfig {
                    weighting: Weighting::Spectral(0.5),
                    normalise_rows: true,
                    ..EggConfig::new(RankRule::Ratio(0.8))
                }),
                ..Self::Paper.config()
            },
        }
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|preset| preset.name() == name);
        found
            .copied()
            .ok_or_else(|| Error::setting("preset", name, "there are \"paper\" and \"tuned\""))
    }
}
