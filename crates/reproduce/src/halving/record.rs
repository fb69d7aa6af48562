//! What a search by halving has tried, as a file.

use std::path::Path;

use egg_pool::metrics::Metric;
use egg_pool::protocol::{Cell, Experiment, Failure, Grid};
use egg_pool::train::Outcome;
use egg_pool::{Error, Result};
use egg_results::Machine;
use serde::{Deserialize, Serialize};

use super::Rung;

/// The format that is written, and the only one read.
pub(super) const FORMAT: u64 = 1;

/// One training of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedRun {
    /// Counted from 1.
    pub repetition: usize,
    /// The mean loss of the validation graphs at the best epoch: what is chosen by.
    pub validation_loss: f64,
    /// The metric of the same; `None` where it is not defined.
    pub validation: Option<f64>,
    /// The metric of the test part, which nothing is chosen by.
    pub test: Option<f64>,
    /// Counted from 1.
    pub best_epoch: u64,
    /// How many were trained.
    pub epochs: usize,
    /// How long they took.
    pub seconds: f64,
    /// The mean rank p in the best epoch, over graphs and poolings, if there is one.
    pub rank: Option<f64>,
}

/// A setting, and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedSetting {
    /// Which.
    pub cell: Cell,
    /// By repetition.
    pub runs: Vec<TriedRun>,
    /// Repetitions that diverged: such a setting gets no further.
    pub failures: Vec<Failure>,
}

/// What a search is about: two files with the same one are of the same search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HalvingSubject {
    /// The version of the format.
    pub format: u64,
    /// The data set's name.
    pub dataset: String,
    /// How many graphs it has.
    pub graphs: usize,
    /// Of the graphs as the model saw them, SHA-256.
    pub fingerprint: String,
    /// What was trained, but for what the grid replaces.
    pub experiment: Experiment,
    /// The values that were tried.
    pub grid: Grid,
    /// How.
    pub rungs: Vec<Rung>,
    /// A checksum of each repetition's split.
    pub splits: Vec<String>,
}

/// The file of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HalvingRecord {
    /// What it is about.
    pub subject: HalvingSubject,
    /// The revisions of the source, if the programs knew them.
    pub revision: Option<String>,
    /// Where it was made.
    pub machine: Machine,
    /// The setting with the least validation loss of those that got to the end;
    /// `None` as long as the search is not over.
    pub chosen: Option<Cell>,
    /// All settings, in the order of the grid.
    pub settings: Vec<TriedSetting>,
}

impl TriedSetting {
    /// The mean validation loss of the first repetitions; infinite if one failed or
    /// none is there.
    pub fn validation_loss(&self, repetitions: usize) -> f64 {
        if self.failed(repetitions) {
            return f64::INFINITY;
        }
        let runs = self.runs.iter().filter(|run| run.repetition <= repetitions);
        let (sum, count) = runs.fold((0.0, 0.0), |(sum, count), run| {
            (sum + run.validation_loss, count + 1.0)
        });
        match count > 0.0 {
            true => sum / count,
            false => f64::INFINITY,
        }
    }

    /// Whether one of the first repetitions diverged.
    pub fn failed(&self, repetitions: usize) -> bool {
        self.failures.iter().any(|run| run.repetition <= repetitions)
    }

    /// Whether a repetition was made, however it ended.
    pub(super) fn has(&self, repetition: usize) -> bool {
        self.runs.iter().any(|run| run.repetition == repetition)
            || self.failures.iter().any(|run| run.repetition == repetition)
    }

    pub(super) fn add(&mut self, run: std::result::Result<TriedRun, Failure>) {
        match run {
            Ok(run) => self.runs.push(run),
            Err(failure) => self.failures.push(failure),
        }
        self.runs.sort_by_key(|run| run.repetition);
        self.failures.sort_by_key(|run| run.repetition);
    }
}

impl TriedRun {
    pub(super) fn from_outcome(outcome: &Outcome, repetition: usize, metric: Metric) -> Result<Self> {
        // A run that is not cancelled has had an epoch.
        let (Some(validation), Some(best_epoch)) = (&outcome.validation, outcome.best_epoch) else {
            return Err(Error::Cancelled);
        };
        let best = outcome.history.iter().find(|epoch| epoch.epoch == best_epoch);
        let ranks = best.map_or(&[][..], |epoch| &epoch.ranks);
        let sum: f64 = ranks.iter().map(|ranks| ranks.mean).sum();
        Ok(Self {
            repetition,
            validation_loss: validation.loss,
            validation: validation.scores.get(metric),
            test: outcome.test.as_ref().and_then(|test| test.scores.get(metric)),
            best_epoch,
            epochs: outcome.history.len(),
            seconds: outcome.seconds(),
            rank: (!ranks.is_empty()).then(|| sum / ranks.len() as f64),
        })
    }
}

impl HalvingRecord {
    /// Writes it as JSON, a setting a line, atomically.
    ///
    /// # Errors
    /// [`Error::File`] if it can't be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let failed = |error: serde_json::Error| Error::Format {
            path: path.to_owned(),
            reason: format!("it can't be written as JSON: {error}"),
        };
        let text = |value: &serde_json::Value| value.to_string();
        let settings: std::result::Result<Vec<String>, _> =
            self.settings.iter().map(serde_json::to_string).collect();
        let about = [
            ("subject", serde_json::to_value(&self.subject).map_err(failed)?),
            ("revision", serde_json::to_value(&self.revision).map_err(failed)?),
            ("machine", serde_json::to_value(&self.machine).map_err(failed)?),
            ("chosen", serde_json::to_value(self.chosen).map_err(failed)?),
        ];
        let about: Vec<String> = about
            .iter()
            .map(|(name, value)| format!("\"{name}\": {},\n", text(value)))
            .collect();
        let text = format!(
            "{{{}\"settings\": [\n{}\n]}}\n",
            about.concat(),
            settings.map_err(failed)?.join(",\n")
        );
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder.and_then(|()| egg_files::write(path, text.as_bytes()));
        written.map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })
    }

    /// Reads what [`Self::save`] wrote.
    ///
    /// # Errors
    /// [`Error::File`] if it can't be read, [`Error::Format`] if it is none.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        let record: Self = serde_json::from_slice(&bytes).map_err(|error| Error::Format {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        if record.subject.format != FORMAT {
            return Err(Error::Format {
                path: path.to_owned(),
                reason: format!(
                    "it has format {}, this program reads {FORMAT}",
                    record.subject.format
                ),
            });
        }
        Ok(record)
    }
}
