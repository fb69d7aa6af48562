//! What the page takes from records of training.

use std::collections::BTreeSet;
use std::path::Path;

use egg_pool::protocol::{RepetitionRecord, RunRecord};
use egg_pool::train::PartReport;

use crate::error::Result;

/// `None` if there is none.
pub(super) fn find(path: &Path) -> Result<Option<RunRecord>> {
    match path.exists() {
        true => Ok(Some(RunRecord::load(path)?)),
        false => Ok(None),
    }
}

/// The revisions that made some records, each once; one that was continued names several.
pub(super) fn revisions<'a>(names: impl Iterator<Item = Option<&'a str>>) -> String {
    let names = names.flat_map(|name| name.unwrap_or("?").split(", "));
    let once: BTreeSet<&str> = names.collect();
    Vec::from_iter(once).join(", ")
}

/// The metric of each repetition's test part, in percent.
pub(super) fn tests(record: &RunRecord) -> Vec<f64> {
    scores(record, |one| one.test.as_ref())
}

/// The metric of each repetition's validation part, in percent.
pub(super) fn validations(record: &RunRecord) -> Vec<f64> {
    scores(record, |one| Some(&one.validation))
}

fn scores(record: &RunRecord, part: fn(&RepetitionRecord) -> Option<&PartReport>) -> Vec<f64> {
    let metric = record.experiment.training.metric;
    let scores = record.repetitions.iter();
    scores
        .filter_map(|one| Some(100.0 * part(one)?.scores.get(metric)?))
        .collect()
}
