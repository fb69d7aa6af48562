//! `egg sweep`: every combination of settings is trained, and one is chosen by
//! validation.

mod config;
mod result;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use egg_gnn::pool;
use egg_gnn::pool::protocol::{GridReport, GridSearch, Parallelism, SearchEvent};
use egg_gnn::pool::train::Event;
use serde_json::json;

use crate::arguments::{self, Common};
use crate::console::{Style, counted};
use crate::data::{Data, naming};
use crate::failure::{Failure, Result};
use crate::run_folder::RunFolder;
use crate::train::{labelled, pooling_name, print_reading};
use crate::{interrupt, progress};
use config::Config;

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
    /// Resume the sweep in its folder
    #[arg(long)]
    resume: bool,
    /// Runs at once [default: as many as threads]
    #[arg(long, value_name = "N", value_parser = arguments::threads, allow_negative_numbers = true)]
    jobs: Option<usize>,
    /// Folder for records [default: the file's `out`, else a new one below runs/]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let style = Style::new(arguments.common.json);
    let config = Config::read(&arguments.config)?;
    let data = Data::load(&config.data, &arguments.common)?;
    let name = data.dataset.name().to_owned();
    print_reading(&data, arguments.common.quiet);
    let (data, _) = labelled(data)?;
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
    // One set of matrices for each kind of propagation: the control has one of its own.
    let mut prepared = vec![first.prepare(data.dataset.clone())?];
    for experiment in &searches {
        let kind = experiment.model.convolution.propagation();
        if prepared.iter().all(|graphs| graphs.propagation() != kind) {
            prepared.push(experiment.prepare(data.dataset.clone())?);
        }
    }
    let graphs = &prepared[0];
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
        let label = pooling_name(&experiment.model);
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
        let kind = search.experiment.model.convolution.propagation();
        let graphs = prepared.iter().find(|graphs| graphs.propagation() == kind);
        let graphs = graphs.unwrap_or(&prepared[0]);
        let report = one_pooling(&search, graphs, style, arguments.common.quiet);
        match report {
            Err(Failure::Pool(pool::Error::Cancelled)) => {
                return Err(folder.interrupted("finished combinations (not the one at hand) are"));
            }
            other => reports.push((label, other?)),
        }
    }
    let record = result::record_of(config, data, graphs.fingerprint(), &reports, &splits);
    record.write(&folder.record())?;
    result::print_summary(style, data, &reports, &folder, begin.elapsed().as_secs_f64());
    Ok(())
}

fn one_pooling(
    search: &GridSearch,
    graphs: &pool::data::PreparedGraphs,
    style: Style,
    quiet: bool,
) -> Result<GridReport> {
    let experiment = &search.experiment;
    let label = pooling_name(&experiment.model);
    let cells = search.grid.cells(experiment).len();
    let metric = experiment.training.metric;
    if !quiet {
        style.say(format!(
            "{label}: {} x {}, protocol {}",
            counted(cells, "combination"),
            counted(experiment.repetitions, "repetition"),
            experiment.protocol
        ));
    }
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
                let validation = result::mean(record, metric, result::VALIDATION, experiment);
                if !quiet {
                    style.emit(&json!({
                        "event": "cell",
                        "pool": label,
                        "cell": record.cell.to_string(),
                        "done": done,
                        "of": cells,
                        "val_mean": validation.map(|summary| summary.mean),
                    }));
                }
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
