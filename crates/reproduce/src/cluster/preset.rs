//! Presets with variants: `paper`, `tuned`, `paper-sampled`, `paper-raw`.

use std::fmt;
use std::str::FromStr;

use egg_cluster::pipeline::{FeatureUse, NodeClusteringConfig, Preset};
use egg_cluster::vgae::Likelihood;
use egg_datasets::Registry;
use serde_json::Value;

/// A preset and its variants, by the name that records have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetName {
    preset: Preset,
    /// The likelihood of sampled non-edges, linear in the edges.
    sampled: bool,
    /// Features as they are, whatever the preset does with them.
    raw: bool,
}

impl PresetName {
    /// The settings for a registered data set.
    ///
    /// # Errors
    /// If what the data set changes does not fit the settings.
    pub fn config(self, dataset: &str) -> egg_cluster::Result<NodeClusteringConfig> {
        let mut config = self.preset.config();
        if let Some(overrides) = preset_overrides(self.preset, dataset) {
            config = config.with_overrides(&overrides)?;
        }
        if self.raw {
            config.features = FeatureUse::Raw;
        }
        if self.sampled {
            config.autoencoder.likelihood = Likelihood::NegativeSampling;
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
        let (name, raw) = name
            .strip_suffix("-raw")
            .map_or((name, false), |name| (name, true));
        let (name, sampled) = name
            .strip_suffix("-sampled")
            .map_or((name, false), |name| (name, true));
        Ok(Self {
            preset: name.parse()?,
            sampled,
            raw,
        })
    }
}

impl fmt::Display for PresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.preset.name())?;
        f.write_str(if self.sampled { "-sampled" } else { "" })?;
        f.write_str(if self.raw { "-raw" } else { "" })
    }
}

#[cfg(test)]
mod tests {
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
            let config = preset.config("Coauthor-CS").unwrap();
            assert_eq!(preset.raw, config.features == FeatureUse::Raw, "{name}");
            let sampled = config.autoencoder.likelihood == Likelihood::NegativeSampling;
            assert_eq!(preset.sampled, sampled, "{name}");
        }
        assert!("raw".parse::<PresetName>().is_err());
    }

    #[test]
    fn only_coauthor_cs_under_paper_has_binary_features() {
        let features = |preset: &str, dataset: &str| {
            let preset: PresetName = preset.parse().unwrap();
            preset.config(dataset).unwrap().features
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
