//! How time and memory of clustering grow with a graph.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use egg_cluster::metrics::Agreement;
use egg_cluster::pipeline::{Clusterer, ClusteringEvent, Links, NodeClustering, Preset, Timings};
use egg_cluster::vgae::Likelihood;
use egg_results::median;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::{data, files, provenance, scale};

/// Time and memory of clustering, end to end, over the size of a graph.
///
/// For each number of nodes a stochastic block model with ten edges per node is drawn and clustered: autoencoder with
/// sampled non-edges on all edges, EGG, mini-batch k-means. Each graph has a process of its own, since the peak of the
/// memory is a process's. The exponent is that of seconds = c nodes^e, by least squares of the logarithms.
#[derive(Debug, Args)]
pub struct Request {
    /// Numbers of nodes, or names of data sets.
    #[arg(value_name = "GRAPH", default_values = ["10000", "31623", "100000", "316228", "1000000"])]
    graphs: Vec<String>,
    /// To train for.
    #[arg(long, value_name = "N", default_value_t = 5)]
    epochs: u64,
    /// The likelihood of all pairs.
    #[arg(long)]
    exact: bool,
    /// Where to keep the result, as JSON.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Measure in this process, and answer with one line of JSON.
    #[arg(long, hide = true)]
    child: bool,
}

/// One graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// How well the clusters agree with the blocks.
    pub agreement: Option<Agreement>,
    /// Resident before training.
    pub data_megabytes: Option<f64>,
    /// Directions that EGG kept.
    pub dimension: usize,
    /// How many it has.
    pub edges: usize,
    /// Of all threads, in the mean.
    pub epoch_cpu_seconds: Option<f64>,
    /// By the clock, the median.
    pub epoch_seconds: Option<f64>,
    /// By the clock, the least.
    pub epoch_seconds_best: Option<f64>,
    /// That it was trained for.
    pub epochs: u64,
    /// Whether by the likelihood of all pairs.
    pub exact: bool,
    /// As it was asked for.
    pub graph: String,
    /// Of the clusters.
    pub modularity: Option<f64>,
    /// How many it has.
    pub nodes: usize,
    /// The most memory that the process ever had.
    pub peak_megabytes: Option<f64>,
    /// To read or draw it.
    pub reading_seconds: f64,
    /// Of the parts.
    pub timings: Timings,
    /// Of everything.
    pub total_seconds: f64,
    /// The most memory until training was over.
    pub training_peak_megabytes: Option<f64>,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScaleRecord {
    /// Of the computing.
    pub cpu_exponent: Option<f64>,
    /// Of the time by the clock.
    pub exponent: Option<f64>,
    /// In the order they were asked for.
    pub graphs: Vec<Line>,
    /// Of the sources.
    pub revision: String,
    /// That each process was given.
    pub threads: usize,
}

/// A line of the kernel's about this process, in MB.
fn memory(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

/// Seconds that this process has computed for, on all its threads.
fn computing() -> Option<f64> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    Some(nanoseconds.sum::<f64>() / 1e9)
}

