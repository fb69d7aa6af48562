//! `egg train`: graphs are classified, several times, and the best model is kept.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use egg_gnn::geometry::RankRule;
use egg_gnn::nn::Goal;
use egg_gnn::pool::data::InputFeatures;
use egg_gnn::pool::folder::TrainedModel;
use egg_gnn::pool::model::Architecture;
use egg_gnn::pool::protocol::{Experiment, Protocol, Report, RunOptions};
use egg_gnn::pool::train::Silent;
use egg_gnn::pool::{self, FilterConfig, PoolingConfig};
use egg_report::{Kind, Record};
use serde_json::json;

use crate::arguments::{self, Common};
use crate::console::{self, Style, counted, epochs};
use crate::data::{Data, naming};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::progress::TrainProgress;
use crate::record;
use crate::run_folder::RunFolder;
use crate::table::Table;

/// Epochs between two checkpoints, unless Ctrl-C asks for one.
const CHECKPOINT_EVERY: u64 = 10;

/// Train a graph classifier, and keep its best model
///
/// Settings that are not given are the paper's, as listed here. For some benchmarks, with --pool egg
/// and --protocol paper, they are what trials chose (docs/TRAINING.md); the first lines say which.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to train on: a registered name, a path, or demo:covariance
    #[arg(long, value_name = "DATA")]
    data: String,
    #[command(flatten)]
    settings: Settings,
    /// Folder for checkpoints, model and record; a new one below runs/ by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the run in the folder
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    common: Common,
}

/// What may differ from the protocol's own settings.
#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    /// Convolutions
    #[arg(long, value_name = "gcn|gin|blind", default_value = "gcn", value_parser = arguments::architecture)]
    pub(crate) conv: Architecture,
    /// Pooling: egg, soft-egg, sum, avg, max, attention, topk, sag, edge, pan, random, blind
    #[arg(long, value_name = "NAME", default_value = "egg", value_parser = arguments::pooling)]
    pub(crate) pool: PoolingConfig,
    /// How many directions EGG keeps: threshold:X, relative:X, energy:X, squares:X, ratio:X or fixed:P [default: threshold:0.5]
    #[arg(long, value_name = "RULE", value_parser = arguments::rank)]
    pub(crate) rank: Option<RankRule>,
    /// Width of the convolutions [default: 32]
    #[arg(long, value_name = "N", value_parser = arguments::positive, allow_negative_numbers = true)]
    pub(crate) hidden: Option<usize>,
    /// Number of convolutions [default: 2 for gcn, 4 for gin; more for NCI1 and ogbg-molhiv]
    #[arg(long, value_name = "N", value_parser = arguments::positive, allow_negative_numbers = true)]
    pub(crate) layers: Option<usize>,
    /// Linear convolutions: no ReLU after GCN's
    #[arg(long)]
    pub(crate) linear: bool,
    /// Adam's learning rate at the start [default: 0.005]
    #[arg(long, value_name = "X", value_parser = arguments::rate, allow_negative_numbers = true)]
    pub(crate) lr: Option<f64>,
    /// Adam's L2 decay [default: 0.0005]
    #[arg(long, value_name = "X", value_parser = arguments::not_negative, allow_negative_numbers = true)]
    pub(crate) weight_decay: Option<f64>,
    /// Dropout of the head [default: 0.5]
    #[arg(long, value_name = "X", value_parser = arguments::share, allow_negative_numbers = true)]
    pub(crate) dropout: Option<f64>,
    /// Graphs per step [default: 32]
    #[arg(long, value_name = "N", value_parser = arguments::positive, allow_negative_numbers = true)]
    pub(crate) batch: Option<usize>,
    /// Epochs at most [default: 200]
    #[arg(long, value_name = "N", value_parser = arguments::epochs, allow_negative_numbers = true)]
    pub(crate) epochs: Option<u64>,
    /// Epochs without a better validation loss before a repetition ends [default: 20]
    #[arg(long, value_name = "N", value_parser = arguments::epochs, allow_negative_numbers = true)]
    pub(crate) patience: Option<u64>,
    /// Repetitions
    #[arg(long, value_name = "N", default_value = "10", value_parser = arguments::reps, allow_negative_numbers = true)]
    pub(crate) reps: usize,
    /// Of all randomness
    #[arg(long, value_name = "N", default_value = "0", value_parser = arguments::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// How splits are made and losses added up
    #[arg(long, value_name = "paper|fair", default_value = "paper", value_parser = arguments::protocol)]
    pub(crate) protocol: Protocol,
}

