//! `egg cluster`: the nodes of one graph, by k-means on an autoencoder's
//! embedding and on EGG of it.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use egg_gnn::cluster;
use egg_gnn::cluster::egg::{EggConfig, Weighting};
use egg_gnn::cluster::pipeline::{
    ClusterReport, ClusteringEvent, Coordinates, FeatureUse, NodeClustering, NodeClusteringConfig,
    NodeEmbedding, Preset,
};
use egg_gnn::cluster::vgae::{Control, Keep, Likelihood};
use egg_gnn::geometry::RankRule;
use egg_report::{Clustering, Embedding, Estimate, Kind, Losses, Record};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::arguments::{self, Common};
use crate::console::Style;
use crate::data::{Data, naming};
use crate::failure::{Failure, Result};
use crate::model::{self, csv_field};
use crate::run_folder::RunFolder;
use crate::table::Table;
use crate::{interrupt, progress, record};

/// Epochs between two checkpoints, unless Ctrl-C asks for one.
const CHECKPOINT_EVERY: u64 = 50;

/// Of the standard deviations.
const DDOF: usize = 0;

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
    #[arg(long, value_name = "K", value_parser = arguments::positive)]
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    epochs: Option<u64>,
    /// Repetitions, each with the next seed
    #[arg(long, value_name = "N", default_value = "1", value_parser = arguments::positive)]
    reps: usize,
    /// Of all randomness
    #[arg(long, value_name = "N", default_value = "0")]
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

/// A row of the table.
struct Row {
    method: String,
    reports: Vec<ClusterReport>,
    embedding: Option<Embedding>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Common { json, quiet, .. } = arguments.common;
    let style = Style::of(json);
    let data = Data::load(&arguments.data, arguments.common.datasets.as_deref())?;
    let name = data.dataset.name().to_owned();
    naming(&name, cluster_all(arguments, &data, style, quiet))
}

fn config(arguments: &Arguments, data: &Data) -> NodeClusteringConfig {
    let mut config = arguments.preset.config_for(data.dataset.name());
    if data.dataset.features().width() == 0 {
        config.features = FeatureUse::Identity;
    }
    if let Some(epochs) = arguments.epochs {
        config.autoencoder.epochs = epochs;
    }
    match arguments.likelihood {
        Some(LikelihoodName::Exact) => config.autoencoder.likelihood = Likelihood::Exact,
        Some(LikelihoodName::Sampled) => config.autoencoder.likelihood = Likelihood::NegativeSampling,
        None => {}
    }
    if let Coordinates::Egg(egg) = &mut config.coordinates {
        egg.rank = arguments.rank.unwrap_or(egg.rank);
        egg.weighting = arguments.weighting.unwrap_or(egg.weighting);
    } else if arguments.rank.is_some() || arguments.weighting.is_some() {
        config.coordinates = Coordinates::Egg(EggConfig {
            weighting: arguments.weighting.unwrap_or_default(),
            ..EggConfig::new(arguments.rank.unwrap_or(RankRule::Ratio(0.8)))
        });
    }
    config.clusters = arguments.clusters.or(config.clusters);
    config
}

/// Plain k-means, EGG as it was asked for, and with the other weighting if none
/// was: which one is better is not known beforehand.
fn methods(config: &NodeClusteringConfig, both: bool) -> Vec<(String, Coordinates)> {
    let plain = Coordinates::Plain {
        normalise_rows: false,
    };
    let mut methods = vec![("k-means".to_owned(), plain)];
    match config.coordinates {
        Coordinates::Egg(egg) => {
            methods.push((egg_name(&egg), config.coordinates));
            let other = EggConfig {
                weighting: match egg.weighting {
                    Weighting::Flat => Weighting::Spectral(1.0),
                    Weighting::Spectral(_) => Weighting::Flat,
                },
                ..egg
            };
            if both {
                methods.push((egg_name(&other), Coordinates::Egg(other)));
            }
        }
        Coordinates::Plain { normalise_rows: true } => {
            methods.push(("k-means, rows of length 1".to_owned(), config.coordinates));
        }
        Coordinates::Plain {
            normalise_rows: false,
        } => {}
    }
    methods
}

/// `k-means+EGG 0.8`, `k-means+EGG 0.8 spectral:1`, `k-means+EGG energy:0.9`.
fn egg_name(egg: &EggConfig) -> String {
    let rank = match egg.rank {
        RankRule::Ratio(x) => x.to_string(),
        other => other.to_string(),
    };
    let weighting = match egg.weighting {
        Weighting::Flat => String::new(),
        other => format!(" {other}"),
    };
    let rows = if egg.normalise_rows {
        ", rows of length 1"
    } else {
        ""
    };
    format!("k-means+EGG {rank}{weighting}{rows}")
}

