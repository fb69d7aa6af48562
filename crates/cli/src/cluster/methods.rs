//! The settings of `egg cluster`, and its methods: k-means on the embedding and on EGG of it.

use std::ops::ControlFlow;

use egg_gnn::cluster::egg::{EggConfig, Weighting};
use egg_gnn::cluster::pipeline::{
    Baseline, Candidates, Choice, ChoiceProgress, Coordinates, Encoder, FeatureUse, Method,
    NodeClusteringConfig, Unlabelled, choose,
};
use egg_gnn::cluster::vgae::Likelihood;
use egg_gnn::geometry::RankRule;

use super::{Arguments, LikelihoodName};
use crate::arguments::ClusterPreset;
use crate::console::{Style, counted};
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::{interrupt, progress};

/// Eigenvectors of larger graphs take long.
const MOST_NODES_OF_BASELINES: usize = 50_000;

/// Settings with the coordinates and the number of clusters of the command line.
fn adjusted(
    mut config: NodeClusteringConfig,
    arguments: &Arguments,
    clusters: usize,
) -> NodeClusteringConfig {
    if let Coordinates::Egg(egg) = &mut config.coordinates {
        egg.rank = arguments.rank.unwrap_or(egg.rank);
        egg.weighting = arguments.weighting.unwrap_or(egg.weighting);
    } else if arguments.rank.is_some() || arguments.weighting.is_some() {
        config.coordinates = Coordinates::Egg(EggConfig {
            weighting: arguments.weighting.unwrap_or_default(),
            ..EggConfig::new(arguments.rank.unwrap_or(RankRule::Ratio(0.8)))
        });
    }
    config.clusters = Some(clusters);
    config
}

/// The settings of a preset, changed by those of a registered data set and of the command line; none if they are to be
/// [chosen].
pub(super) fn named(
    arguments: &Arguments,
    data: &Data,
    clusters: usize,
) -> Result<Option<NodeClusteringConfig>> {
    let ClusterPreset::Named(preset) = arguments.preset else {
        refuse_autoencoder_options(arguments)?;
        return Ok(None);
    };
    let mut config = preset.config();
    let entry = data.entry.map(|entry| entry.preset(preset.name()));
    if let Some(overrides) = entry.and_then(|preset| preset.clustering) {
        config = config.with_overrides(&overrides)?;
    }
    if data.dataset.features().width() == 0 {
        config.features = FeatureUse::Identity;
    }
    if let Some(epochs) = arguments.epochs {
        config.autoencoder_mut().epochs = epochs;
    }
    match arguments.likelihood {
        Some(LikelihoodName::Exact) => config.autoencoder_mut().likelihood = Likelihood::Exact,
        Some(LikelihoodName::Sampled) => config.autoencoder_mut().likelihood = Likelihood::NegativeSampling,
        None => {}
    }
    Ok(Some(adjusted(config, arguments, clusters)))
}

fn refuse_autoencoder_options(arguments: &Arguments) -> Result<()> {
    for (option, is_there) in [
        ("--epochs", arguments.epochs.is_some()),
        ("--likelihood", arguments.likelihood.is_some()),
    ] {
        if is_there {
            return Err(Failure::Usage(format!(
                "{option} is for a graph autoencoder, and --preset auto trains none\n\
                 help: add --preset tuned, or --preset paper"
            )));
        }
    }
    Ok(())
}

/// Settings that are chosen for the graph, without its labels, and a line about them.
pub(super) fn chosen(
    arguments: &Arguments,
    data: &Data,
    clusters: usize,
    style: Style,
    quiet: bool,
) -> Result<(NodeClusteringConfig, String)> {
    let bar = progress::bar(style, quiet, 0, "settings");
    bar.set_prefix(data.dataset.name().to_owned());
    let graph = Unlabelled::new(&data.dataset)?;
    let choice = choose(
        &graph,
        clusters,
        &Candidates::default(),
        arguments.seed,
        &mut |progress: ChoiceProgress| {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            match interrupt::asked() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
    );
    bar.finish_and_clear();
    let choice = choice?;
    Ok((adjusted(choice.config, arguments, clusters), line(&choice)))
}

/// `tf_idf features, lazy_walk of 12 steps (modularity 0.739; 22 settings tried)`.
fn line(choice: &Choice) -> String {
    let config = &choice.config;
    let features = serde_json::to_value(config.features).unwrap_or_default();
    let filter = match config.encoder {
        Encoder::Smooth(smooth) => format!("{} of {}", smooth.filter, counted(smooth.steps, "step")),
        _ => String::new(),
    };
    let best = choice
        .candidates
        .iter()
        .find(|candidate| candidate.config == *config);
    let modularity = best.and_then(|best| best.modularity);
    let modularity = modularity.map_or_else(String::new, |m| {
        format!(" (modularity {m:.3}; {} settings tried)", choice.candidates.len())
    });
    format!(
        "{} features, {filter}{modularity}",
        features.as_str().unwrap_or("raw")
    )
}

/// What the rows of `--preset auto` are compared with, on graphs where it takes seconds.
pub(super) fn baselines(arguments: &Arguments, data: &Data) -> Vec<Baseline> {
    let is_small = data.dataset.node_count() <= MOST_NODES_OF_BASELINES;
    if arguments.preset != ClusterPreset::Auto || !is_small {
        return Vec::new();
    }
    let all = Baseline::ALL.iter().copied();
    all.filter(|baseline| baseline.applies_to(&data.dataset))
        .collect()
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