impl Settings {
    /// The experiment on a data set.
    pub(crate) fn experiment(&self, data: &Data) -> Result<Experiment> {
        let mut experiment = Experiment::new(&data.dataset, self.protocol, self.conv, self.pool.clone())?;
        (experiment.repetitions, experiment.seed) = (self.reps, self.seed);
        set(&mut experiment.training.learning_rate, self.lr);
        set(&mut experiment.training.weight_decay, self.weight_decay);
        set(&mut experiment.training.batch_size, self.batch);
        set(&mut experiment.training.max_epochs, self.epochs);
        set(&mut experiment.training.patience, self.patience);
        set(&mut experiment.model.hidden, self.hidden);
        set(&mut experiment.model.layers, self.layers);
        set(&mut experiment.model.head.dropout, self.dropout);
        if self.linear {
            if self.conv != Architecture::Gcn {
                return Err(Failure::Usage(format!(
                    "--linear is for --conv gcn, not {}",
                    self.conv
                )));
            }
            experiment.model.rectify = false;
        }
        if let Some(rule) = self.rank {
            set_rank(&mut experiment.model.pooling, rule)?;
        }
        give_features(&mut experiment, data);
        Ok(experiment)
    }
}

fn set<T>(setting: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *setting = given;
    }
}

/// The rule of a hard cut, or the width of a soft one.
pub(crate) fn set_rank(pooling: &mut PoolingConfig, rule: RankRule) -> Result<()> {
    match (pooling, rule) {
        (PoolingConfig::Egg { rank, .. }, rule) => *rank = rule,
        (PoolingConfig::SoftEgg { filter, .. }, RankRule::Threshold(r)) => {
            *filter = FilterConfig::Resolvent(r)
        }
        (PoolingConfig::SoftEgg { .. }, rule) => {
            return Err(Failure::Usage(format!(
                "--rank {rule}: soft EGG has no cut, only a width; write --rank threshold:X"
            )));
        }
        (other, rule) => {
            return Err(Failure::Usage(format!(
                "--rank {rule} has no effect on --pool {other}; leave it out, or use --pool egg"
            )));
        }
    }
    Ok(())
}

/// Nodes without features are told by their degrees.
fn give_features(experiment: &mut Experiment, data: &Data) {
    let features = &mut experiment.model.features;
    if *features == InputFeatures::AsTheyAre && data.dataset.features().width() == 0 {
        let degrees = data
            .dataset
            .graphs()
            .flat_map(|graph| (0..graph.node_count()).map(move |node| graph.degree(node)));
        *features = InputFeatures::Degree {
            most: degrees.max().unwrap_or(0),
        };
    }
}

