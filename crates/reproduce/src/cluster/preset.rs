//! Presets with variants: `auto`, `paper`, `tuned`, `paper-sampled`, `paper-raw`.

use std::fmt;
use std::str::FromStr;

use egg_cluster::Silent;
use egg_cluster::pipeline::{Candidates, FeatureUse, NodeClusteringConfig, Preset, Unlabelled, choose};
use egg_cluster::vgae::Likelihood;
use egg_datasets::Registry;
use egg_graph::GraphDataset;
use serde_json::Value;

/// The name of the settings that are chosen for a graph.
const AUTO: &str = "auto";

/// A preset and its variants, by the name that records have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetName {
    /// None are settings that are chosen for the graph.
    preset: Option<Preset>,
    /// The likelihood of sampled non-edges, linear in the edges.
    sampled: bool,
    /// Features as they are, whatever the preset does with them.
    raw: bool,
}

impl PresetName {
    /// The settings for a data set that was asked for by this name. Those that are chosen for a graph depend on the
    /// number of its classes, but not on which node has which.
    ///
    /// # Errors
    /// If what the data set changes does not fit the settings, or they can't be chosen.
    pub fn config(self, name: &str, dataset: &GraphDataset) -> egg_cluster::Result<NodeClusteringConfig> {
        let Some(preset) = self.preset else {
            let classes = dataset.node_labels().map_or(0, |labels| labels.class_count());
            let graph = Unlabelled::new(dataset)?;
            return Ok(choose(&graph, classes, &Candidates::default(), 0, &mut Silent)?.config);
        };
        let mut config = preset.config();
        if let Some(overrides) = preset_overrides(preset, name) {
            config = config.with_overrides(&overrides)?;
        }
        if self.raw {
            config.features = FeatureUse::Raw;
        }
        if self.sampled {
            config.autoencoder_mut().likelihood = Likelihood::NegativeSampling;
        }
        Ok(config)
    }
}

/// What a registered data set changes in the preset.
fn preset_overrides(preset: Preset, dataset: &str) -> Option<Value> {
    let entry = Registry::builtin().get(dataset).ok()?;
    entry.preset(preset.name()).clustering
}

impl FromStr for PresetName {
    type Err = egg_cluster::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == AUTO {
            return Ok(Self {
                preset: None,
                sampled: false,
                raw: false,
            });
        }
        let (name, raw) = name
            .strip_suffix("-raw")
            .map_or((name, false), |name| (name, true));
        let (name, sampled) = name
            .strip_suffix("-sampled")
            .map_or((name, false), |name| (name, true));
        Ok(Self {
            preset: Some(name.parse()?),
            sampled,
            raw,
        })
    }
}

impl fmt::Display for PresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.preset.map_or(AUTO, Preset::name))?;
        f.write_str(if self.sampled { "-sampled" } else { "" })?;
        f.write_str(if self.raw { "-raw" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use egg_graph::synthetic::karate_club;

    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in [
            "paper",
            "tuned",
            "paper-sampled",
            "paper-raw",
            "tuned-sampled-raw",
        ] {
            let preset: PresetName = name.parse().unwrap();
            assert_eq!(preset.to_string(), name);
            let config = preset.config("Coauthor-CS", &karate_club().unwrap()).unwrap();
            assert_eq!(preset.raw, config.features == FeatureUse::Raw, "{name}");
            let sampled = config.encoder.autoencoder().map(|config| config.likelihood)
                == Some(Likelihood::NegativeSampling);
            assert_eq!(preset.sampled, sampled, "{name}");
        }
        assert_eq!("auto".parse::<PresetName>().unwrap().to_string(), "auto");
        assert!("raw".parse::<PresetName>().is_err());
        assert!("auto-raw".parse::<PresetName>().is_err());
    }

    #[test]
    fn only_coauthor_cs_under_paper_has_binary_features() {
        let features = |preset: &str, dataset: &str| {
            let preset: PresetName = preset.parse().unwrap();
            preset.config(dataset, &karate_club().unwrap()).unwrap().features
        };
        for dataset in ["Coauthor-CS", "coauthor-cs"] {
            assert_eq!(features("paper", dataset), FeatureUse::Binary);
            assert_eq!(features("tuned", dataset), FeatureUse::UnitLength);
        }
        for dataset in ["Cora", "Wiki-CS", "no-such-data"] {
            assert_eq!(features("paper", dataset), FeatureUse::Raw);
        }
    }
}
