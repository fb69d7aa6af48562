//! `egg cluster`: the nodes of one graph, by k-means on an autoencoder's
//! embedding and on EGG of it.

mod epoch_printer;
mod methods;
mod result;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use egg_gnn::cluster;
use egg_gnn::cluster::egg::Weighting;
use egg_gnn::cluster::pipeline::{
    MethodReports, NodeClustering, NodeClusteringConfig, Repetition, Repetitions,
};
use egg_gnn::geometry::RankRule;
use egg_report::Losses;

use crate::arguments::{self, ClusterPreset, Common};
use crate::console::{self, Style, counted, epochs};
use crate::data::{Data, naming};
use crate::failure::{Failure, Result};
use crate::run_folder::RunFolder;
use crate::train::print_reading;
use crate::{interrupt, output, progress};
use epoch_printer::EpochPrinter;
use result::Results;

/// Epochs between two checkpoints. Ctrl-C writes one too.
const CHECKPOINT_EVERY: u64 = 50;

/// Cluster the nodes of a graph
///
/// Node features are smoothed along edges to H (how far is chosen by the modularity of the clusters, without labels),
/// or, with --preset paper or tuned, H is learnt by a graph autoencoder. k-means is run on H and on EGG of it. With
/// known classes the clusters are measured against them; without, --clusters is needed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// One graph: a registered name, a path, demo:karate or demo:sbm:N
    #[arg(long, value_name = "DATA")]
    data: String,
    /// Number of clusters [default: that of the classes]
    #[arg(long, value_name = "K", value_parser = arguments::positive, allow_negative_numbers = true)]
    clusters: Option<usize>,
    /// Number of directions that EGG keeps [default: the preset's, ratio:0.8]
    #[arg(long, value_name = "RULE", value_parser = arguments::rank)]
    rank: Option<RankRule>,
    /// Weights of the directions: flat, or spectral:X for a power of their singular values [default: the preset's]
    #[arg(long, value_name = "flat|spectral:X", value_parser = arguments::weighting)]
    weighting: Option<Weighting>,
    /// Pairs of nodes in the loss: all, or the edges and as many sampled non-edges [default: the preset's]
    #[arg(long, value_name = "exact|sampled")]
    likelihood: Option<LikelihoodName>,
    /// Epochs of the autoencoder [default: the preset's, 200]
    #[arg(long, value_name = "N", value_parser = arguments::epochs, allow_negative_numbers = true)]
    epochs: Option<u64>,
    /// Repetitions, each with the next seed
    #[arg(long, value_name = "N", default_value = "1", value_parser = arguments::reps, allow_negative_numbers = true)]
    reps: usize,
    /// Seed of all randomness
    #[arg(long, value_name = "N", default_value = "0", value_parser = arguments::seed, allow_negative_numbers = true)]
    seed: u64,
    /// Settings: chosen for the graph without its labels (auto), or those of a graph autoencoder (paper, tuned)
    #[arg(long, value_name = "auto|paper|tuned", default_value = "auto", value_parser = arguments::cluster_preset)]
    preset: ClusterPreset,
    /// CSV file for the clusters of EGG in the first repetition: node,cluster
    #[arg(long, value_name = "FILE.csv")]
    labels_out: Option<PathBuf>,
    /// Folder for checkpoints and record; a new one below runs/ by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Resume the run in the folder
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LikelihoodName {
    Exact,
    Sampled,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Common { json, quiet, .. } = arguments.common;
    let style = Style::new(json);
    let data = Data::load(&arguments.data, &arguments.common)?;
    let name = data.dataset.name().to_owned();
    print_reading(&data, quiet);
    naming(&name, cluster_all(arguments, &data, style, quiet))
}

