//! A run between two epochs, on disk.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use egg_nn::{Checkpoint, GeneratorState};
use serde::{Deserialize, Serialize};

use super::config::TrainConfig;
use super::outcome::{EpochReport, Stopped};
use crate::error::{Error, Result};

const IDENTITY: &str = "run";
const HISTORY: &str = "history";
const STOPPED: &str = "stopped";

/// Where a run is kept, and how often.
#[derive(Debug, Clone)]
pub(super) struct CheckpointConfig {
    pub(super) path: PathBuf,
    pub(super) every: u64,
    pub(super) description: String,
}

/// What makes a run what it is: if any of it differs, a checkpoint is of
/// another. How many epochs it may take is not part of it, so that a run can be
/// made longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) description: String,
    pub(super) training: TrainConfig,
    pub(super) fingerprint: String,
    pub(super) split: String,
    pub(super) generator: GeneratorState,
}

impl Identity {
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let settings = |identity: &Self| TrainConfig {
            max_epochs: 0,
            ..identity.training.clone()
        };
        if self.fingerprint != other.fingerprint {
            Some("it was trained on other data")
        } else if self.split != other.split {
            Some("it was trained on another split")
        } else if settings(self) != settings(other) {
            Some("it was trained with other settings")
        } else if self.description != other.description {
            Some("it is of another model, or of an earlier version of this program")
        } else if self.generator != other.generator {
            Some("it was started with another seed, or another model")
        } else {
            None
        }
    }
}

/// What is kept in addition to egg-nn's own parts of a checkpoint.
pub(super) struct Notes {
    pub(super) history: Vec<EpochReport>,
    pub(super) stopped: Option<Stopped>,
}

fn encode<T: Serialize>(path: &Path, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Adds the notes and writes the file.
pub(super) fn save(
    config: &CheckpointConfig,
    mut checkpoint: Checkpoint,
    identity: &Identity,
    history: &[EpochReport],
    stopped: Option<Stopped>,
) -> Result<()> {
    let path = &config.path;
    let mut note = |key: &str, text: String| checkpoint.metadata.insert(key.to_owned(), text);
    note(IDENTITY, encode(path, identity)?);
    note(HISTORY, encode(path, &history)?);
    note(STOPPED, encode(path, &stopped)?);
    Ok(checkpoint.save(path)?)
}

/// Reads the file, if it is there, and makes sure that it is of this run.
pub(super) fn load(config: &CheckpointConfig, identity: &Identity) -> Result<Option<(Checkpoint, Notes)>> {
    let path = &config.path;
    if !path.exists() {
        return Ok(None);
    }
    let checkpoint = Checkpoint::load(path)?;
    fn read<T: serde::de::DeserializeOwned>(path: &Path, checkpoint: &Checkpoint, key: &str) -> Result<T> {
        let text = checkpoint.metadata.get(key).map_or("", String::as_str);
        serde_json::from_str(text).map_err(|error| Error::Format {
            path: path.to_owned(),
            reason: format!("it is no checkpoint of a training run ({key:?}: {error})"),
        })
    }
    let found: Identity = read(path, &checkpoint, IDENTITY)?;
    if let Some(difference) = found.difference(identity) {
        return Err(Error::OtherRun {
            path: path.clone(),
            difference: difference.to_owned(),
        });
    }
    let notes = Notes {
        history: read(path, &checkpoint, HISTORY)?,
        stopped: read(path, &checkpoint, STOPPED)?,
    };
    Ok(Some((checkpoint, notes)))
}
