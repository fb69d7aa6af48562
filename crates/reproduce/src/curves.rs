//! How a model learnt, for charts.

use std::path::Path;

use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{Run, RunRecord};
use egg_pool::train::EpochReport;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::{Error, Result};
use crate::files;

/// Every epoch of one repetition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Curve {
    /// The mean loss of the training graphs.
    pub train_loss: Vec<Option<f64>>,
    /// The metric of the same.
    pub train_score: Vec<Option<f64>>,
    /// The mean loss of the validation graphs.
    pub validation_loss: Vec<Option<f64>>,
    /// The metric of the same.
    pub validation_score: Vec<Option<f64>>,
}

/// The file, as far as a chart needs it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Curves {
    /// In order.
    pub repetitions: Vec<Curve>,
}

/// Keeps every epoch of every repetition, a repetition a line.
///
/// # Errors
/// As [`RunRecord::new`], or if the file can't be written.
pub fn save(path: &Path, run: &Run, graphs: &PreparedGraphs, revision: Option<String>) -> Result<()> {
    let record = RunRecord::new(&run.report, &run.splits, graphs, revision)?;
    let about = json!({
        "dataset": record.dataset,
        "fingerprint": record.fingerprint,
        "experiment": record.experiment,
        "splits": record.splits,
        "revision": record.revision,
        "machine": record.machine,
        "seconds": record.seconds,
    });
    let curves = run.report.outcomes.iter().map(|outcome| {
        let of = |number: &dyn Fn(&EpochReport) -> Option<f64>| -> Vec<Option<f64>> {
            outcome.history.iter().map(number).collect()
        };
        serde_json::to_string(&Curve {
            train_loss: of(&|epoch| Some(epoch.train_loss)),
            train_score: of(&|epoch| epoch.train_score),
            validation_loss: of(&|epoch| Some(epoch.validation_loss)),
            validation_score: of(&|epoch| epoch.validation_score),
        })
    });
    let curves: Vec<String> = curves
        .collect::<std::result::Result<_, _>>()
        .map_err(Error::format(path))?;
    let text = format!(
        "{{\"about\": {about},\n\"repetitions\": [\n{}\n]}}\n",
        curves.join(",\n")
    );
    files::write(path, &text)
}
