//! Trains a model on a benchmark data set and prints what happens.
//!
//! ```text
//! cargo run --release -p egg-pool --example train -- PROTEINS gin egg
//! cargo run --release -p egg-pool --example train -- MUTAG gcn sum --epochs 50 --repetitions 10 --quiet
//! cargo run --release -p egg-pool --example train -- MUTAG gcn egg --repetitions 3 --grid records
//! ```
//!
//! Data sets are looked for below `--data`, or where egg-datasets
//! looks; `covariance` is made on the spot. A path to a TU folder
//! or zip will do as well. `--grid` searches the paper's grid, with a record of
//! each cell in a folder, from which a search that was killed goes on; `--halving`
//! does so in one file, with more repetitions for the better settings only. `--record`
//! keeps a result as JSON, with all that is needed to repeat it, written after
//! every few repetitions; what is there is not repeated, and after `--budget`
//! seconds no repetition is begun, by `--halving` neither. `--curves` keeps every epoch.

#![allow(clippy::print_stdout, reason = "a program for people")]

mod curves;
mod halving;
mod record;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use egg_autodiff::{Flatten, RankRule};
use egg_datasets::DataFolders;
use egg_graph::synthetic::CovarianceSet;
use egg_graph::{Cache, DataSource, GraphDataset, ReadOptions};
use egg_pool::data::PreparedGraphs;
use egg_pool::folder::TrainedModel;
use egg_pool::protocol::{Experiment, Grid, GridSearch, Parallelism, Protocol, RunOptions, SearchEvent};
use egg_pool::train::{BatchLoss, Event};
use egg_pool::{FilterConfig, PoolingConfig};

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "train DATASET gcn|gin|blind POOLING [--epochs N] [--seed N] [--repetitions N] \
                     [--protocol paper|fair] [--rank threshold|relative|energy|squares|ratio|fixed=X] [--filter resolvent=X|sqrt|log1p] \
                     [--flatten upper|isometric] [--lr X] [--wd X] [--layers N] [--hidden N] [--dropout X] [--loss sum|mean] \
                     [--linear] [--node-norm] [--no-output-norm] [--parallelism auto|repetitions|inside] [--data FOLDER] \
                     [--checkpoints FOLDER] [--save FOLDER] [--grid FOLDER] [--halving FILE [--budget SECONDS]] [--record FILE [--budget SECONDS]] [--curves FILE] [--quiet]";

type Failure = Box<dyn std::error::Error>;

struct Arguments {
    positional: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    fn read() -> Result<Self, Failure> {
        let (mut positional, mut options) = (Vec::new(), Vec::new());
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(flag @ ("quiet" | "linear" | "node-norm" | "no-output-norm")) => {
                    options.push((flag.to_owned(), String::new()))
                }
                Some(name) => {
                    let value = words
                        .next()
                        .ok_or_else(|| format!("--{name} needs a value\n{USAGE}"))?;
                    options.push((name.to_owned(), value));
                }
                None => positional.push(word),
            }
        }
        Ok(Self { positional, options })
    }

    fn text(&self, name: &str) -> Option<&str> {
        let mut found = self.options.iter().filter(|(key, _)| key == name);
        found.next_back().map(|(_, value)| value.as_str())
    }

    fn set<T: std::str::FromStr>(&self, name: &str, target: &mut T) -> Result<(), Failure>
    where
        T::Err: std::fmt::Display,
    {
        if let Some(text) = self.text(name) {
            *target = text
                .parse()
                .map_err(|error| format!("--{name} {text}: {error}"))?;
        }
        Ok(())
    }
}

fn load(name: &str, folder: Option<&str>) -> Result<GraphDataset, Failure> {
    if name.eq_ignore_ascii_case("covariance") {
        return Ok(CovarianceSet::standard()?);
    }
    let source = if Path::new(name).exists() {
        DataSource::detect(Path::new(name))?
    } else {
        let folders = folder.map_or_else(DataFolders::locate, DataFolders::only);
        folders.source(name)?
    };
    Ok(source.load(&ReadOptions::default(), &Cache::Off)?.dataset)
}

