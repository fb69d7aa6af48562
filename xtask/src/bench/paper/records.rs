//! Reading records.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::error::{Error, Result};

pub(super) fn read(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::while_doing(path.display(), e))?;
    serde_json::from_str(&text).map_err(|e| Error::while_doing(path.display(), e))
}

/// `None` if there is none.
pub(super) fn find(path: &Path) -> Result<Option<Value>> {
    match path.exists() {
        true => read(path).map(Some),
        false => Ok(None),
    }
}

/// The revisions that made these records, each once; one that was gone on with names several.
pub(super) fn revisions<'a>(records: impl Iterator<Item = &'a Value>) -> String {
    let names = records.flat_map(|record| record["revision"].as_str().unwrap_or("?").split(", "));
    let once: BTreeSet<&str> = names.collect();
    Vec::from_iter(once).join(", ")
}

/// A value of each repetition.
pub(super) fn values(record: &Value, of: impl Fn(&Value) -> Option<f64>) -> Vec<f64> {
    let repetitions = record["repetitions"].as_array();
    repetitions.into_iter().flatten().filter_map(of).collect()
}

/// The metric of each repetition's test part, in percent.
pub(super) fn tests(record: &Value) -> Vec<f64> {
    scores(record, "test")
}

/// The same of a named part.
pub(super) fn scores(record: &Value, part: &str) -> Vec<f64> {
    let metric = record["experiment"]["training"]["metric"]
        .as_str()
        .unwrap_or("accuracy");
    let field = metric.replace('-', "_");
    values(record, |one| Some(100.0 * one[part]["scores"][&field].as_f64()?))
}
