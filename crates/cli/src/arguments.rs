//! What the command line may say.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use egg_gnn::cluster::egg::Weighting;
use egg_gnn::cluster::pipeline::Preset;
use egg_gnn::geometry::RankRule;
use egg_gnn::graph::{Header, NodeFeatures, NodeIds, ReadOptions, TableOptions};
use egg_gnn::pool::protocol::Protocol;
use egg_gnn::pool::{self, ConvolutionConfig, PoolingConfig};

use crate::data::suggestion;
use crate::{angles, cluster, datasets, demo, embed, generate, info, predict, report, sweep, train};

/// Graphs on the Grassmann manifold: classify graphs, cluster nodes, compare subspaces
///
/// DATA is a registered name (PROTEINS, ogbg-molhiv, Cora, ...), a TU folder or zip, an npz, a
/// folder of tables (edges.csv, nodes.csv, graphs.csv), an edge list with features, or
/// demo:covariance, demo:karate, demo:sbm:N.
#[derive(Debug, Parser)]
#[command(name = "egg", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0, 2 for usage, 130 after Ctrl-C, 1 for the rest.")]
pub(crate) struct Cli {
    /// With an error, every cause
    #[arg(long, global = true, display_order = 901)]
    pub(crate) verbose: bool,
    /// Threads to work on [default: one for each core]
    #[arg(long, global = true, display_order = 900, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Info(info::Arguments),
    Data(datasets::Arguments),
    Train(Box<train::Arguments>),
    Predict(predict::Arguments),
    Embed(embed::Arguments),
    Cluster(cluster::Arguments),
    Angles(angles::Arguments),
    Sweep(sweep::Arguments),
    Report(report::Arguments),
    #[command(hide = true)]
    Demo(demo::Arguments),
    Completions(generate::Completions),
    Man(generate::Man),
}

impl Command {
    /// Whether it computes, and so should be on the right kernels.
    pub(crate) fn computes(&self) -> bool {
        !matches!(
            self,
            Self::Info(_) | Self::Data(_) | Self::Report(_) | Self::Completions(_) | Self::Man(_)
        )
    }
}

/// What all commands on data take.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Common {
    /// One JSON object per line on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, only the result
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Where registered data sets are [default: where `egg data` looks for them]
    #[arg(long, value_name = "DIR")]
    pub(crate) datasets: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What files can't say themselves.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How files are read")]
pub(crate) struct Reading {
    /// Whether ids of nodes count from 0 or from 1, or are names [default: by the files]
    #[arg(long, value_name = "0|1|names", value_parser = node_ids)]
    ids_from: Option<NodeIds>,
    /// Whether the first row of a table names its columns [default: by the table]
    #[arg(long, value_name = "yes|no", value_parser = header)]
    header: Option<Header>,
    /// The columns of the two ends of an edge, by name or number [default: by the header, else the first two]
    #[arg(long, value_name = "source=A,target=B", value_parser = ends)]
    columns: Option<(String, String)>,
    /// The column of the weights of edges, by name or number [default: one that is called weight]
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Which node data of a TU data set are features [default: labels if there are any, else attributes]
    #[arg(long, value_name = "labels|attributes|both", value_parser = node_features)]
    pub(crate) node_features: Option<NodeFeatures>,
    /// Take data under a registered name whose content is not what the registry knows
    #[arg(long)]
    pub(crate) allow_modified: bool,
}

impl Reading {
    /// For the readers.
    pub(crate) fn options(&self) -> ReadOptions {
        let (source, target) = self.columns.clone().unzip();
        ReadOptions {
            node_features: self.node_features.unwrap_or_default(),
            tables: TableOptions {
                header: self.header.unwrap_or_default(),
                ids: self.ids_from,
                source,
                target,
                weight: self.weight.clone(),
            },
            ..ReadOptions::default()
        }
    }
}

fn node_ids(text: &str) -> Result<NodeIds, String> {
    match text {
        "0" => Ok(NodeIds::ZeroBased),
        "1" => Ok(NodeIds::OneBased),
        "names" => Ok(NodeIds::Named),
        _ => Err("0, 1 or names".into()),
    }
}