fn cluster_all(arguments: &Arguments, data: &Data, style: Style, quiet: bool) -> Result<()> {
    let begin = Instant::now();
    let config = config(arguments, data);
    let mut rows: Vec<Row> = Vec::new();
    // Before a folder is made: what can't be clustered leaves nothing behind.
    NodeClustering::new(config)?;
    check(&config, data)?;
    let default = format!("{}-cluster", data.dataset.name()).to_lowercase();
    let folder = RunFolder::open(arguments.out.as_deref(), &default, arguments.resume)?;
    interrupt::listen();
    style.say(format!(
        "{}: {} nodes, {} edges, {} features; preset {}, {} epochs, seed {}, {} repetitions",
        data.dataset.name(),
        data.dataset.node_count(),
        data.dataset.edge_count(),
        data.dataset.features().width(),
        arguments.preset.name(),
        config.autoencoder.epochs,
        arguments.seed,
        arguments.reps
    ));
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
                return Err(Failure::Interrupted(format!(
                    "{epochs} epochs of repetition {} are kept in {}\nto go on: {}",
                    repetition + 1,
                    folder.path().display(),
                    folder.resume_command()
                )));
            }
            other => other?,
        };
        losses.push(Losses(embedding.history.iter().map(|epoch| epoch.loss).collect()));
        for (index, (method, coordinates)) in methods(&config, arguments.weighting.is_none())
            .into_iter()
            .enumerate()
        {
            let (found, report) = clustering.cluster(&embedding, &coordinates)?;
            if rows.len() <= index {
                // All methods are run on the same H: one map will do.
                let first = (index == 0).then(|| map(&embedding, &found.labels, data, arguments.seed));
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
                    model::write(path, labels_csv(data, &found.labels).as_bytes())?;
                }
            }
            rows[index].reports.push(report);
        }
    }
    bar.finish_and_clear();
    let fingerprint = data.dataset.fingerprint();
    let record = record_of(arguments, &config, data, &fingerprint, &rows, &losses);
    record.write(&folder.record())?;
    tell(
        style,
        arguments,
        data,
        &rows,
        &folder,
        begin.elapsed().as_secs_f64(),
    );
    Ok(())
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

/// Follows one training.
struct Follow<'a> {
    style: Style,
    quiet: bool,
    bar: &'a ProgressBar,
    repetition: usize,
}

impl Follow<'_> {
    fn event(&self, event: &ClusteringEvent) -> Control {
        let ClusteringEvent::Epoch(epoch) = event else {
            return Control::Continue;
        };
        let rep = self.repetition + 1;
        self.style.emit(&json!({
            "event": "epoch",
            "rep": rep,
            "epoch": epoch.epoch,
            "train_loss": epoch.loss,
            "val_auc": epoch.validation.map(|ranking| ranking.roc_auc),
            "val_ap": epoch.validation.map(|ranking| ranking.average_precision),
        }));
        let validation = epoch
            .validation
            .map(|ranking| format!("  validation AUC {:.4}", ranking.roc_auc));
        match self.style {
            Style::Terminal => {
                self.bar.inc(1);
                self.bar.set_message(format!(
                    "rep {rep} loss {:.4}{}",
                    epoch.loss,
                    validation.unwrap_or_default()
                ));
            }
            Style::Plain if !self.quiet && (epoch.validation.is_some() || epoch.epoch == 1) => {
                self.style.say(format!(
                    "rep {rep:2}  epoch {:3}  loss {:.4}{}",
                    epoch.epoch,
                    epoch.loss,
                    validation.unwrap_or_default()
                ))
            }
            _ => {}
        }
        match interrupt::asked() {
            true => Control::Cancel,
            false => Control::Continue,
        }
    }
}

/// The nodes by their class, or by the cluster they are in.
fn map(embedding: &NodeEmbedding, labels: &[u32], data: &Data, seed: u64) -> Result<Embedding> {
    #[expect(clippy::cast_possible_truncation, reason = "a picture")]
    let values = embedding.h.iter().map(|value| *value as f32).collect();
    let known = data.dataset.node_labels().filter(|labels| labels.known() > 0);
    let classes = match known {
        Some(labels) => labels.iter().collect(),
        None => labels.iter().copied().map(Some).collect(),
    };
    let mut map = Embedding::new("nodes", embedding.h.ncols(), values, classes)?;
    map.class_names = known.map_or_else(Vec::new, |labels| labels.names().to_vec());
    let by = if known.is_some() { "class" } else { "cluster" };
    map.note = format!("H of repetition 1, coloured by {by}");
    map.reduce(record::MAP_ROWS, seed);
    Ok(map)
}

fn labels_csv(data: &Data, labels: &[u32]) -> String {
    let rows = labels.iter().enumerate();
    let rows = rows.map(|(node, cluster)| format!("{},{cluster}\n", csv_field(&data.node_name(node))));
    std::iter::once("node,cluster\n".to_owned()).chain(rows).collect()
}

/// The values of a measure in all repetitions; none where it is not defined.
fn values(row: &Row, measure: impl Fn(&ClusterReport) -> Option<f64>) -> Vec<f64> {
    row.reports.iter().filter_map(measure).collect()
}

type Measure = fn(&ClusterReport) -> Option<f64>;

/// The paper's four, against the classes.
const AGREEMENT: [(&str, Measure); 4] = [
    ("acc", |report| Some(report.agreement?.accuracy)),
    ("nmi", |report| {
        Some(report.agreement?.normalised_mutual_information)
    }),
    ("ari", |report| Some(report.agreement?.adjusted_rand)),
    ("cs", |report| Some(report.agreement?.completeness)),
];

