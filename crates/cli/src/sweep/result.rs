//! What came of it: the record, the table, the summary.

use egg_gnn::graph::Split;
use egg_gnn::pool;
use egg_gnn::pool::metrics::Metric;
use egg_gnn::pool::protocol::{CellRecord, Experiment, GridReport};
use egg_gnn::pool::train::PartReport;
use egg_gnn::results::Summary;
use egg_report::{Estimate, Kind, Method, Record, Repetition, Sweep, SweepPoint, SweepSeries, Trial};
use serde_json::json;

use super::config::Config;
use crate::console::Style;
use crate::data::Data;
use crate::record;
use crate::run_folder::RunFolder;
use crate::table::Table;

pub(super) type Part = fn(&pool::protocol::RepetitionRecord) -> Option<&PartReport>;

fn values(record: &CellRecord, metric: Metric, part: Part) -> Vec<f64> {
    let repetitions = record.repetitions.iter();
    repetitions
        .filter_map(|run| part(run)?.scores.get(metric))
        .collect()
}

pub(super) fn mean(
    record: &CellRecord,
    metric: Metric,
    part: Part,
    experiment: &Experiment,
) -> Option<Summary> {
    Summary::from_values(&values(record, metric, part), experiment.protocol.ddof())
}

pub(super) const VALIDATION: Part = |run| Some(&run.validation);
const TEST: Part = |run| run.test.as_ref();

pub(super) fn record_of(
    config: &Config,
    data: &Data,
    fingerprint: &str,
    reports: &[(String, GridReport)],
    splits: &[Split],
) -> Record {
    let title = format!("Settings for {}", data.dataset.name());
    let mut record = record::begin(Kind::Sweep, title, data, fingerprint);
    let Some((_, first)) = reports.first() else {
        return record;
    };
    let experiment = &first.experiment;
    let (metric, ddof) = (experiment.training.metric, experiment.protocol.ddof());
    record.config = json!({ "experiment": experiment, "grid": config.grid() });
    record.seed = Some(experiment.seed);
    record.protocol = experiment.protocol.name().to_owned();
    record.ddof = ddof;
    let group = experiment.model.convolution.name().to_uppercase();
    let several = reports.len() > 1;
    for (label, report) in reports {
        let repetitions = report.chosen.iter().zip(splits).enumerate();
        let repetitions = repetitions.map(|(index, (cell, split))| {
            let run = &report.cells[*cell].repetitions[index];
            Repetition {
                split: split.digest(),
                parts: (
                    split.train.len() as u64,
                    split.validation.len() as u64,
                    split.test.len() as u64,
                ),
                test: run.test.as_ref().and_then(|part| part.scores.get(metric)),
                validation: run.validation.scores.get(metric),
                best_epoch: Some(run.best_epoch),
                epochs: Vec::new(),
            }
        });
        record.methods.push(Method {
            name: label.clone(),
            group: group.clone(),
            metric: metric.name().to_owned(),
            lower_is_better: metric.goal() == egg_gnn::nn::Goal::Min,
            repetitions: repetitions.collect(),
            ..Method::default()
        });
        for cell in best_first(report, metric) {
            let record_of_cell = &report.cells[cell];
            let settings = record_of_cell.cell;
            let mut names = vec![
                ("lr".to_owned(), settings.learning_rate.to_string()),
                ("weight decay".to_owned(), settings.weight_decay.to_string()),
                ("hidden".to_owned(), settings.hidden.to_string()),
                ("dropout".to_owned(), settings.dropout.to_string()),
            ];
            names.extend(
                settings
                    .threshold
                    .map(|r| ("threshold r".to_owned(), r.to_string())),
            );
            if several {
                names.insert(0, ("pool".to_owned(), label.clone()));
            }
            let chosen = report.chosen.contains(&cell);
            record.trials.push(Trial {
                settings: names,
                validation: Estimate::from_values(&values(record_of_cell, metric, VALIDATION), ddof),
                // The tests of cells that were not chosen are nobody's business.
                test: chosen.then(|| Estimate::from_values(&values(record_of_cell, metric, TEST), ddof)),
                chosen,
            });
        }
        record.sweeps.extend(sensitivity(label, report, metric, ddof));
    }
    record
}

