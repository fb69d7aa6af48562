//! `egg train`: graphs are classified, several times, and the best model is kept.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use egg_gnn::geometry::RankRule;
use egg_gnn::pool::data::InputFeatures;
use egg_gnn::pool::model::ModelConfig;
use egg_gnn::pool::pooling::Sum;
use egg_gnn::pool::protocol::{Experiment, Preset, Protocol, Run, RunOptions};
use egg_gnn::pool::{self, ConvolutionConfig};
use egg_report::{Kind, Record};
use serde_json::json;

use crate::arguments::{self, Common, Pool};
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

/// The preset that every registered data set has: the paper's model.
const PRESET: &str = "paper";

/// Train a graph classifier, and keep its best model
///
/// Settings that are left out have the defaults listed here. `--preset paper` takes those of the paper
/// for a registered benchmark, and with --pool egg and --protocol paper what trials chose
/// (docs/TRAINING.md); the first lines say which preset is used.
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
    /// Resume the run in the folder
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    common: Common,
}

/// What may differ from the protocol's own settings.
#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    #[arg(long, value_name = "NAME", default_value = "gcn", value_parser = arguments::convolution, help = arguments::convolution_help())]
    pub(crate) conv: ConvolutionConfig,
    #[arg(long, value_name = "NAME", default_value = "egg", value_parser = arguments::pool, help = arguments::pool_help())]
    pub(crate) pool: Pool,
    /// Settings of a registered data set: paper [default: none]
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// How many directions EGG keeps: threshold:X, relative:X, energy:X, squares:X, ratio:X or fixed:P [default: threshold:0.5]
    #[arg(long, value_name = "RULE", value_parser = arguments::rank)]
    pub(crate) rank: Option<RankRule>,
    /// Width of the convolutions [default: 32]
    #[arg(long, value_name = "N", value_parser = arguments::positive, allow_negative_numbers = true)]
    pub(crate) hidden: Option<usize>,
    /// Number of convolutions [default: the convolution's own, as 2 of gcn and 4 of gin]
    #[arg(long, value_name = "N", value_parser = arguments::positive, allow_negative_numbers = true)]
    pub(crate) layers: Option<usize>,
    /// Linear convolutions: no ReLU after them
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
    /// Random seed
    #[arg(long, value_name = "N", default_value = "0", value_parser = arguments::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// How splits are made and losses added up
    #[arg(long, value_name = "paper|fair", default_value = "paper", value_parser = arguments::protocol)]
    pub(crate) protocol: Protocol,
}

impl Settings {
    /// The experiment on a data set.
    pub(crate) fn experiment(&self, data: &Data) -> Result<Experiment> {
        let pooling = match &self.pool {
            Pool::Pooling(config) => config.clone(),
            Pool::Blind => Sum.into(),
        };
        let mut experiment = Experiment::new(&data.dataset, self.protocol, self.conv.clone(), pooling)?;
        if let Some(name) = &self.preset {
            experiment.apply(&preset(name, data)?);
        }
        if self.pool == Pool::Blind {
            experiment = experiment.blind();
        }
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
            if !experiment.model.activation {
                return Err(Failure::Usage(format!(
                    "--linear has no effect on --conv {}: no ReLU follows its layers; leave it out",
                    self.conv
                )));
            }
            experiment.model.activation = false;
        }
        if let Some(rule) = self.rank {
            let pooling = &mut experiment.model.pooling;
            pooling
                .set_rank_rule(rule)
                .map_err(|error| Failure::Usage(format!("--rank {rule}: {error}")))?;
        }
        use_degrees_if_featureless(&mut experiment, data);
        Ok(experiment)
    }
}

fn set<T>(setting: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *setting = given;
    }
}

/// What the registry has for a data set under a preset's name. A data set that is not
/// registered has none, whatever it is called.
fn preset(name: &str, data: &Data) -> Result<Preset> {
    let entry = data.entry.ok_or_else(|| {
        Failure::Usage(format!(
            "--preset {name}: {} is no registered data set (`egg data list`); leave the preset out, or name its settings",
            data.dataset.name()
        ))
    })?;
    if name != PRESET && !entry.presets.contains_key(name) {
        let others = entry.presets.keys().filter(|other| *other != PRESET);
        let known: Vec<&str> = [PRESET].into_iter().chain(others.map(String::as_str)).collect();
        return Err(Failure::Usage(format!(
            "--preset {name}: there is no such preset of {}; there are {}",
            entry.name,
            known.join(", ")
        )));
    }
    match entry.preset(name).classification {
        Some(preset) => serde_json::from_value(preset)
            .map_err(|error| Failure::other(format!("the preset {name} of {}: {error}", entry.name))),
        // The paper's model as it is.
        None => Ok(Preset::default()),
    }
}