fn header(text: &str) -> Result<Header, String> {
    match text {
        "yes" => Ok(Header::Yes),
        "no" => Ok(Header::No),
        _ => Err("yes or no".into()),
    }
}

fn node_features(text: &str) -> Result<NodeFeatures, String> {
    match text {
        "labels" => Ok(NodeFeatures::Labels),
        "attributes" => Ok(NodeFeatures::Attributes),
        "both" => Ok(NodeFeatures::Both),
        _ => Err("labels, attributes or both".into()),
    }
}

/// `source=A,target=B`.
fn ends(text: &str) -> Result<(String, String), String> {
    let mut found = [None, None];
    for part in text.split(',') {
        let place = match part.split_once('=') {
            Some(("source", column)) => (0, column),
            Some(("target", column)) => (1, column),
            _ => {
                return Err(format!(
                    "`{part}`: write source=A,target=B, with the names or numbers of columns"
                ));
            }
        };
        found[place.0] = Some(place.1.to_owned()).filter(|column| !column.is_empty());
    }
    match found {
        [Some(source), Some(target)] => Ok((source, target)),
        _ => Err("both are needed: source=A,target=B".into()),
    }
}

/// A name among others, with a suggestion if it is not.
fn named<T: std::str::FromStr>(name: &str, what: &str, known: &[&str]) -> Result<T, String> {
    name.parse().map_err(|_| {
        let near = suggestion(name, known.iter().copied());
        near.map_or_else(
            || format!("the {what} are {}", known.join(", ")),
            |near| near.trim_start_matches("; ").to_owned(),
        )
    })
}

/// A component by its name, perhaps with settings: `egg:threshold=0.8`.
fn component<T>(text: &str, what: &str, known: &[&str]) -> Result<T, String>
where
    T: std::str::FromStr<Err = pool::Error>,
{
    match text.parse() {
        Err(pool::Error::UnknownName { name, .. }) => named(&name, what, known),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

pub(crate) fn convolution(text: &str) -> Result<ConvolutionConfig, String> {
    component(text, "convolutions", &ConvolutionConfig::names())
}

/// What `--pool` may be: a pooling, or the control without convolutions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pool {
    Pooling(PoolingConfig),
    Blind,
}

impl Pool {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Pooling(config) => config.name(),
            Self::Blind => "blind",
        }
    }

    pub(crate) fn names() -> Vec<&'static str> {
        let mut names = PoolingConfig::names();
        names.push(Self::Blind.name());
        names
    }
}

pub(crate) fn pool(text: &str) -> Result<Pool, String> {
    match text == Pool::Blind.name() {
        true => Ok(Pool::Blind),
        false => {
            let parsed: Result<PoolingConfig, String> = component(text, "poolings", &Pool::names());
            parsed.map(Pool::Pooling)
        }
    }
}

/// The help of `--conv`.
pub(crate) fn convolution_help() -> String {
    format!("Convolution: {}", ConvolutionConfig::names().join(", "))
}

/// The help of `--pool`.
pub(crate) fn pool_help() -> String {
    format!(
        "Pooling, perhaps with settings (egg:threshold=0.8): {}",
        Pool::names().join(", ")
    )
}

pub(crate) fn protocol(name: &str) -> Result<Protocol, String> {
    named(name, "protocols", &Protocol::names())
}

/// What `--preset` of `egg cluster` may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterPreset {
    /// Settings that are chosen for the graph.
    Auto,
    /// Settings that have a name.
    Named(Preset),
}

impl ClusterPreset {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Named(preset) => preset.name(),
        }
    }
}

pub(crate) fn cluster_preset(name: &str) -> Result<ClusterPreset, String> {
    if name == ClusterPreset::Auto.name() {
        return Ok(ClusterPreset::Auto);
    }
    let mut names = vec![ClusterPreset::Auto.name()];
    names.extend(Preset::ALL.iter().map(|preset| preset.name()));
    named(name, "presets", &names).map(ClusterPreset::Named)
}

