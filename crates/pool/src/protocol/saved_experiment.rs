//! An experiment in files, those of earlier versions included.

use serde::Deserialize;
use serde_json::Value;

use super::experiment::Experiment;
use super::kind::Protocol;
use super::splits::SplitRule;
use crate::convolution::ConvolutionConfig;
use crate::error::Error;
use crate::model::ModelConfig;
use crate::train::TrainConfig;

/// [`Experiment`] as it may be written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedExperiment {
    protocol: Protocol,
    /// Not written by earlier versions, where it followed from the protocol and the
    /// convolution.
    split_rule: Option<SplitRule>,
    repetitions: usize,
    seed: u64,
    training: TrainConfig,
    model: Value,
}

impl TryFrom<SavedExperiment> for Experiment {
    type Error = Error;

    fn try_from(saved: SavedExperiment) -> Result<Self, Error> {
        // Of the control of a GIN, earlier versions kept the convolution that it was one of.
        let convolution = saved.model.get("convolution").or(saved.model.get("architecture"));
        let split_rule = match (saved.split_rule, convolution) {
            (Some(split_rule), _) => Some(split_rule),
            (None, Some(convolution)) => {
                let convolution = ConvolutionConfig::from_json(convolution.clone())?;
                Some(SplitRule::new(saved.protocol, &convolution))
            }
            // The model itself says what is missing.
            (None, None) => None,
        };
        let model: ModelConfig = serde_json::from_value(saved.model).map_err(|error| Error::Component {
            kind: "model".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            protocol: saved.protocol,
            split_rule: split_rule.unwrap_or_else(|| SplitRule::new(saved.protocol, &model.convolution)),
            repetitions: saved.repetitions,
            seed: saved.seed,
            training: saved.training,
            model,
        })
    }
}