/// Which settings a run begins with.
fn preset_line(preset: Option<&str>, data: &Data) -> String {
    let has_more = data
        .entry
        .is_some_and(|entry| entry.preset(PRESET).classification.is_some());
    match preset {
        Some(name) => format!("preset {name} of {}", data.dataset.name()),
        None if has_more => format!(
            "no preset: the defaults (--preset {PRESET} has settings for {})",
            data.dataset.name()
        ),
        None => "no preset: the defaults".to_owned(),
    }
}

/// Nodes without features have their degrees as features.
fn use_degrees_if_featureless(experiment: &mut Experiment, data: &Data) {
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

/// `egg`, `egg:threshold=0.8`; of a control without layers, which pools nothing, its own name.
pub(crate) fn pooling_name(model: &ModelConfig) -> String {
    match model.convolution.has_layers() {
        true => model.pooling.to_string(),
        false => model.convolution.to_string(),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Common { json, quiet, .. } = arguments.common;
    let style = Style::new(json);
    let data = Data::load(&arguments.data, &arguments.common)?;
    let name = data.dataset.name().to_owned();
    print_reading(&data, quiet);
    let (data, unlabelled) = labelled(data)?;
    naming(&name, train(arguments, &data, unlabelled, style, quiet))
}

/// What was left out of the files, and what weighs edges.
pub(crate) fn print_reading(data: &Data, quiet: bool) {
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
    let default = format!(
        "{}-{}-{}",
        data.dataset.name(),
        settings.conv.name(),
        settings.pool.name()
    );
    let folder = RunFolder::open(
        arguments.out.as_deref(),
        &default.to_lowercase(),
        arguments.resume,
    )?;
    let title = format!(
        "{} with {} pooling on {}",
        settings.conv.name().to_uppercase(),
        pooling_name(&experiment.model),
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
            _ => format!("node features: {} columns", graphs.inputs()),
        });
        style.say(preset_line(settings.preset.as_deref(), data));
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
    let run = experiment.run(&graphs, &options, &|repetition, event| {
        let between_epochs = !matches!(event, pool::train::Event::Batch { .. });
        progress.event(repetition, event);
        match between_epochs && interrupt::asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    progress.finish();
    let run = match run {
        Err(pool::Error::Cancelled) => return Err(folder.interrupted("the last epoch is")),
        Err(error) if error.is_divergence() && folder.has_something() => {
            return Err(Failure::other(format!(
                "{error}\nhelp: what was trained until then is in {}; name another folder with --out for the next try",
                folder.path().display()
            )));
        }
        other => other?,
    };

    let best = run.best();
    run.models[best].save(folder.model())?;
    let record = record_of(title, settings, &run, data)?;
    record.write(&folder.record())?;
    print_summary(
        style,
        settings,
        &run,
        unlabelled,
        &folder,
        begin.elapsed().as_secs_f64(),
    );
    Ok(())
}

fn record_of(title: String, settings: &Settings, run: &Run, data: &Data) -> Result<Record> {
    let experiment = &run.report.experiment;
    let mut record = record::begin(Kind::Train, title, data, &run.report.fingerprint);
    record.config = serde_json::to_value(experiment).unwrap_or_default();
    record.seed = Some(experiment.seed);
    record.protocol = experiment.protocol.name().to_owned();
    record.ddof = experiment.protocol.ddof();
    let name = pooling_name(&experiment.model);
    let convolution = match settings.linear {
        true => "linear GCN".to_owned(),
        false => settings.conv.name().to_uppercase(),
    };
    let mut method = record::method(name, &convolution, run, &data.dataset);
    record::attach_embedding(
        &mut method,
        &run.models[run.best()],
        data.dataset.clone(),
        experiment.seed,
    )?;
    record.methods.push(method);
    Ok(record)
}

/// A table for people, an object for programs.
fn print_summary(
    style: Style,
    settings: &Settings,
    run: &Run,
    unlabelled: usize,
    folder: &RunFolder,
    seconds: f64,
) {
    let (report, best) = (&run.report, run.best());
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
        "conv": experiment.model.convolution.name(),
        "pool": pooling_name(&experiment.model),
        "preset": settings.preset,
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
