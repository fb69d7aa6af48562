//! What was asked for.

use std::error::Error;
use std::path::PathBuf;

use egg_cluster::pipeline::{FeatureUse, NodeClusteringConfig, Preset};
use egg_cluster::vgae::Likelihood;

pub(crate) struct Arguments {
    pub(crate) data: String,
    pub(crate) preset: Preset,
    pub(crate) repetitions: u64,
    /// Of the first repetition.
    pub(crate) seed: u64,
    pub(crate) epochs: Option<u64>,
    pub(crate) sampled: bool,
    /// Features as they are, whatever the preset does with them.
    pub(crate) raw: bool,
    /// Where records are kept.
    pub(crate) record: Option<PathBuf>,
    /// Of the sources, for the record.
    pub(crate) revision: String,
    /// Seconds after which no further repetition is begun.
    pub(crate) budget: f64,
}

impl Arguments {
    pub(crate) fn read() -> Result<Self, Box<dyn Error>> {
        let mut given = std::env::args().skip(1);
        let data = given.next().ok_or("which data set, or how many nodes?")?;
        let mut arguments = Self {
            data,
            preset: Preset::Paper,
            repetitions: 1,
            seed: 0,
            epochs: None,
            sampled: false,
            raw: false,
            record: None,
            revision: "unknown".to_owned(),
            budget: f64::INFINITY,
        };
        while let Some(option) = given.next() {
            match option.as_str() {
                "--sampled" => arguments.sampled = true,
                "--raw" => arguments.raw = true,
                _ => {}
            }
            if ["--sampled", "--raw"].contains(&option.as_str()) {
                continue;
            }
            let value = given.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--preset" => arguments.preset = value.parse()?,
                "--repetitions" => arguments.repetitions = value.parse()?,
                "--seed" => arguments.seed = value.parse()?,
                "--epochs" => arguments.epochs = Some(value.parse()?),
                "--record" => arguments.record = Some(value.into()),
                "--revision" => arguments.revision = value,
                "--budget" => arguments.budget = value.parse()?,
                _ => return Err(format!("no such option: {option}").into()),
            }
        }
        Ok(arguments)
    }

    /// What the record is called by: the preset, and what is other than it says.
    pub(crate) fn name(&self) -> String {
        let sampled = if self.sampled { "-sampled" } else { "" };
        let raw = if self.raw { "-raw" } else { "" };
        format!("{}{sampled}{raw}", self.preset.name())
    }

    /// The settings for a data set of this name, with the seed of the first repetition.
    pub(crate) fn config(&self, dataset: &str) -> NodeClusteringConfig {
        let mut config = self.preset.config_for(dataset);
        config.seed = self.seed;
        if let Some(epochs) = self.epochs {
            config.autoencoder.epochs = epochs;
        }
        if self.raw {
            config.features = FeatureUse::Raw;
        }
        if self.sampled {
            config.autoencoder.likelihood = Likelihood::NegativeSampling;
        }
        config
    }
}
