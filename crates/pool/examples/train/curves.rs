//! How a model learnt, for charts.

use std::path::Path;

use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{Report, RunRecord};
use egg_pool::train::EpochReport;
use serde_json::json;

use crate::Failure;

/// Every epoch of every repetition, a line for each kind of number.
pub(crate) fn save(
    path: &Path,
    report: &Report,
    graphs: &PreparedGraphs,
    revision: Option<String>,
) -> Result<(), Failure> {
    let record = RunRecord::of(report, graphs, revision)?;
    let about = json!({
        "dataset": record.dataset,
        "fingerprint": record.fingerprint,
        "experiment": record.experiment,
        "splits": record.splits,
        "revision": record.revision,
        "machine": record.machine,
        "seconds": record.seconds,
    });
    let curves = report.outcomes.iter().map(|outcome| {
        let of = |number: &dyn Fn(&EpochReport) -> Option<f64>| -> Vec<Option<f64>> {
            outcome.history.iter().map(number).collect()
        };
        json!({
            "train_loss": of(&|epoch| Some(epoch.train_loss)),
            "validation_loss": of(&|epoch| Some(epoch.validation_loss)),
            "train_score": of(&|epoch| epoch.train_score),
            "validation_score": of(&|epoch| epoch.validation_score),
        })
    });
    let curves: Vec<String> = curves.map(|curve| curve.to_string()).collect();
    let text = format!(
        "{{\"about\": {about},\n\"repetitions\": [\n{}\n]}}\n",
        curves.join(",\n")
    );
    Ok(egg_files::write(path, text.as_bytes())?)
}
