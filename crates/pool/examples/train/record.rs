//! A result on disk that grows: written after every few repetitions, gone on with
//! where it ends. `cargo xtask bench paper` makes tables of such files.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use egg_pool::data::PreparedGraphs;
use egg_pool::metrics::Metric;
use egg_pool::protocol::{Experiment, Follow, RepetitionRecord, Report, RunOptions, RunRecord};
use egg_pool::train::Outcome;
use egg_results::Summary;

type Failure = Box<dyn std::error::Error>;

/// The repetitions of `experiment` that the record at `path` lacks, as many at a
/// time as there are threads; none is begun after `budget` seconds.
pub(crate) fn extend(
    path: &Path,
    experiment: &Experiment,
    graphs: &PreparedGraphs,
    revision: Option<String>,
    budget: f64,
    follow: &Follow<'_>,
) -> Result<(), Failure> {
    let begin = Instant::now();
    let mut record = match path.exists() {
        true => Some(RunRecord::load(path)?),
        false => None,
    };
    let wanted = experiment.repetitions;
    loop {
        let done = match &record {
            Some(record) => same(path, record, experiment, graphs)?,
            None => 0,
        };
        if done >= wanted {
            println!("{}: {done} repetitions are there", path.display());
            return Ok(());
        }
        if begin.elapsed().as_secs_f64() > budget {
            println!(
                "{}: time is up after {done} of {wanted}: call again to go on",
                path.display()
            );
            return Ok(());
        }
        let next = (done + rayon::current_num_threads()).min(wanted);
        let part = Experiment {
            repetitions: next,
            ..experiment.clone()
        };
        let outcomes = side_by_side(&part, graphs, done, follow)?;
        let grown = add(record.take(), &part, graphs, outcomes, revision.clone())?;
        grown.save(path)?;
        record = Some(grown);
    }
}

/// How many repetitions a record has, if it is one of this experiment.
fn same(
    path: &Path,
    record: &RunRecord,
    experiment: &Experiment,
    graphs: &PreparedGraphs,
) -> Result<usize, Failure> {
    let found = Experiment {
        repetitions: experiment.repetitions,
        ..record.experiment.clone()
    };
    if found != *experiment || record.fingerprint != graphs.fingerprint() {
        let advice = "is of other data or settings: move it away, or record elsewhere";
        return Err(format!("{} {advice}", path.display()).into());
    }
    Ok(record.repetitions.len())
}

/// The repetitions from `first` on, each with an equal share of the threads.
fn side_by_side(
    experiment: &Experiment,
    graphs: &PreparedGraphs,
    first: usize,
    follow: &Follow<'_>,
) -> Result<Vec<Outcome>, Failure> {
    let splits = experiment.splits(graphs.dataset())?;
    let workers = experiment.repetitions - first;
    let threads = (rayon::current_num_threads() / workers).max(1);
    let outcomes: Mutex<Vec<Option<Result<Outcome, String>>>> = Mutex::new(vec![None; workers]);
    std::thread::scope(|scope| {
        for (worker, split) in splits[first..].iter().enumerate() {
            let outcomes = &outcomes;
            scope.spawn(move || {
                let run = || {
                    let mut observer = |event: egg_pool::train::Event<'_>| follow(first + worker, event);
                    let options = RunOptions::default();
                    experiment.repetition(graphs, split, first + worker, &options, &mut observer)
                };
                let outcome = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
                    Ok(pool) => pool
                        .install(run)
                        .map(|(_, outcome)| outcome)
                        .map_err(|e| e.to_string()),
                    Err(error) => Err(error.to_string()),
                };
                outcomes.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[worker] = Some(outcome);
            });
        }
    });
    let outcomes = outcomes
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut all = Vec::with_capacity(workers);
    for (worker, outcome) in outcomes.into_iter().enumerate() {
        let outcome = outcome.ok_or("a repetition ended without a result")?;
        all.push(outcome.map_err(|error| format!("repetition {}: {error}", first + worker + 1))?);
    }
    Ok(all)
}

/// What is there and what has come.
fn add(
    before: Option<RunRecord>,
    experiment: &Experiment,
    graphs: &PreparedGraphs,
    outcomes: Vec<Outcome>,
    revision: Option<String>,
) -> Result<RunRecord, Failure> {
    let report = Report {
        experiment: experiment.clone(),
        dataset: graphs.dataset().name().to_owned(),
        fingerprint: graphs.fingerprint().to_owned(),
        outcomes,
        validation: None,
        test: None,
    };
    let mut record = RunRecord::of(&report, graphs, revision)?;
    if let Some(before) = before {
        if !record.splits.starts_with(&before.splits) {
            return Err("the splits of the record are not those of this program".into());
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
        Summary::of(&numbers?, ddof)
    };
    let score = |metric: Metric| move |one: &RepetitionRecord| one.validation.scores.get(metric);
    record.validation_loss = summary(&|one| Some(one.validation.loss));
    record.validation = summary(&score(metric));
    record.test = summary(&|one| one.test.as_ref()?.scores.get(metric));
    record.seconds = record.repetitions.iter().map(|one| one.seconds).sum();
    Ok(record)
}
