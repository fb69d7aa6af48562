//! `egg cluster`: the nodes of one graph, by k-means on an autoencoder's
//! embedding and on EGG of it.

mod follow;
mod methods;
mod result;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use egg_gnn::cluster;
use egg_gnn::cluster::egg::Weighting;
use egg_gnn::cluster::pipeline::{NodeClustering, NodeClusteringConfig, Preset};
use egg_gnn::cluster::vgae::Keep;
use egg_gnn::geometry::RankRule;
use egg_report::Losses;

use crate::arguments::{self, Common};
use crate::console::{self, Style, counted, epochs};
use crate::data::{Data, naming};
use crate::failure::{Failure, Result};
use crate::run_folder::RunFolder;
use crate::train::print_reading;
use crate::{interrupt, output, progress};
use follow::Follow;
use result::Row;

/// Epochs between two checkpoints, unless Ctrl-C asks for one.
const CHECKPOINT_EVERY: u64 = 50;

/// Cluster the nodes of a graph
///
/// A graph autoencoder is trained; k-means is run on its embedding H and on EGG of it. With known
/// classes the clusters are measured against them; without, say how many there should be.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// One graph: a registered name, a path, demo:karate or demo:sbm:N
    #[arg(long, value_name = "DATA")]
    data: String,
    /// How many clusters [default: as many as there are classes]
    #[arg(long, value_name = "K", value_parser = arguments::positive, allow_negative_numbers = true)]
    clusters: Option<usize>,
    /// How many directions EGG keeps [default: the preset's, ratio:0.8]
    #[arg(long, value_name = "RULE", value_parser = arguments::rank)]
    rank: Option<RankRule>,
    /// What they weigh: flat, or spectral:X by a power of their singular values [default: the preset's]
    #[arg(long, value_name = "flat|spectral:X", value_parser = arguments::weighting)]
    weighting: Option<Weighting>,
    /// Which pairs of nodes the loss looks at: all, or as many others as there are edges [default: the preset's]
    #[arg(long, value_name = "exact|sampled")]
    likelihood: Option<LikelihoodName>,
    /// Epochs of the autoencoder [default: the preset's, 200]
    #[arg(long, value_name = "N", value_parser = arguments::epochs, allow_negative_numbers = true)]
    epochs: Option<u64>,
    /// Repetitions, each with the next seed
    #[arg(long, value_name = "N", default_value = "1", value_parser = arguments::reps, allow_negative_numbers = true)]
    reps: usize,
    /// Of all randomness
    #[arg(long, value_name = "N", default_value = "0", value_parser = arguments::seed, allow_negative_numbers = true)]
    seed: u64,
    /// Settings that have a name
    #[arg(long, value_name = "paper|tuned", default_value = "paper", value_parser = arguments::preset)]
    preset: Preset,
    /// A CSV file for the clusters that EGG found in the first repetition: node,cluster
    #[arg(long, value_name = "FILE.csv")]
    labels_out: Option<PathBuf>,
    /// Folder for checkpoints and record; a new one below runs/ by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the run in the folder
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
    let style = Style::of(json);
    let data = Data::load(&arguments.data, &arguments.common)?;
    let name = data.dataset.name().to_owned();
    print_reading(&data, quiet);
    naming(&name, cluster_all(arguments, &data, style, quiet))
}

