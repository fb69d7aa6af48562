//! Everything that came of an experiment.

use egg_graph::Split;
use egg_nn::Goal;
use egg_results::{Comparison, Pair, paired};

use super::report::Report;
use crate::folder::TrainedModel;

/// The report of an experiment with the splits and the trained models of all repetitions.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run {
    /// What came of it.
    pub report: Report,
    /// The split of each repetition.
    pub splits: Vec<Split>,
    /// The model of each repetition, at its best validation epoch.
    pub models: Vec<TrainedModel>,
}

impl Run {
    /// The repetition with the best validation metric, of equal ones that with the
    /// lowest loss, then the first. The test part has no say.
    pub fn best(&self) -> usize {
        let metric = self.report.experiment.training.metric;
        let key = |index: usize| {
            let part = self.report.outcomes[index].validation.as_ref();
            let score = part
                .and_then(|part| part.scores.get(metric))
                .map_or(f64::INFINITY, |score| match metric.goal() {
                    Goal::Max => -score,
                    Goal::Min => score,
                });
            (score, part.map_or(f64::INFINITY, |part| part.loss))
        };
        let best = (0..self.report.outcomes.len()).min_by(|a, b| {
            let (a, b) = (key(*a), key(*b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        best.unwrap_or(0)
    }

    /// Compares the test metric with another run's, split by split, by a paired test whose
    /// variance is corrected for overlapping training parts ([`paired`]). `None` if
    /// they are of different data sets (by name and size: features may differ), or share no split on which the metric
    /// is defined.
    pub fn compare(&self, other: &Self) -> Option<Comparison> {
        let metric = self.report.experiment.training.metric;
        let data = |run: &Self| {
            let data = run.models.first().map(|model| &model.config().data);
            data.map(|data| (data.name.clone(), data.graphs))
        };
        if data(self) != data(other) {
            return None;
        }
        let score = |run: &Self, index: usize| {
            let outcome = run.report.outcomes.get(index)?;
            outcome.test.as_ref()?.scores.get(metric)
        };
        let splits: Vec<String> = self.splits.iter().map(Split::digest).collect();
        let pairs = self.splits.iter().enumerate().filter_map(|(index, split)| {
            let same = other.splits.get(index)? == split;
            Some(Pair {
                split: &splits[index],
                first: score(self, index)?,
                second: score(other, index).filter(|_| same)?,
                train: split.train.len() as u64,
                test: split.test.len() as u64,
            })
        });
        paired(&pairs.collect::<Vec<_>>())
    }
}