/// Those that need no classes.
const OTHERS: [(&str, Measure); 2] = [
    ("modularity", |report| report.modularity),
    ("conductance", |report| report.conductance),
];

fn record_of(
    arguments: &Arguments,
    config: &NodeClusteringConfig,
    data: &Data,
    fingerprint: &str,
    rows: &[Row],
    losses: &[Losses],
) -> Record {
    let title = format!("Clusters of {}", data.dataset.name());
    let mut record = record::begin(Kind::Cluster, title, data, fingerprint);
    record.config = serde_json::to_value(config).unwrap_or_default();
    record.seed = Some(arguments.seed);
    record.ddof = DDOF;
    record.protocol = arguments.preset.name().to_owned();
    for (index, row) in rows.iter().enumerate() {
        let estimate = |measure: Measure| Estimate::of(&values(row, measure), DDOF);
        let [acc, nmi, ari, cs] = AGREEMENT.map(|(_, measure)| estimate(measure));
        let captured = values(row, |report| Some(report.captured));
        record.clusterings.push(Clustering {
            method: row.method.clone(),
            acc,
            nmi,
            ari,
            cs,
            others: OTHERS
                .map(|(name, measure)| (name.to_owned(), estimate(measure)))
                .to_vec(),
            dimension: row.reports.first().map(|report| report.dimension as u64),
            captured: captured
                .first()
                .map(|_| captured.iter().sum::<f64>() / captured.len() as f64),
            embedding: row.embedding.clone(),
            // The same H, the same training.
            losses: if index == 0 { losses.to_vec() } else { Vec::new() },
        });
    }
    record
}

fn tell(style: Style, arguments: &Arguments, data: &Data, rows: &[Row], folder: &RunFolder, seconds: f64) {
    let json_row = |row: &Row| {
        let mut object = serde_json::Map::new();
        object.insert("method".into(), json!(row.method));
        for (name, measure) in AGREEMENT.into_iter().chain(OTHERS) {
            let estimate = Estimate::of(&values(row, measure), DDOF);
            let number = |value: Option<f64>| {
                value
                    .filter(|value| value.is_finite())
                    .map_or(Value::Null, |v| json!(v))
            };
            object.insert(name.into(), number(Some(estimate.mean)));
            object.insert(format!("{name}_std"), number(estimate.deviation));
        }
        let first = row.reports.first();
        object.insert("dimension".into(), json!(first.map(|report| report.dimension)));
        object.insert("captured".into(), json!(first.map(|report| report.captured)));
        Value::Object(object)
    };
    let test = rows
        .first()
        .and_then(|row| row.reports.first())
        .and_then(|report| report.test);
    style.emit(&json!({
        "event": "summary",
        "rows": rows.iter().map(json_row).collect::<Vec<_>>(),
        "ddof": DDOF,
        "data": data.dataset.name(),
        "preset": arguments.preset.name(),
        "reps": arguments.reps,
        "seed": arguments.seed,
        "test_auc": test.map(|ranking| ranking.roc_auc),
        "test_ap": test.map(|ranking| ranking.average_precision),
        "out": folder.path().display().to_string(),
        "labels_out": arguments.labels_out.as_ref().map(|path| path.display().to_string()),
        "seconds": seconds,
    }));
    let labelled = rows.iter().any(|row| !values(row, AGREEMENT[0].1).is_empty());
    let measures: Vec<(&str, Measure)> = match labelled {
        true => AGREEMENT.into_iter().chain(OTHERS).collect(),
        false => OTHERS.to_vec(),
    };
    let columns = measures.iter().map(|(name, _)| (*name).to_owned());
    let mut table = Table::new(
        ["method".to_owned()]
            .into_iter()
            .chain(columns)
            .chain(["captured".to_owned()]),
    );
    for row in rows {
        let mut cells = vec![row.method.clone()];
        for (_, measure) in &measures {
            let estimate = Estimate::of(&values(row, measure), DDOF);
            cells.push(match (estimate.is_known(), estimate.deviation) {
                (false, _) => "-".to_owned(),
                (true, Some(deviation)) if arguments.reps > 1 => {
                    format!("{:.4} +- {deviation:.4}", estimate.mean)
                }
                (true, _) => format!("{:.4}", estimate.mean),
            });
        }
        let captured = values(row, |report| Some(report.captured));
        let captured = captured.iter().sum::<f64>() / captured.len().max(1) as f64;
        cells.push(format!("{:.1} %", 100.0 * captured));
        table.row(cells);
    }
    style.say(format!("\n{}", table.text()));
    if !labelled {
        style.say(
            "no classes are known: modularity (more is better) and conductance (less is better) judge alone",
        );
    }
    if let Some(path) = &arguments.labels_out {
        style.say(format!("clusters in {}", path.display()));
    }
    let shown = folder.path().display();
    style.say(format!(
        "{seconds:.1} s; record in {shown}; `egg report {shown}` draws it"
    ));
}