fn cluster_all(arguments: &Arguments, data: &Data, style: Style, quiet: bool) -> Result<()> {
    let begin = Instant::now();
    let config = methods::config(arguments, data);
    let mut rows: Vec<Row> = Vec::new();
    // Before a folder is made: what can't be clustered leaves nothing behind.
    NodeClustering::new(config)?;
    check(&config, data)?;
    check_seeds(arguments.seed, arguments.reps)?;
    if let Some(path) = &arguments.labels_out {
        output::check("--labels-out", path, &data.files)?;
    }
    let default = format!("{}-cluster", data.dataset.name()).to_lowercase();
    let folder = RunFolder::open(arguments.out.as_deref(), &default, arguments.resume)?;
    interrupt::listen();
    if !quiet {
        style.say(format!(
            "{}: {}, {}, {}; preset {}, {}, seed {}, {}",
            data.dataset.name(),
            counted(data.dataset.node_count(), "node"),
            counted(data.dataset.edge_count(), "edge"),
            counted(data.dataset.features().width(), "feature"),
            arguments.preset.name(),
            epochs(config.autoencoder.epochs),
            arguments.seed,
            counted(arguments.reps, "repetition")
        ));
    }
    let bar = progress::bar(
        style,
        quiet,
        arguments.reps as u64 * config.autoencoder.epochs,
        "epochs",
    );
    bar.set_prefix(data.dataset.name().to_owned());
    let mut losses = Vec::new();
    for repetition in 0..arguments.reps {
        let mut config = config;
        config.seed = arguments.seed + repetition as u64;
        let clustering = NodeClustering::new(config)?;
        let keep = Keep {
            path: folder
                .checkpoints()
                .join(format!("repetition-{}.safetensors", repetition + 1)),
            every: CHECKPOINT_EVERY,
        };
        let follow = Follow {
            style,
            quiet,
            bar: &bar,
            repetition,
        };
        let embedding = match clustering.embed(&data.dataset, Some(&keep), &mut |event| follow.event(event)) {
            Err(cluster::Error::Cancelled { epochs }) => {
                bar.finish_and_clear();
                let are = if epochs == 1 { "is" } else { "are" };
                let kept = format!(
                    "{} of repetition {} {are}",
                    console::epochs(epochs),
                    repetition + 1
                );
                return Err(folder.interrupted(&kept));
            }
            other => other?,
        };
        losses.push(Losses(embedding.history.iter().map(|epoch| epoch.loss).collect()));
        for (index, (method, coordinates)) in methods::methods(&config, arguments.weighting.is_none())
            .into_iter()
            .enumerate()
        {
            let (found, report) = clustering.cluster(&embedding, &coordinates)?;
            if rows.len() <= index {
                // All methods are run on the same H: one map will do.
                let first =
                    (index == 0).then(|| result::map(&embedding, &found.labels, data, arguments.seed));
                rows.push(Row {
                    method,
                    reports: Vec::new(),
                    embedding: first.transpose()?,
                });
                if let Some(path) = arguments
                    .labels_out
                    .as_ref()
                    .filter(|_| coordinates == config.coordinates)
                {
                    output::write(path, result::labels_csv(data, &found.labels).as_bytes())?;
                }
            }
            rows[index].reports.push(report);
        }
    }
    bar.finish_and_clear();
    let fingerprint = data.dataset.fingerprint();
    let record = result::record_of(arguments, &config, data, &fingerprint, &rows, &losses);
    record.write(&folder.record())?;
    result::tell(
        style,
        arguments,
        data,
        &rows,
        &folder,
        begin.elapsed().as_secs_f64(),
    );
    Ok(())
}

/// Each repetition has the next seed.
fn check_seeds(seed: u64, reps: usize) -> Result<()> {
    let most = u64::MAX - (reps as u64 - 1);
    if seed <= most {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--seed {seed}: each of {reps} repetitions has the next seed, so the first can be {most} at most"
    )))
}

/// What would else be found out after training.
fn check(config: &NodeClusteringConfig, data: &Data) -> Result<()> {
    let graphs = data.dataset.len();
    if graphs != 1 {
        return Err(cluster::Error::NotOneGraph { graphs }.into());
    }
    let classes = data
        .dataset
        .node_labels()
        .map_or(0, |labels| labels.class_count());
    let clusters = config.clusters.unwrap_or(classes);
    if clusters == 0 {
        return Err(Failure::Usage(
            "the nodes have no classes to count, so how many clusters there should be must be said\n\
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
    Ok(())
}
