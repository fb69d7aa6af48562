//! The settings of `egg cluster`, and its methods: k-means on the embedding and on EGG of it.

use egg_gnn::cluster::egg::{EggConfig, Weighting};
use egg_gnn::cluster::pipeline::{Coordinates, FeatureUse, Method, NodeClusteringConfig};
use egg_gnn::cluster::vgae::Likelihood;
use egg_gnn::geometry::RankRule;

use super::{Arguments, LikelihoodName};
use crate::data::Data;
use crate::failure::Result;

/// The preset's settings, changed by those of a registered data set and of the command line.
pub(super) fn config(arguments: &Arguments, data: &Data) -> Result<NodeClusteringConfig> {
    let mut config = arguments.preset.config();
    // What a registered data set changes in the preset.
    let entry = data.entry.map(|entry| entry.preset(arguments.preset.name()));
    if let Some(overrides) = entry.and_then(|preset| preset.clustering) {
        config = config.with_overrides(&overrides)?;
    }
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
    Ok(config)
}

/// Plain k-means, the configured EGG and, with `both_weightings`, EGG with the other weighting:
/// which one is better is not known beforehand.
pub(super) fn methods(config: &NodeClusteringConfig, both_weightings: bool) -> Vec<Method> {
    let method = |name, coordinates| Method { name, coordinates };
    let plain = Coordinates::Plain {
        normalise_rows: false,
    };
    let mut methods = vec![method("k-means".to_owned(), plain)];
    match config.coordinates {
        Coordinates::Egg(egg) => {
            methods.push(method(egg_name(&egg), config.coordinates));
            let other = EggConfig {
                weighting: match egg.weighting {
                    Weighting::Flat => Weighting::Spectral(1.0),
                    _ => Weighting::Flat,
                },
                ..egg
            };
            if both_weightings {
                methods.push(method(egg_name(&other), Coordinates::Egg(other)));
            }
        }
        Coordinates::Plain { normalise_rows: true } => {
            methods.push(method("k-means, rows of length 1".to_owned(), config.coordinates));
        }
        Coordinates::Plain {
            normalise_rows: false,
        } => {}
        other => methods.push(method("k-means, other coordinates".to_owned(), other)),
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
