//! `egg sweep`: every combination of settings is trained, and one is chosen by
//! validation.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use egg_gnn::graph::Split;
use egg_gnn::pool::metrics::Metric;
use egg_gnn::pool::model::Architecture;
use egg_gnn::pool::protocol::{
    CellRecord, Experiment, Grid, GridReport, GridSearch, Parallelism, Protocol, SearchEvent, Summary,
};
use egg_gnn::pool::train::{Event, PartReport};
use egg_gnn::pool::{self, PoolingConfig};
use egg_report::{Estimate, Kind, Method, Record, Repetition, Sweep, SweepPoint, SweepSeries, Trial};
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{self, Common};
use crate::console::Style;
use crate::data::{Data, naming};
use crate::failure::{Failure, Result};
use crate::run_folder::RunFolder;
use crate::table::Table;
use crate::train::{Settings, pooling_name};
use crate::{interrupt, progress, record};

/// Try every combination of settings, and choose one by validation
///
/// CONFIG.toml has what `egg train` takes, and lists of values to try:
///
///   data = "MUTAG"            # or a path
///   conv = "gin"              # gcn or gin
///   pool = ["egg", "sum"]     # one or several
///   reps = 3                  # and seed, epochs, patience, batch, layers, linear, protocol, out
///   [grid]                    # the paper's grid where nothing is said
///   lr = [0.005, 0.001]
///   weight_decay = [0.0005]
///   hidden = [32]
///   dropout = [0.0, 0.5]
///   threshold = [0.5, 0.8]    # EGG's rank rule threshold:r
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// Go on with the sweep in its folder
    #[arg(long)]
    resume: bool,
    /// Runs at once [default: as many as threads]
    #[arg(long, value_name = "N", value_parser = arguments::positive)]
    jobs: Option<usize>,
    /// Folder for records [default: the file's `out`, else a new one below runs/]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// What is in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    data: String,
    #[serde(default)]
    conv: Option<Architecture>,
    #[serde(default)]
    pool: Option<Pools>,
    #[serde(default)]
    protocol: Option<Protocol>,
    #[serde(default)]
    reps: Option<usize>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    epochs: Option<u64>,
    #[serde(default)]
    patience: Option<u64>,
    #[serde(default)]
    batch: Option<usize>,
    #[serde(default)]
    layers: Option<usize>,
    #[serde(default)]
    linear: bool,
    #[serde(default)]
    out: Option<PathBuf>,
    #[serde(default)]
    grid: Lists,
}

/// One pooling, or several to compare.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Pools {
    One(PoolingConfig),
    Several(Vec<PoolingConfig>),
}

/// The values to try; the paper's where there are none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    lr: Option<Vec<f64>>,
    weight_decay: Option<Vec<f64>>,
    hidden: Option<Vec<usize>>,
    dropout: Option<Vec<f64>>,
    threshold: Option<Vec<f64>>,
}

