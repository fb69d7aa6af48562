//! What came of a run.

use serde::{Deserialize, Serialize};

use super::evaluate::Evaluation;
use crate::metrics::Scores;

/// One epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Counted from 1.
    pub epoch: u64,
    /// The rate it was trained with.
    pub learning_rate: f64,
    /// The mean loss of the training graphs, each in the step that used it
    /// (dropout and batch statistics included).
    pub train_loss: f64,
    /// The metric of the same; `None` where it is not defined.
    pub train_score: Option<f64>,
    /// The mean loss of the validation graphs, after the epoch.
    pub validation_loss: f64,
    /// The metric of the same; `None` where it is not defined.
    pub validation_score: Option<f64>,
    /// Whether no earlier epoch had a lower validation loss.
    pub best: bool,
    /// How many directions graphs kept in training, for each pooling that makes
    /// subspaces.
    pub ranks: Vec<RankSummary>,
    /// How long its steps took.
    #[serde(default)]
    pub train_seconds: f64,
    /// How long it took, validation included.
    pub seconds: f64,
}

/// The ranks p that one pooling chose in an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankSummary {
    /// The least.
    pub least: usize,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub most: usize,
}

/// Adds up the ranks of an epoch.
#[derive(Debug, Default)]
pub(super) struct RankCounter {
    poolings: Vec<(usize, usize, usize, usize)>,
}

impl RankCounter {
    pub(super) fn add(&mut self, ranks: &[Vec<usize>]) {
        if self.poolings.len() < ranks.len() {
            self.poolings.resize(ranks.len(), (usize::MAX, 0, 0, 0));
        }
        for ((least, most, sum, count), ranks) in self.poolings.iter_mut().zip(ranks) {
            for &rank in ranks {
                *least = rank.min(*least);
                *most = rank.max(*most);
                *sum += rank;
                *count += 1;
            }
        }
    }

    pub(super) fn summaries(&self) -> Vec<RankSummary> {
        let counted = self.poolings.iter().filter(|(.., count)| *count > 0);
        let summary = |&(least, most, sum, count): &(usize, usize, usize, usize)| RankSummary {
            least,
            mean: sum as f64 / count as f64,
            most,
        };
        counted.map(summary).collect()
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// The validation loss did not get better for long enough.
    Patience,
    /// As many epochs as were allowed are done.
    MaxEpochs,
    /// The observer ended it.
    Cancelled,
}

/// A part of the data, at the best epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartReport {
    /// The mean loss.
    pub loss: f64,
    /// All metrics that are defined.
    pub scores: Scores,
}

impl PartReport {
    /// Whether its numbers can be those of an evaluation.
    pub(crate) fn is_consistent(&self) -> bool {
        self.loss.is_finite() && self.scores.is_consistent()
    }
}

impl From<Evaluation> for PartReport {
    fn from(evaluation: Evaluation) -> Self {
        Self {
            loss: evaluation.loss,
            scores: evaluation.scores,
        }
    }
}

/// A run. The model is left at its best epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why it ended.
    pub stopped: Stopped,
    /// The epoch of the lowest validation loss, counted from 1; `None` if none
    /// was finished.
    pub best_epoch: Option<u64>,
    /// The validation part at the best epoch; `None` if no epoch was finished.
    pub validation: Option<PartReport>,
    /// The test part at the best epoch; `None` if the run was cancelled or
    /// there is no test part.
    pub test: Option<PartReport>,
    /// Every epoch.
    pub history: Vec<EpochReport>,
}

impl Outcome {
    /// How long all epochs took.
    pub fn seconds(&self) -> f64 {
        self.history.iter().map(|epoch| epoch.seconds).sum()
    }
}
