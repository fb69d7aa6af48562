//! A preset, and what is other than it says.

use std::fmt;
use std::str::FromStr;

use egg_cluster::pipeline::{FeatureUse, NodeClusteringConfig, Preset};
use egg_cluster::vgae::Likelihood;

/// What a record is called by: `paper`, `tuned`, `paper-sampled`, `paper-raw`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetName {
    preset: Preset,
    /// The likelihood of sampled non-edges, linear in the edges.
    sampled: bool,
    /// Features as they are, whatever the preset does with them.
    raw: bool,
}

impl PresetName {
    /// The settings for a data set of this name.
    pub fn config(self, dataset: &str) -> NodeClusteringConfig {
        let mut config = self.preset.config_for(dataset);
        if self.raw {
            config.features = FeatureUse::Raw;
        }
        if self.sampled {
            config.autoencoder.likelihood = Likelihood::NegativeSampling;
        }
        config
    }
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
            let config = preset.config("Coauthor-CS");
            assert_eq!(preset.raw, config.features == FeatureUse::Raw, "{name}");
            let sampled = config.autoencoder.likelihood == Likelihood::NegativeSampling;
            assert_eq!(preset.sampled, sampled, "{name}");
        }
        assert!("raw".parse::<PresetName>().is_err());
    }
}