/// One graph, end to end.
fn measure(graph: &str, request: &Request) -> Result<Line> {
    let begin = Instant::now();
    let dataset = data::nodes(graph)?;
    let reading_seconds = begin.elapsed().as_secs_f64();
    let data_megabytes = memory("VmRSS");
    let mut config = Preset::Paper.config();
    config.links = Links::All;
    config.autoencoder_mut().epochs = request.epochs;
    config.autoencoder_mut().likelihood = match request.exact {
        true => Likelihood::Exact,
        false => Likelihood::NegativeSampling,
    };
    config.clusterer = Clusterer::MiniBatch { batch: 4096 };
    let (mut marks, mut computed) = (Vec::new(), Vec::new());
    let mut training_peak_megabytes = None;
    let found = NodeClustering::new(config)?.run(&dataset, None, &mut |event: ClusteringEvent| {
        match event {
            ClusteringEvent::Epoch(_) => {
                marks.push(Instant::now());
                computed.extend(computing());
            }
            ClusteringEvent::Trained { .. } => training_peak_megabytes = memory("VmHWM"),
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let total_seconds = begin.elapsed().as_secs_f64();
    // The first epoch finds nothing in cache, so the steps between epochs count.
    let steps: Vec<f64> = marks
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    let epoch_cpu_seconds = match (computed.first(), computed.last()) {
        (Some(first), Some(last)) if computed.len() > 1 => Some((last - first) / (computed.len() - 1) as f64),
        _ => None,
    };
    let report = found.report;
    Ok(Line {
        agreement: report.agreement,
        data_megabytes,
        dimension: report.dimension,
        edges: dataset.edge_count(),
        epoch_cpu_seconds,
        epoch_seconds: median(&steps),
        epoch_seconds_best: steps.iter().copied().min_by(f64::total_cmp),
        epochs: request.epochs,
        exact: request.exact,
        graph: graph.to_owned(),
        modularity: report.modularity,
        nodes: dataset.node_count(),
        peak_megabytes: memory("VmHWM"),
        reading_seconds,
        timings: report.timings,
        total_seconds,
        training_peak_megabytes,
    })
}

/// The same in a process of its own.
fn measure_apart(graph: &str, request: &Request) -> Result<Line> {
    let program = std::env::current_exe().map_err(Error::measurement)?;
    let mut command = Command::new(&program);
    command.args([
        "cluster-scale",
        graph,
        "--child",
        "--epochs",
        &request.epochs.to_string(),
    ]);
    if request.exact {
        command.arg("--exact");
    }
    // Tensors of this size else go back to the system after each use, and are
    // cleared again, page by page, at the next: a third of the time.
    if std::env::var_os("MIMALLOC_PURGE_DELAY").is_none() {
        command.env("MIMALLOC_PURGE_DELAY", "-1");
    }
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(Error::file(&program))?;
    if !output.status.success() {
        return Err(Error::measurement(format!("{graph}: {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(Error::measurement)
}

/// A number with three digits, or a dash.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

/// The exponent of a cost in the nodes.
fn exponent(lines: &[Line], of: impl Fn(&Line) -> Option<f64>) -> Option<f64> {
    let points = lines.iter().map(|line| Some((line.nodes as f64, of(line)?)));
    scale::exponent(&points.collect::<Option<Vec<_>>>()?)
}

/// Does it.
///
/// # Errors
/// If a graph can't be had or clustered.
pub fn run(request: &Request) -> Result<()> {
    if request.child {
        for graph in &request.graphs {
            let line = measure(graph, request)?;
            println!("{}", serde_json::to_string(&line).map_err(Error::measurement)?);
        }
        return Ok(());
    }
    println!(
        "| graph | nodes | edges | s an epoch | CPU s an epoch | epochs | s in all | peak MB | peak MB, training | NMI | accuracy |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut graphs = Vec::new();
    for graph in &request.graphs {
        let line = measure_apart(graph, request)?;
        let agreement = line.agreement;
        println!(
            "| {graph} | {} | {} | {} | {} | {} | {:.3} | {} | {} | {} | {} |",
            line.nodes,
            line.edges,
            number(line.epoch_seconds),
            number(line.epoch_cpu_seconds),
            line.epochs,
            line.total_seconds,
            number(line.peak_megabytes),
            number(line.training_peak_megabytes),
            number(agreement.map(|agreement| agreement.normalised_mutual_information)),
            number(agreement.map(|agreement| agreement.accuracy)),
        );
        graphs.push(line);
    }
    let record = ScaleRecord {
        cpu_exponent: exponent(&graphs, |line| line.epoch_cpu_seconds),
        exponent: exponent(&graphs, |line| line.epoch_seconds),
        graphs,
        revision: provenance::revision(),
        threads: rayon::current_num_threads(),
    };
    if let (Some(by_clock), Some(by_cpu)) = (record.exponent, record.cpu_exponent) {
        println!(
            "an epoch takes c nodes^{by_clock:.3} seconds by the clock, c nodes^{by_cpu:.3} of computing"
        );
    }
    match &request.record {
        Some(path) => files::write_json(path, &record),
        None => Ok(()),
    }
}