impl Config {
    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
        toml::from_str(&text).map_err(|error| {
            // Where, what, and the line itself are in its first lines.
            let told: Vec<&str> = error.message().lines().collect();
            let line = error
                .span()
                .map(|span| text[..span.start].matches('\n').count() + 1);
            let at = line.map_or_else(String::new, |line| format!(", line {line}"));
            Failure::other(format!("{}{at}: {}", path.display(), told.join(" ")))
        })
    }

    fn settings(&self, pool: PoolingConfig) -> Settings {
        Settings {
            conv: self.conv.unwrap_or(Architecture::Gcn),
            pool,
            rank: None,
            hidden: None,
            layers: self.layers,
            linear: self.linear,
            lr: None,
            weight_decay: None,
            dropout: None,
            batch: self.batch,
            epochs: self.epochs,
            patience: self.patience,
            reps: self.reps.unwrap_or(10),
            seed: self.seed,
            protocol: self.protocol.unwrap_or(Protocol::Paper),
        }
    }

    fn pools(&self) -> Vec<PoolingConfig> {
        match &self.pool {
            None => vec![PoolingConfig::default()],
            Some(Pools::One(pool)) => vec![pool.clone()],
            Some(Pools::Several(pools)) => pools.clone(),
        }
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid::paper();
        let Lists {
            lr,
            weight_decay,
            hidden,
            dropout,
            threshold,
        } = &self.grid;
        let set = |list: &mut Vec<f64>, given: &Option<Vec<f64>>| {
            if let Some(given) = given {
                list.clone_from(given);
            }
        };
        set(&mut grid.learning_rate, lr);
        set(&mut grid.weight_decay, weight_decay);
        set(&mut grid.dropout, dropout);
        set(&mut grid.threshold, threshold);
        if let Some(hidden) = hidden {
            grid.hidden.clone_from(hidden);
        }
        grid
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let style = Style::of(arguments.common.json);
    let config = Config::read(&arguments.config)?;
    let data = Data::load(&config.data, arguments.common.datasets.as_deref())?;
    let name = data.dataset.name().to_owned();
    let swept = match arguments.jobs {
        // Each job has a thread of its own.
        Some(jobs) if jobs > 1 => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
            let pool = pool.map_err(|error| Failure::other(format!("--jobs {jobs}: {error}")))?;
            pool.install(|| sweep(arguments, &config, &data, style))
        }
        _ => sweep(arguments, &config, &data, style),
    };
    naming(&name, swept)
}

fn sweep(arguments: &Arguments, config: &Config, data: &Data, style: Style) -> Result<()> {
    let begin = Instant::now();
    let pools = config.pools();
    let mut searches = Vec::new();
    for pool in &pools {
        searches.push(config.settings(pool.clone()).experiment(data)?);
    }
    let Some(first) = searches.first() else {
        return Err(Failure::other(format!(
            "{}: pool = [] leaves nothing to train",
            arguments.config.display()
        )));
    };
    let graphs = first.prepare(data.dataset.clone())?;
    let splits = first.splits(graphs.dataset())?;
    let default = format!("{}-sweep", data.dataset.name()).to_lowercase();
    let named = arguments.out.as_deref().or(config.out.as_deref());
    let folder = RunFolder::open(named, &default, arguments.resume)?;
    interrupt::listen();

    let mut reports = Vec::new();
    for (index, (experiment, pool)) in searches.into_iter().zip(&pools).enumerate() {
        // One kind of pooling may be there with several settings.
        let earlier = pools[..index]
            .iter()
            .filter(|other| other.name() == pool.name())
            .count();
        let cells = match earlier {
            0 => pool.name().to_owned(),
            earlier => format!("{}-{}", pool.name(), earlier + 1),
        };
        let search = GridSearch {
            grid: config.grid(),
            folder: folder.checkpoints().join(cells),
            parallelism: match arguments.jobs {
                Some(1) => Parallelism::Inside,
                Some(_) => Parallelism::Repetitions,
                None => Parallelism::Auto,
            },
            experiment,
        };
        let report = one_pooling(&search, &graphs, style, arguments.common.quiet);
        match report {
            Err(Failure::Pool(pool::Error::Cancelled)) => {
                return Err(Failure::Interrupted(format!(
                    "finished cells are kept in {}\nto go on: {}",
                    folder.path().display(),
                    folder.resume_command()
                )));
            }
            other => reports.push((pooling_label(pool), other?)),
        }
    }
    let record = record_of(config, data, graphs.fingerprint(), &reports, &splits);
    record.write(&folder.record())?;
    tell(style, data, &reports, &folder, begin.elapsed().as_secs_f64());
    Ok(())
}

/// EGG's rule is what is swept, so it is not part of the name.
fn pooling_label(pool: &PoolingConfig) -> String {
    match pool {
        PoolingConfig::Egg { .. } => "egg".to_owned(),
        other => pooling_name(other),
    }
}