/// Cells by their mean validation metric.
fn best_first(report: &GridReport, metric: Metric) -> Vec<usize> {
    let key = |cell: usize| {
        let values = values(&report.cells[cell], metric, VALIDATION);
        let mean = Estimate::from_values(&values, 0).mean;
        if metric.goal() == egg_gnn::nn::Goal::Max {
            -mean
        } else {
            mean
        }
    };
    let mut cells: Vec<usize> = (0..report.cells.len()).collect();
    cells.sort_by(|a, b| key(*a).total_cmp(&key(*b)));
    cells
}

/// The test metric against the threshold r: for each r the cell that validation
/// chose among those with it.
fn sensitivity(label: &str, report: &GridReport, metric: Metric, ddof: usize) -> Option<Sweep> {
    let mut points: Vec<SweepPoint> = Vec::new();
    for cell in best_first(report, metric) {
        let record = &report.cells[cell];
        let Some(r) = record.cell.threshold else { continue };
        if points.iter().all(|point| point.at != r) {
            points.push(SweepPoint {
                at: r,
                score: Estimate::from_values(&values(record, metric, TEST), ddof),
            });
        }
    }
    points.sort_by(|a, b| a.at.total_cmp(&b.at));
    (points.len() > 1).then(|| Sweep {
        parameter: "threshold r".to_owned(),
        metric: format!("test {metric}"),
        series: vec![SweepSeries {
            name: label.to_owned(),
            points,
        }],
    })
}

pub(super) fn print_summary(
    style: Style,
    data: &Data,
    reports: &[(String, GridReport)],
    folder: &RunFolder,
    seconds: f64,
) {
    let Some((_, first)) = reports.first() else { return };
    let metric = first.experiment.training.metric;
    let row = |(label, report): &(String, GridReport)| {
        let chosen: Vec<String> = report
            .chosen
            .iter()
            .map(|cell| report.cells[*cell].cell.to_string())
            .collect();
        let tests = report
            .chosen
            .iter()
            .enumerate()
            .map(|(index, cell)| TEST(&report.cells[*cell].repetitions[index])?.scores.get(metric));
        json!({
            "pool": label,
            "mean": report.test.map(|summary| summary.mean),
            "std": report.test.and_then(|summary| summary.deviation),
            "values": tests.collect::<Vec<_>>(),
            "val_mean": report.validation.map(|summary| summary.mean),
            "chosen": chosen,
        })
    };
    style.emit(&json!({
        "event": "summary",
        "metric": metric.name(),
        "rows": reports.iter().map(row).collect::<Vec<_>>(),
        "ddof": first.experiment.protocol.ddof(),
        "protocol": first.experiment.protocol.name(),
        "data": data.dataset.name(),
        "out": folder.path().display().to_string(),
        "seconds": seconds,
    }));
    let mut table = Table::new(["pool", "cells", "validation", "test", "chosen by validation"]);
    let shown = |summary: Option<Summary>| {
        summary.map_or_else(
            || "-".into(),
            |summary| {
                let deviation = summary
                    .deviation
                    .filter(|_| summary.count > 1)
                    .map_or_else(String::new, |d| format!(" +- {d:.4}"));
                format!("{:.4}{deviation}", summary.mean)
            },
        )
    };
    for (label, report) in reports {
        let mut chosen = report.chosen.clone();
        chosen.dedup();
        let cell = match chosen.as_slice() {
            [one] => report.cells[*one].cell.to_string(),
            several => format!("{} different ones", several.len()),
        };
        table.row([
            label.clone(),
            report.cells.len().to_string(),
            shown(report.validation),
            shown(report.test),
            cell,
        ]);
    }
    style.say(format!("\n{}", table.text()));
    style.say(format!(
        "{metric}, mean +- standard deviation (ddof {}), {seconds:.1} s; records in {}; `{}` draws them",
        first.experiment.protocol.ddof(),
        folder.path().display(),
        folder.report_command()
    ));
}
