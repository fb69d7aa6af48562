//! What a run leaves for `egg report`.

use std::collections::BTreeMap;

use egg_gnn::graph::{GraphDataset, Targets};
use egg_gnn::pool::folder::TrainedModel;
use egg_gnn::pool::protocol::Run;
use egg_gnn::pool::train::{EpochReport, Outcome};
use egg_gnn::{geometry, nn};
use egg_report::{Confusion, Embedding, Epoch, Kind, Method, RankBin, Ranks, Record, Repetition, Versions};

use crate::data::Data;
use crate::failure::Result;

/// Points of a map: more take long to lay out and can't be distinguished.
pub(crate) const MAP_ROWS: usize = 1000;

/// Graphs that are embedded at most; of a large data set every k-th.
const EMBEDDED: usize = 4000;

/// A record with all that does not depend on what was run.
pub(crate) fn begin(kind: Kind, title: String, data: &Data, fingerprint: &str) -> Record {
    let dataset = &data.dataset;
    let mut record = Record::new(kind, title);
    record.finished = now();
    record.command = command();
    record.data = egg_report::Data {
        name: dataset.name().to_owned(),
        fingerprint: fingerprint.to_owned(),
        source: data.source.clone(),
        graphs: Some(dataset.len() as u64),
        nodes: Some(dataset.node_count() as u64),
        edges: Some(dataset.edge_count() as u64),
        features: Some(dataset.features().width() as u64),
        classes: class_count(dataset).map(|classes| classes as u64),
    };
    record.versions = versions();
    record
}

/// Of graphs, or of the nodes of one graph.
pub(crate) fn class_count(dataset: &GraphDataset) -> Option<usize> {
    match dataset.targets() {
        Some(Targets::Classes(labels)) => Some(labels.class_count()),
        Some(Targets::Values(_)) => None,
        None => dataset.node_labels().map(|labels| labels.class_count()),
    }
}

/// A classifier's row, without what only its model knows.
pub(crate) fn method(name: String, group: &str, run: &Run, dataset: &GraphDataset) -> Method {
    let (report, splits) = (&run.report, &run.splits);
    let metric = report.experiment.training.metric;
    let repetitions = report
        .outcomes
        .iter()
        .zip(splits)
        .map(|(outcome, split)| Repetition {
            split: split.digest(),
            parts: (
                split.train.len() as u64,
                split.validation.len() as u64,
                split.test.len() as u64,
            ),
            test: outcome.test.as_ref().and_then(|part| part.scores.get(metric)),
            validation: outcome
                .validation
                .as_ref()
                .and_then(|part| part.scores.get(metric)),
            best_epoch: outcome.best_epoch,
            epochs: outcome.history.iter().map(epoch).collect(),
        });
    Method {
        name,
        group: group.to_owned(),
        metric: metric.name().to_owned(),
        lower_is_better: metric.goal() == nn::Goal::Min,
        repetitions: repetitions.collect(),
        confusion: confusion(&report.outcomes, dataset),
        ..Method::default()
    }
}

fn epoch(epoch: &EpochReport) -> Epoch {
    Epoch {
        epoch: epoch.epoch,
        train_loss: epoch.train_loss,
        train_metric: epoch.train_score,
        validation_loss: epoch.validation_loss,
        validation_metric: epoch.validation_score,
        seconds: epoch.seconds,
    }
}

/// The confusion matrix of all test parts together.
fn confusion(outcomes: &[Outcome], dataset: &GraphDataset) -> Option<Confusion> {
    let mut total: Option<Vec<Vec<u64>>> = None;
    for outcome in outcomes {
        let counts = outcome.test.as_ref()?.scores.confusion()?.counts();
        let total = total.get_or_insert_with(|| vec![vec![0; counts.len()]; counts.len()]);
        for (sum, row) in total.iter_mut().flatten().zip(counts.iter().flatten()) {
            *sum += row;
        }
    }
    let classes = dataset
        .classes()
        .map_or_else(Vec::new, |labels| labels.names().to_vec());
    total.map(|counts| Confusion { classes, counts })
}

/// Adds the map of the graphs by a trained model, and the ranks.
pub(crate) fn attach_embedding(
    method: &mut Method,
    trained: &TrainedModel,
    dataset: GraphDataset,
    seed: u64,
) -> Result<()> {
    let all = dataset.len();
    let step = all.div_ceil(EMBEDDED).max(1);
    let dataset = match step {
        1 => dataset,
        _ => dataset.subset(&(0..all).step_by(step).collect::<Vec<_>>())?,
    };
    let labels = dataset.classes().cloned();
    let embedding = trained.embed(dataset)?;
    if let Some(subspaces) = &embedding.subspaces {
        let mut bins: BTreeMap<usize, (u64, f64)> = BTreeMap::new();
        for (rank, captured) in subspaces.ranks.iter().zip(&subspaces.captured) {
            let bin = bins.entry(*rank).or_default();
            *bin = (bin.0 + 1, bin.1 + captured);
        }
        let bins = bins.into_iter().map(|(rank, (graphs, captured))| RankBin {
            rank: rank as u64,
            graphs,
            captured: Some(captured / graphs as f64),
        });
        method.ranks.push(Ranks {
            name: String::new(),
            columns: Some(trained.config().model.hidden as u64),
            bins: bins.collect(),
        });
    }
    // A map is of distances.
    let rows = embedding.isometric();
    let columns = rows.ncols();
    let classes = (0..rows.nrows()).map(|graph| labels.as_ref()?.get(graph));
    let mut map = Embedding::new(
        "graphs",
        columns,
        rows.iter().copied().collect(),
        classes.collect(),
    )?;
    map.class_names = labels.map_or_else(Vec::new, |labels| labels.names().to_vec());
    let which = match step {
        1 => "all graphs".to_owned(),
        _ => format!("{} of {all} graphs", embedding.graphs.nrows()),
    };
    map.note = format!(
        "{which}, by the model of repetition {}",
        trained.config().repetition
    );
    map.reduce(MAP_ROWS, seed);
    method.embedding = Some(map);
    Ok(())
}

/// The command line, to be typed again: from the beginning, even of a run that was
/// resumed.
pub(crate) fn command() -> String {
    let words = std::env::args().skip(1).filter(|word| word != "--resume");
    egg_report::shell_command(std::iter::once("egg".to_owned()).chain(words))
}

fn versions() -> Versions {
    let kernels = geometry::blas_kernels().map(|kernels| format!(", {kernels} kernels"));
    let processor = egg_gnn::results::processor().map(|name| format!("{name}, "));
    Versions {
        egg: env!("CARGO_PKG_VERSION").to_owned(),
        backend: format!("{}{}", geometry::backend(), kernels.unwrap_or_default()),
        rustc: env!("EGG_RUSTC").to_owned(),
        machine: format!(
            "{}{} {}, {} threads",
            processor.unwrap_or_default(),
            std::env::consts::OS,
            std::env::consts::ARCH,
            rayon::current_num_threads()
        ),
        others: Vec::new(),
    }
}

/// The date and time, as in `2026-11-17 04:35 UTC`.
fn now() -> String {
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Year, month and day of a day counted from 1970-01-01, by the calendar's
/// periods: 400 years have 146,097 days, and a year that begins in March has
/// its leap day at the end.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // from March
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_since_1970_convert_to_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(19_783), (2024, 3, 1));
        assert_eq!(date(20_774), (2026, 11, 17));
    }
}
