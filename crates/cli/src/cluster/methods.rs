//! What is run on the nodes' embedding: k-means, and EGG in one way or two.

use egg_gnn::cluster::egg::{EggConfig, Weighting};
use egg_gnn::cluster::pipeline::{Coordinates, FeatureUse, NodeClusteringConfig};
use egg_gnn::cluster::vgae::Likelihood;
use egg_gnn::geometry::RankRule;

use super::{Arguments, LikelihoodName};
use crate::data::Data;

/// The preset's settings, and what the command line says otherwise.
pub(super) fn config(arguments: &Arguments, data: &Data) -> NodeClusteringConfig {
    let mut config = arguments.preset.config_for(data.dataset.name());
    if data.dataset.features().width() == 0 {
        config.features = FeatureUse::Identity;
    }
    if let Some(epochs) = arguments.epochs {
        config.autoencoder.epochs = epochs;
    }
    match arguments.likelihood {
        Some(LikelihoodName::Exact) => config.autoencoder.likelihood = Likelihood::Exact,
        Some(LikelihoodName::Sampled) => config.autoencoder.likelihood = Likelihood::NegativeSampling,
        None => {}
    }
    if let Coordinates::Egg(egg) = &mut config.coordinates {
        egg.rank = arguments.rank.unwrap_or(egg.rank);
        egg.weighting = arguments.weighting.unwrap_or(egg.weighting);
    } else if arguments.rank.is_some() || arguments.weighting.is_some() {
        config.coordinates = Coordinates::Egg(EggConfig {
            weighting: arguments.weighting.unwrap_or_default(),
            ..EggConfig::new(arguments.rank.unwrap_or(RankRule::Ratio(0.8)))
        });
    }
    config.clusters = arguments.clusters.or(config.clusters);
    config
}

/// Plain k-means, EGG as it was asked for, and with the other weighting if none
/// was: which one is better is not known beforehand.
pub(super) fn methods(config: &NodeClusteringConfig, both: bool) -> Vec<(String, Coordinates)> {
    let plain = Coordinates::Plain {
        normalise_rows: false,
    };
    let mut methods = vec![("k-means".to_owned(), plain)];
    match config.coordinates {
        Coordinates::Egg(egg) => {
            methods.push((egg_name(&egg), config.coordinates));
            let other = EggConfig {
                weighting: match egg.weighting {
                    Weighting::Flat => Weighting::Spectral(1.0),
                    Weighting::Spectral(_) => Weighting::Flat,
                },
                ..egg
            };
            if both {
                methods.push((egg_name(&other), Coordinates::Egg(other)));
            }
        }
        Coordinates::Plain { normalise_rows: true } => {
            methods.push(("k-means, rows of length 1".to_owned(), config.coordinates));
        }
        Coordinates::Plain {
            normalise_rows: false,
        } => {}
    }
    methods
}

/// `k-means+EGG 0.8`, `k-means+EGG 0.8 spectral:1`, `k-means+EGG energy:0.9`.
fn egg_name(egg: &EggConfig) -> String {
    let rank = match egg.rank {
        RankRule::Ratio(x) => x.to_string(),
        other => other.to_string(),
    };
    let weighting = match egg.weighting {
        Weighting::Flat => String::new(),
        other => format!(" {other}"),
    };
    let rows = if egg.normalise_rows {
        ", rows of length 1"
    } else {
        ""
    };
    format!("k-means+EGG {rank}{weighting}{rows}")
}