pub(crate) fn rank(text: &str) -> Result<RankRule, String> {
    let kinds = ["threshold", "relative", "energy", "squares", "ratio", "fixed"];
    text.parse().map_err(|error: egg_gnn::geometry::Error| {
        let kind = text.split([':', '=']).next().unwrap_or_default();
        let near = match kinds.contains(&kind) {
            true => None,
            false => suggestion(kind, kinds.into_iter()),
        };
        format!("{error}{}", near.unwrap_or_default())
    })
}

pub(crate) fn weighting(text: &str) -> Result<Weighting, String> {
    text.parse()
        .map_err(|error: egg_gnn::cluster::Error| error.to_string())
}

/// What clap has to say of a command line that it can't read, in two lines: what
/// is wrong, and what to do. Help that was asked for stays as it is.
pub(crate) fn format_usage_error(error: &clap::Error) -> Vec<String> {
    use clap::error::ErrorKind;
    let text = error.to_string();
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return vec![text.trim_end().to_owned()];
    }
    let (mut what, mut tips) = (Vec::new(), Vec::new());
    let mut usage = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            tips.push(tip.to_owned());
        } else if let Some(line) = line.strip_prefix("Usage: ") {
            usage = Some(line.to_owned());
        } else if !line.starts_with("For more information") && usage.is_none() {
            what.push(line);
        }
    }
    if tips.is_empty() {
        let command = usage.as_deref().and_then(|usage| {
            let mut words = usage.split_whitespace().skip(1);
            let word = words.next()?;
            word.chars().all(char::is_alphabetic).then(|| word.to_owned())
        });
        tips.push(match command.or_else(asked_for) {
            Some(command) => format!("`egg {command} --help` lists the options"),
            None => "`egg --help` lists the commands, `egg COMMAND --help` their options".to_owned(),
        });
    }
    vec![what.join(" "), format!("help: {}", tips.join("; "))]
}

/// The command that was asked for, if it is one.
fn asked_for() -> Option<String> {
    let known = Cli::command();
    let mut words = std::env::args().skip(1);
    words.find(|word| known.find_subcommand(word).is_some())
}

/// A finite number above 0.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0, "a number above 0 is needed")
}

/// A finite number from 0.
pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |x| x >= 0.0, "a number from 0 is needed")
}

/// A number from 0, below 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    number(
        text,
        |x| (0.0..1.0).contains(&x),
        "a number from 0, below 1, is needed",
    )
}

fn number(text: &str, allowed: impl Fn(f64) -> bool, needed: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite() && allowed(*x));
    number.ok_or_else(|| needed.to_owned())
}

/// A whole number from 1.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 is needed".into()),
        Ok(number) => Ok(number),
    }
}

/// As many epochs as anybody waits for.
pub(crate) const MOST_EPOCHS: u64 = 1_000_000_000;

/// As many repetitions as anybody waits for.
pub(crate) const MOST_REPS: usize = 100_000;

/// As many threads as can be started.
const MOST_THREADS: usize = 1024;

/// A number of epochs.
pub(crate) fn epochs(text: &str) -> Result<u64, String> {
    up_to(text, MOST_EPOCHS)
}

/// A number of repetitions.
pub(crate) fn reps(text: &str) -> Result<usize, String> {
    up_to(text, MOST_REPS)
}

/// A number of threads, or of runs that have one each.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    up_to(text, MOST_THREADS)
}

fn up_to<T: Copy + std::str::FromStr + PartialOrd + From<u8> + std::fmt::Display>(
    text: &str,
    most: T,
) -> Result<T, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (T::from(1)..=most).contains(number));
    number.ok_or_else(|| format!("a whole number from 1 to {most} is needed"))
}

/// A whole number from 0.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("a whole number from 0 to {} is needed", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn near_names_are_suggested() {
        assert_eq!(pool("atention").unwrap_err(), "did you mean attention?");
        assert!(
            rank("treshold:0.8")
                .unwrap_err()
                .contains("did you mean threshold?")
        );
        assert!(rank("ratio:8").unwrap_err().contains("x must be in (0, 1]"));
        assert!(convolution("cnn").unwrap_err().contains("gcn"));
        assert!(
            pool("egg:treshold=1")
                .unwrap_err()
                .contains("no such setting as treshold")
        );
        assert_eq!(pool("blind").unwrap(), Pool::Blind);
    }
}