fn rank(text: &str) -> Result<RankRule, Failure> {
    let (rule, value) = text
        .split_once('=')
        .ok_or("--rank needs a rule and a value: relative=0.1")?;
    Ok(match rule {
        "fixed" => RankRule::Fixed(value.parse()?),
        "ratio" => RankRule::Ratio(value.parse()?),
        "threshold" => RankRule::Threshold(value.parse()?),
        "relative" => RankRule::Relative(value.parse()?),
        "energy" => RankRule::Energy(value.parse()?),
        "squares" => RankRule::Squares(value.parse()?),
        _ => return Err(format!("there is no rank rule {rule:?}\n{USAGE}").into()),
    })
}

fn filter(text: &str) -> Result<FilterConfig, Failure> {
    Ok(match text.split_once('=') {
        Some(("resolvent", r)) => FilterConfig::Resolvent(r.parse()?),
        None if text == "sqrt" => FilterConfig::Sqrt,
        None if text == "log1p" => FilterConfig::Log1p,
        _ => return Err(format!("there is no filter {text:?}\n{USAGE}").into()),
    })
}

/// Puts what was said in the place of the preset.
fn change(experiment: &mut Experiment, arguments: &Arguments) -> Result<(), Failure> {
    experiment.repetitions = 1;
    arguments.set("repetitions", &mut experiment.repetitions)?;
    arguments.set("seed", &mut experiment.seed)?;
    arguments.set("epochs", &mut experiment.training.max_epochs)?;
    arguments.set("lr", &mut experiment.training.learning_rate)?;
    arguments.set("wd", &mut experiment.training.weight_decay)?;
    arguments.set("layers", &mut experiment.model.layers)?;
    arguments.set("hidden", &mut experiment.model.hidden)?;
    arguments.set("dropout", &mut experiment.model.head.dropout)?;
    experiment.training.batch_loss = match arguments.text("loss") {
        None => experiment.training.batch_loss,
        Some("sum") => BatchLoss::Sum,
        Some("mean") => BatchLoss::Mean,
        Some(other) => return Err(format!("there is no loss {other:?}\n{USAGE}").into()),
    };
    experiment.model.rectify = arguments.text("linear").is_none();
    experiment.model.node_norm |= arguments.text("node-norm").is_some();
    experiment.model.head.output_norm &= arguments.text("no-output-norm").is_none();
    match &mut experiment.model.pooling {
        PoolingConfig::Egg { rank: rule, flatten } => {
            if let Some(text) = arguments.text("rank") {
                *rule = rank(text)?;
            }
            flattening(flatten, arguments)?;
        }
        PoolingConfig::SoftEgg {
            filter: found,
            flatten,
        } => {
            if let Some(text) = arguments.text("filter") {
                *found = filter(text)?;
            }
            flattening(flatten, arguments)?;
        }
        _ => {}
    }
    Ok(())
}

fn flattening(flatten: &mut Flatten, arguments: &Arguments) -> Result<(), Failure> {
    *flatten = match arguments.text("flatten") {
        None => *flatten,
        Some("upper") => Flatten::Upper,
        Some("isometric") => Flatten::Isometric,
        Some(other) => return Err(format!("there is no flattening {other:?}\n{USAGE}").into()),
    };
    Ok(())
}

/// The revision of the source in the folder this is run from, `+` if it was
/// changed since; `EGG_REVISION` says it for a program that stands elsewhere.
fn revision() -> Option<String> {
    if let Ok(revision) = std::env::var("EGG_REVISION") {
        return Some(revision);
    }
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { head } else { head + "+" })
}