fn cluster_all(arguments: &Arguments, data: &Data, style: Style, quiet: bool) -> Result<()> {
    let begin = Instant::now();
    // Before the folder is created, so that bad input leaves no empty folder.
    let clusters = check(arguments, data)?;
    check_seeds(arguments.seed, arguments.reps)?;
    let named = methods::named(arguments, data, clusters)?;
    if let Some(config) = named {
        NodeClustering::new(config)?;
    }
    if let Some(path) = &arguments.labels_out {
        output::check("--labels-out", path, &data.files)?;
    }
    let default = format!("{}-cluster", data.dataset.name()).to_lowercase();
    let folder = RunFolder::open(arguments.out.as_deref(), &default, arguments.resume)?;
    interrupt::listen();
    let (config, chosen) = match named {
        Some(config) => (config, None),
        None => match methods::chosen(arguments, data, clusters, style, quiet) {
            // Nothing is kept of a choice.
            Err(Failure::Cluster(cluster::Error::Cancelled { .. })) => {
                return Err(folder.interrupted("nothing is"));
            }
            chosen => chosen.map(|(config, line)| (config, Some(line)))?,
        },
    };
    let trained_epochs = config.encoder.autoencoder().map(|autoencoder| autoencoder.epochs);
    if !quiet {
        style.say(format!(
            "{}: {}, {}, {}; preset {}, {}, seed {}, {}",
            data.dataset.name(),
            counted(data.dataset.node_count(), "node"),
            counted(data.dataset.edge_count(), "edge"),
            counted(data.dataset.features().width(), "feature"),
            arguments.preset.name(),
            chosen.unwrap_or_else(|| epochs(trained_epochs.unwrap_or(0))),
            arguments.seed,
            counted(arguments.reps, "repetition")
        ));
    }
    let bar = progress::bar(
        style,
        quiet,
        arguments.reps as u64 * trained_epochs.unwrap_or(0),
        "epochs",
    );
    bar.set_prefix(data.dataset.name().to_owned());
    let repetitions = Repetitions {
        checkpoints: Some(folder.checkpoints()),
        checkpoint_every: CHECKPOINT_EVERY,
        ..Repetitions::new(
            NodeClusteringConfig {
                seed: arguments.seed,
                ..config
            },
            methods::methods(&config, arguments.weighting.is_none()),
            arguments.reps,
        )
    };
    let mut printer = EpochPrinter {
        style,
        quiet,
        bar: &bar,
    };
    let baselines = methods::baselines(arguments, data);
    let mut rows = MethodReports::empty(&repetitions.methods);
    rows.extend(
        baselines
            .iter()
            .map(|baseline| MethodReports::new(baseline.name())),
    );
    let mut results = Results {
        methods: rows,
        losses: Vec::new(),
        map: None,
    };
    for index in 0..repetitions.count {
        let repetition = match repetitions.run_one(index, &data.dataset, &mut printer) {
            Err(cluster::Error::Cancelled { epochs }) => {
                bar.finish_and_clear();
                let are = if epochs == 1 { "is" } else { "are" };
                let kept = format!("{} of repetition {} {are}", console::epochs(epochs), index + 1);
                return Err(folder.interrupted(&kept));
            }
            other => other?,
        };
        MethodReports::add(&mut results.methods, &repetition);
        let rows = results.methods.iter_mut().skip(repetitions.methods.len());
        for (row, baseline) in rows.zip(&baselines) {
            let found = baseline.cluster(&data.dataset, clusters, repetition.seed)?;
            row.reports.push(found.report);
        }
        let history = &repetition.embedding.history;
        results
            .losses
            .push(Losses(history.iter().map(|epoch| epoch.loss).collect()));
        if index == 0 {
            // All methods cluster the same H: one map is enough.
            let first = repetition
                .clusterings
                .first()
                .map_or(&[][..], |first| &first.labels);
            results.map = Some(result::map(&repetition.embedding, first, data, arguments.seed)?);
            write_labels(arguments, data, &repetitions, &repetition)?;
        }
    }
    bar.finish_and_clear();
    let fingerprint = data.dataset.fingerprint();
    let record = result::record_of(arguments, &config, data, &fingerprint, &results);
    record.write(&folder.record())?;
    result::print_summary(
        style,
        arguments,
        data,
        &results,
        &folder,
        begin.elapsed().as_secs_f64(),
    );
    Ok(())
}

/// Writes `--labels-out`: the clusters by the method of the settings.
fn write_labels(
    arguments: &Arguments,
    data: &Data,
    repetitions: &Repetitions,
    repetition: &Repetition,
) -> Result<()> {
    let Some(path) = &arguments.labels_out else {
        return Ok(());
    };
    let mut methods = repetitions.methods.iter().zip(&repetition.clusterings);
    let configured = methods.find(|(method, _)| method.coordinates == repetitions.config.coordinates);
    let Some((_, clusters)) = configured else {
        return Ok(());
    };
    output::write(path, result::labels_csv(data, &clusters.labels).as_bytes())
}

/// Refuses a first seed that leaves no seeds for all repetitions.
fn check_seeds(seed: u64, reps: usize) -> Result<()> {
    let most = u64::MAX - (reps as u64 - 1);
    if seed <= most {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--seed {seed}: each of {reps} repetitions has the next seed, so the first can be {most} at most"
    )))
}

/// The number of clusters. Checks before the work what would otherwise fail after it.
fn check(arguments: &Arguments, data: &Data) -> Result<usize> {
    let graphs = data.dataset.len();
    if graphs != 1 {
        return Err(cluster::Error::NotOneGraph { graphs }.into());
    }
    let classes = data
        .dataset
        .node_labels()
        .map_or(0, |labels| labels.class_count());
    let clusters = arguments.clusters.unwrap_or(classes);
    if clusters == 0 {
        return Err(Failure::Usage(
            "the nodes have no classes to count, so the number of clusters is needed\n\
             help: add --clusters K"
                .into(),
        ));
    }
    if clusters > data.dataset.node_count() {
        return Err(Failure::Usage(format!(
            "--clusters {clusters}: there are only {} nodes",
            data.dataset.node_count()
        )));
    }
    Ok(clusters)
}