fn one_pooling(
    search: &GridSearch,
    graphs: &pool::data::PreparedGraphs,
    style: Style,
    quiet: bool,
) -> Result<GridReport> {
    let experiment = &search.experiment;
    let label = pooling_label(&experiment.model.pooling);
    let cells = search.grid.cells(experiment).len();
    let metric = experiment.training.metric;
    style.say(format!(
        "{label}: {cells} combinations x {} repetitions, protocol {}",
        experiment.repetitions, experiment.protocol
    ));
    let bar = progress::bar(style, quiet, (cells * experiment.repetitions) as u64, "runs");
    bar.set_prefix(label.clone());
    let finished = AtomicUsize::new(0);
    let report = search.run(graphs, &|event| {
        match event {
            SearchEvent::Started { done, .. } => {
                finished.store(done, Ordering::Relaxed);
                bar.inc((done * experiment.repetitions) as u64);
                bar.reset_eta();
            }
            SearchEvent::Training {
                event: Event::Finished(_),
                ..
            } => bar.inc(1),
            SearchEvent::Cell { record, .. } => {
                let done = finished.fetch_add(1, Ordering::Relaxed) + 1;
                let validation = mean(record, metric, |part| Some(&part.validation), experiment);
                style.emit(&json!({
                    "event": "cell",
                    "pool": label,
                    "cell": record.cell.to_string(),
                    "done": done,
                    "of": cells,
                    "val_mean": validation.map(|summary| summary.mean),
                }));
                let shown = validation.map_or_else(|| "-".into(), |summary| format!("{:.4}", summary.mean));
                bar.set_message(format!("{} validation {metric} {shown}", record.cell));
                if style == Style::Plain && !quiet {
                    style.say(format!(
                        "{label} {done}/{cells}  {}  validation {metric} {shown}",
                        record.cell
                    ));
                }
            }
            _ => {}
        }
        let between = !matches!(
            event,
            SearchEvent::Training {
                event: Event::Batch { .. },
                ..
            }
        );
        match between && interrupt::asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    bar.finish_and_clear();
    Ok(report?)
}

type Part = fn(&pool::protocol::RepetitionRecord) -> Option<&PartReport>;

fn values(record: &CellRecord, metric: Metric, part: Part) -> Vec<f64> {
    let repetitions = record.repetitions.iter();
    repetitions
        .filter_map(|run| part(run)?.scores.get(metric))
        .collect()
}

fn mean(record: &CellRecord, metric: Metric, part: Part, experiment: &Experiment) -> Option<Summary> {
    Summary::of(&values(record, metric, part), experiment.protocol.ddof())
}

const VALIDATION: Part = |run| Some(&run.validation);
const TEST: Part = |run| run.test.as_ref();

fn record_of(
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
    let group = experiment.model.architecture.name().to_uppercase();
    let several = reports.len() > 1;
    for (label, report) in reports {
        let repetitions = report.chosen.iter().zip(splits).enumerate();
        let repetitions = repetitions.map(|(index, (cell, split))| {
            let run = &report.cells[*cell].repetitions[index];
            Repetition {
                split: record::digest(split),
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
                validation: Estimate::of(&values(record_of_cell, metric, VALIDATION), ddof),
                // The tests of cells that were not chosen are nobody's business.
                test: chosen.then(|| Estimate::of(&values(record_of_cell, metric, TEST), ddof)),
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
        let mean = Estimate::of(&values, 0).mean;
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
                score: Estimate::of(&values(record, metric, TEST), ddof),
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

fn tell(style: Style, data: &Data, reports: &[(String, GridReport)], folder: &RunFolder, seconds: f64) {
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
    let shown = folder.path().display();
    style.say(format!(
        "{metric}, mean +- standard deviation (ddof {}), {seconds:.1} s; records in {shown}; `egg report {shown}` draws them",
        first.experiment.protocol.ddof()
    ));
}
