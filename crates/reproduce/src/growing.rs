//! A result on disk that grows: written after every few repetitions, continued where it ends.

use std::path::Path;

use egg_graph::Split;
use egg_pool::data::PreparedGraphs;
use egg_pool::metrics::Metric;
use egg_pool::protocol::{
    Experiment, Parallelism, RepetitionRecord, Report, RunObserver, RunOptions, RunRecord,
};
use egg_pool::train::{Event, Outcome};
use egg_results::Summary;

use crate::budget::Budget;
use crate::error::{Error, Result};

/// Runs the repetitions of `experiment` that the record at `path` lacks, as many at a time as there
/// are threads, and says how many are there. None is begun once the budget is over.
///
/// # Errors
/// [`Error::OtherRecord`] if the file is of another experiment; else as training and
/// [`RunRecord::save`].
pub fn extend(
    path: &Path,
    experiment: &Experiment,
    graphs: &PreparedGraphs,
    revision: Option<String>,
    budget: &Budget,
    observer: &RunObserver<'_>,
) -> Result<usize> {
    let mut record = match path.exists() {
        true => Some(RunRecord::load(path)?),
        false => None,
    };
    loop {
        let done = match &record {
            Some(record) => repetitions_of(path, record, experiment, graphs)?,
            None => 0,
        };
        if done >= experiment.repetitions || budget.is_over() {
            return Ok(done);
        }
        let part = Experiment {
            repetitions: (done + rayon::current_num_threads()).min(experiment.repetitions),
            ..experiment.clone()
        };
        let splits = part.splits(graphs.dataset())?;
        let outcomes = side_by_side(&part, graphs, &splits, done, observer)?;
        let report = Report::new(&part, graphs, outcomes);
        let new = RunRecord::new(&report, &splits, graphs, revision.clone())?;
        let grown = add(path, record.take(), &part, new)?;
        grown.save(path)?;
        record = Some(grown);
    }
}

/// How many repetitions a record has, if it is one of this experiment.
fn repetitions_of(
    path: &Path,
    record: &RunRecord,
    experiment: &Experiment,
    graphs: &PreparedGraphs,
) -> Result<usize> {
    let found = Experiment {
        repetitions: experiment.repetitions,
        ..record.experiment.clone()
    };
    match found == *experiment && record.fingerprint == graphs.fingerprint() {
        true => Ok(record.repetitions.len()),
        false => Err(Error::OtherRecord {
            path: path.to_owned(),
        }),
    }
}

/// The repetitions from `first` on, each with an equal share of the threads.
fn side_by_side(
    experiment: &Experiment,
    graphs: &PreparedGraphs,
    splits: &[Split],
    first: usize,
    observer: &RunObserver<'_>,
) -> Result<Vec<Outcome>> {
    let outcomes = Parallelism::Repetitions.run(experiment.repetitions - first, |job| {
        let repetition = first + job;
        let mut observer = |event: Event<'_>| observer(repetition, event);
        let options = RunOptions::default();
        let run = experiment.repetition(graphs, &splits[repetition], repetition, &options, &mut observer);
        run.map(|(_, outcome)| outcome)
            .map_err(|source| egg_pool::Error::InRepetition {
                repetition: repetition + 1,
                source: Box::new(source),
            })
    });
    Ok(outcomes?)
}

/// What is there and what has come; the summaries of both are made here.
fn add(
    path: &Path,
    before: Option<RunRecord>,
    experiment: &Experiment,
    mut record: RunRecord,
) -> Result<RunRecord> {
    if let Some(before) = before {
        if !record.splits.starts_with(&before.splits) {
            return Err(Error::OtherRecord {
                path: path.to_owned(),
            });
        }
        let mut all = before.repetitions;
        all.append(&mut record.repetitions);
        record.repetitions = all;
        // All programs that had a part in it, in order.
        record.revision = match (before.revision, record.revision) {
            (Some(old), Some(new)) if !old.ends_with(&new) => Some(format!("{old}, {new}")),
            (old, new) => old.or(new),
        };
    }
    let ddof = experiment.protocol.ddof();
    let metric = experiment.training.metric;
    let summary = |of: &dyn Fn(&RepetitionRecord) -> Option<f64>| {
        let numbers: Option<Vec<f64>> = record.repetitions.iter().map(of).collect();
        Summary::from_values(&numbers?, ddof)
    };
    let score = |metric: Metric| move |one: &RepetitionRecord| one.validation.scores.get(metric);
    record.validation_loss = summary(&|one| Some(one.validation.loss));
    record.validation = summary(&score(metric));
    record.test = summary(&|one| one.test.as_ref()?.scores.get(metric));
    record.seconds = record.repetitions.iter().map(|one| one.seconds).sum();
    Ok(record)
}