/// `EGG threshold:0.5`, `sum`.
pub(crate) fn pooling_name(pooling: &PoolingConfig) -> String {
    match pooling {
        PoolingConfig::Egg { rank, .. } => format!("egg {rank}"),
        PoolingConfig::SoftEgg {
            filter: FilterConfig::Resolvent(r),
            ..
        } => format!("soft-egg {r}"),
        other => other.name().to_owned(),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Common { json, quiet, .. } = arguments.common;
    let style = Style::of(json);
    let data = Data::load(&arguments.data, &arguments.common)?;
    let name = data.dataset.name().to_owned();
    tell_reading(&data, quiet);
    let (data, unlabelled) = labelled(data)?;
    naming(&name, train(arguments, &data, unlabelled, style, quiet))
}

/// What was left out of the files, and what weighs edges.
pub(crate) fn tell_reading(data: &Data, quiet: bool) {
    if !quiet {
        data.reading_notes().iter().for_each(|note| console::note(note));
    }
}

/// What can be learnt from. The rest is left out, and said.
pub(crate) fn labelled(data: Data) -> Result<(Data, usize)> {
    let (data, unlabelled) = data.labelled()?;
    if unlabelled > 0 {
        let (are, they) = if unlabelled == 1 {
            ("is", "it")
        } else {
            ("are", "they")
        };
        console::note(&format!(
            "{}: {} without a label {are} left out of training, validation and test; `egg predict` says what {they} may be",
            data.dataset.name(),
            counted(unlabelled, "graph")
        ));
    }
    Ok((data, unlabelled))
}

fn train(arguments: &Arguments, data: &Data, unlabelled: usize, style: Style, quiet: bool) -> Result<()> {
    let begin = Instant::now();
    let settings = &arguments.settings;
    let experiment = settings.experiment(data)?;
    // Before a folder is made: what can't be trained leaves nothing behind.
    let graphs = experiment.prepare(data.dataset.clone())?;
    let splits = experiment.splits(graphs.dataset())?;
    let default = format!("{}-{}-{}", data.dataset.name(), settings.conv, settings.pool);
    let folder = RunFolder::open(
        arguments.out.as_deref(),
        &default.to_lowercase(),
        arguments.resume,
    )?;
    let title = format!(
        "{} with {} pooling on {}",
        settings.conv.name().to_uppercase(),
        pooling_name(&experiment.model.pooling),
        data.dataset.name()
    );
    if !quiet {
        style.say(format!(
            "{title}: {}, protocol {}, seed {}, {} of at most {}",
            counted(data.dataset.len(), "graph"),
            experiment.protocol,
            experiment.seed,
            counted(experiment.repetitions, "repetition"),
            epochs(experiment.training.max_epochs)
        ));
        style.say(match experiment.model.features {
            InputFeatures::AsTheyAre => format!("node features: {} columns", graphs.inputs()),
            InputFeatures::Degree { most } => {
                format!(
                    "node features: the degree, one of {} columns (0 to {most})",
                    graphs.inputs()
                )
            }
            InputFeatures::OgbAtoms => format!("node features: OGB's atoms, {} columns", graphs.inputs()),
        });
        let (model, training) = (&experiment.model, &experiment.training);
        style.say(format!(
            "lr {}, weight decay {}, hidden {}, layers {}, dropout {}, batch {}, patience {}",
            training.learning_rate,
            training.weight_decay,
            model.hidden,
            model.layers,
            model.head.dropout,
            training.batch_size,
            training.patience
        ));
    }

    let options = RunOptions {
        checkpoints: Some(folder.checkpoints()),
        every: CHECKPOINT_EVERY,
        ..RunOptions::default()
    };
    interrupt::listen();
    let progress = TrainProgress::new(
        style,
        quiet,
        data.dataset.name(),
        experiment.training.metric,
        experiment.repetitions,
        experiment.training.max_epochs,
    );
    let report = experiment.run(&graphs, &options, &|repetition, event| {
        let between_epochs = !matches!(event, pool::train::Event::Batch { .. });
        progress.event(repetition, event);
        match between_epochs && interrupt::asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    progress.finish();
    let report = match report {
        Err(pool::Error::Cancelled) => return Err(folder.interrupted("the last epoch is")),
        Err(error) if error.is_divergence() && folder.has_something() => {
            return Err(Failure::other(format!(
                "{error}\nhelp: what was trained until then is in {}; name another folder with --out for the next try",
                folder.path().display()
            )));
        }
        other => other?,
    };

    // The checkpoint of a run that has ended gives its model without training.
    let best = best_repetition(&report);
    let trained = TrainedModel::train(&experiment, &graphs, best, &options, &mut Silent)?;
    trained.save(folder.model())?;
    let record = record_of(title, settings, &experiment, &report, &splits, data, &trained)?;
    record.write(&folder.record())?;
    tell(
        style,
        &report,
        best,
        unlabelled,
        &folder,
        begin.elapsed().as_secs_f64(),
    );
    Ok(())
}

/// The repetition with the best validation metric, of equal ones that with the
/// lowest loss, then the first. The test part has no say.
pub(crate) fn best_repetition(report: &Report) -> usize {
    let metric = report.experiment.training.metric;
    let key = |index: usize| {
        let part = report.outcomes[index].validation.as_ref();
        let score = part
            .and_then(|part| part.scores.get(metric))
            .unwrap_or(f64::NEG_INFINITY);
        let score = if metric.goal() == Goal::Max { -score } else { score };
        (score, part.map_or(f64::INFINITY, |part| part.loss))
    };
    let indices = 0..report.outcomes.len();
    let best = indices.min_by(|a, b| {
        let (a, b) = (key(*a), key(*b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    best.unwrap_or(0)
}

fn record_of(
    title: String,
    settings: &Settings,
    experiment: &Experiment,
    report: &Report,
    splits: &[egg_gnn::graph::Split],
    data: &Data,
    trained: &TrainedModel,
) -> Result<Record> {
    let mut record = record::begin(Kind::Train, title, data, &report.fingerprint);
    record.config = serde_json::to_value(experiment).unwrap_or_default();
    record.seed = Some(experiment.seed);
    record.protocol = experiment.protocol.name().to_owned();
    record.ddof = experiment.protocol.ddof();
    let name = pooling_name(&experiment.model.pooling);
    let convolution = match settings.linear {
        true => "linear GCN".to_owned(),
        false => settings.conv.name().to_uppercase(),
    };
    let mut method = record::method(name, &convolution, report, splits, &data.dataset);
    record::look(&mut method, trained, data.dataset.clone(), experiment.seed)?;
    record.methods.push(method);
    Ok(record)
}

/// The last words: a table for people, an object for programs.
fn tell(style: Style, report: &Report, best: usize, unlabelled: usize, folder: &RunFolder, seconds: f64) {
    let experiment = &report.experiment;
    let metric = experiment.training.metric;
    let score =
        |part: &Option<pool::train::PartReport>| part.as_ref().and_then(|part| part.scores.get(metric));
    let tests: Vec<Option<f64>> = report
        .outcomes
        .iter()
        .map(|outcome| score(&outcome.test))
        .collect();
    let validations: Vec<Option<f64>> = report
        .outcomes
        .iter()
        .map(|outcome| score(&outcome.validation))
        .collect();
    style.emit(&json!({
        "event": "summary",
        "metric": metric.name(),
        "mean": report.test.map(|summary| summary.mean),
        "std": report.test.and_then(|summary| summary.deviation),
        "values": tests,
        "ddof": experiment.protocol.ddof(),
        "protocol": experiment.protocol.name(),
        "val_mean": report.validation.map(|summary| summary.mean),
        "val_values": validations,
        "best_epochs": report.outcomes.iter().map(|outcome| outcome.best_epoch).collect::<Vec<_>>(),
        "epochs": report.outcomes.iter().map(|outcome| outcome.history.len()).collect::<Vec<_>>(),
        "data": report.dataset,
        "fingerprint": report.fingerprint,
        "conv": experiment.model.architecture.name(),
        "pool": pooling_name(&experiment.model.pooling),
        "reps": experiment.repetitions,
        "unlabelled": unlabelled,
        "seed": experiment.seed,
        "out": folder.path().display().to_string(),
        "model": folder.model().display().to_string(),
        "best_rep": best + 1,
        "seconds": seconds,
    }));
    let shown = |score: &Option<f64>| score.map_or_else(|| "-".into(), |score| format!("{score:.4}"));
    let mut table = Table::new(["repetition", "epochs", "best", "validation", "test"]);
    for (index, outcome) in report.outcomes.iter().enumerate() {
        table.row([
            format!("{}{}", index + 1, if index == best { " (kept)" } else { "" }),
            outcome.history.len().to_string(),
            outcome
                .best_epoch
                .map_or_else(|| "-".into(), |epoch| epoch.to_string()),
            shown(&validations[index]),
            shown(&tests[index]),
        ]);
    }
    style.say(format!("\n{}", table.text()));
    if let Some(test) = report.test {
        style.say(match test.deviation.filter(|_| test.count > 1) {
            Some(deviation) => format!(
                "\ntest {metric} {:.4} +- {deviation:.4} (mean +- standard deviation of {}, ddof {}), {seconds:.1} s",
                test.mean, test.count, test.ddof
            ),
            None => format!("\ntest {metric} {:.4} (of one repetition), {seconds:.1} s", test.mean),
        });
    }
    style.say(format!(
        "model and record in {}; `{}` draws them",
        folder.path().display(),
        folder.report_command()
    ));
}