fn search(
    experiment: Experiment,
    graphs: &PreparedGraphs,
    options: &RunOptions,
    folder: &str,
) -> Result<(), Failure> {
    let search = GridSearch {
        experiment,
        grid: Grid::paper(),
        folder: folder.into(),
        parallelism: options.parallelism,
    };
    let report = search.run(graphs, &|event| {
        match event {
            SearchEvent::Started { done, cells } => println!("{done} of {cells} cells are done"),
            SearchEvent::Cell { record, .. } => println!("{}: done", record.cell),
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let mut chosen = report.chosen.clone();
    chosen.dedup();
    for cell in chosen {
        println!("chosen by validation: {}", report.cells[cell].cell);
    }
    if let (Some(validation), Some(test)) = (report.validation, report.test) {
        println!(
            "validation {}, test {} (ddof {})",
            validation.percent(),
            test.percent(),
            test.ddof
        );
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::read()?;
    let [dataset, architecture, pooling] = arguments.positional.as_slice() else {
        return Err(USAGE.into());
    };
    let start = Instant::now();
    let dataset = load(dataset, arguments.text("data"))?;
    let mut protocol = Protocol::Paper;
    arguments.set("protocol", &mut protocol)?;
    let mut experiment = Experiment::new(&dataset, protocol, architecture.parse()?, pooling.parse()?)?;
    change(&mut experiment, &arguments)?;
    let parallelism = match arguments.text("parallelism").unwrap_or("auto") {
        "auto" => Parallelism::Auto,
        "repetitions" => Parallelism::Repetitions,
        "inside" => Parallelism::Inside,
        other => return Err(format!("there is no parallelism {other:?}\n{USAGE}").into()),
    };
    let options = RunOptions {
        parallelism,
        checkpoints: arguments.text("checkpoints").map(PathBuf::from),
        every: 10,
    };
    let graphs = experiment.prepare(dataset)?;
    println!(
        "{}: {} graphs, {} features; ready after {:.2} s",
        graphs.dataset().name(),
        graphs.dataset().len(),
        graphs.inputs(),
        start.elapsed().as_secs_f64()
    );
    let quiet = arguments.text("quiet").is_some();
    let follow = |repetition: usize, event: Event<'_>| {
        print(repetition, event, quiet);
        ControlFlow::Continue(())
    };
    if let Some(folder) = arguments.text("grid") {
        return search(experiment, &graphs, &options, folder);
    }
    if let Some(folder) = arguments.text("save") {
        let mut observer = |event: Event<'_>| follow(0, event);
        let trained = TrainedModel::train(&experiment, &graphs, 0, &options, &mut observer)?;
        trained.save(folder)?;
        println!("saved to {folder}");
        return Ok(());
    }
    let mut budget = f64::INFINITY;
    arguments.set("budget", &mut budget)?;
    if let Some(path) = arguments.text("halving") {
        return halving::search(
            Path::new(path),
            experiment,
            &graphs,
            parallelism,
            revision(),
            budget,
        );
    }
    if let Some(path) = arguments.text("record") {
        let path = Path::new(path);
        return record::extend(path, &experiment, &graphs, revision(), budget, &follow);
    }
    let start = Instant::now();
    let report = experiment.run(&graphs, &options, &follow)?;
    if let Some(path) = arguments.text("curves") {
        curves::save(Path::new(path), &report, &graphs, revision())?;
    }
    let epochs: usize = report.outcomes.iter().map(|outcome| outcome.history.len()).sum();
    let seconds: f64 = report.outcomes.iter().map(|outcome| outcome.seconds()).sum();
    let metric = experiment.training.metric;
    if let (Some(validation), Some(test)) = (report.validation, report.test) {
        println!(
            "{protocol} protocol, {metric}: validation {}, test {} (ddof {})",
            validation.percent(),
            test.percent(),
            test.ddof
        );
    }
    println!(
        "{epochs} epochs, {:.4} s each, {:.1} s in all",
        seconds / epochs as f64,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn print(repetition: usize, event: Event<'_>, quiet: bool) {
    let run = repetition + 1;
    match event {
        Event::Started {
            parameters, graphs, ..
        } => {
            println!("[{run}] {parameters} parameters, train/validation/test {graphs:?}");
        }
        Event::Epoch(report) if !quiet => {
            let percent = |score: Option<f64>| score.map_or(f64::NAN, |score| 100.0 * score);
            let ranks: Vec<String> = report
                .ranks
                .iter()
                .map(|ranks| format!("{}-{:.1}-{}", ranks.least, ranks.mean, ranks.most))
                .collect();
            println!(
                "[{run}] {:3}{} lr {:.1e}  train {:.4} {:5.1}  validation {:.4} {:5.1}  {:.3} s  p {}",
                report.epoch,
                if report.best { '*' } else { ' ' },
                report.learning_rate,
                report.train_loss,
                percent(report.train_score),
                report.validation_loss,
                percent(report.validation_score),
                report.seconds,
                ranks.join(" ")
            );
        }
        Event::Finished(outcome) => {
            let test = outcome.test.as_ref().map(|part| format!("{:?}", part.scores));
            println!(
                "[{run}] {:?} after {} epochs, best {:?}: test {}",
                outcome.stopped,
                outcome.history.len(),
                outcome.best_epoch,
                test.unwrap_or_default()
            );
        }
        _ => {}
    }
}
