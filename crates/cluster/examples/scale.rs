//! How time and memory grow with a graph.
//!
//! ```text
//! cargo run --release -p egg-cluster --example scale
//! cargo run --release -p egg-cluster --example scale -- 1000000 --epochs 100
//! cargo run --release -p egg-cluster --example scale -- pubmed --exact
//! ```
//!
//! For each number of nodes given (10^4 to 10^6, in half powers of ten, if none is) a
//! stochastic block model with ten edges per node is drawn and clustered end to end:
//! autoencoder with sampled non-edges on all edges, EGG, mini-batch k-means. A name
//! instead of a number is a data set. Each has a process of its
//! own, since the peak of the memory is a process's. The exponent is that of
//! `seconds = c nodes^e`, by least squares of the logarithms.
//!
//! Options: `--epochs N` (5), `--exact` (the likelihood of all pairs),
//! `--record FILE` (JSON), `--revision TEXT`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use egg_cluster::pipeline::{Clusterer, ClusteringEvent, Links, NodeClustering, Preset};
use egg_cluster::vgae::{Control, Likelihood};
use egg_datasets::DataFolders;
use egg_graph::synthetic::BlockModel;
use egg_graph::{Cache, GraphDataset, ReadOptions};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Arguments {
    graphs: Vec<String>,
    epochs: u64,
    exact: bool,
    record: Option<PathBuf>,
    revision: String,
    /// This process measures, and answers with one line of JSON.
    child: bool,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut arguments = Arguments {
        graphs: Vec::new(),
        epochs: 5,
        exact: false,
        record: None,
        revision: "unknown".to_owned(),
        child: false,
    };
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--epochs" => arguments.epochs = value()?.parse()?,
            "--record" => arguments.record = Some(value()?.into()),
            "--revision" => arguments.revision = value()?,
            "--exact" => arguments.exact = true,
            "--child" => arguments.child = true,
            word if word.starts_with('-') => return Err(format!("no such option: {word}").into()),
            _ => arguments.graphs.push(word),
        }
    }
    if arguments.graphs.is_empty() {
        let nodes = ["10000", "31623", "100000", "316228", "1000000"];
        arguments.graphs = nodes.map(String::from).to_vec();
    }
    Ok(arguments)
}

fn load(data: &str) -> Result<GraphDataset, Box<dyn Error>> {
    if let Ok(nodes) = data.parse() {
        let model = BlockModel {
            nodes,
            ..BlockModel::default()
        };
        return Ok(model.generate(&mut ChaCha8Rng::seed_from_u64(0))?);
    }
    let source = DataFolders::locate().source(data)?;
    Ok(source.load(&ReadOptions::default(), &Cache::Off)?.dataset)
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
fn measure(graph: &str, arguments: &Arguments) -> Result<Value, Box<dyn Error>> {
    let begin = Instant::now();
    let dataset = load(graph)?;
    let drawing = begin.elapsed().as_secs_f64();
    let memory_of_data = memory("VmRSS");
    let mut config = Preset::Paper.config();
    config.links = Links::All;
    config.autoencoder.epochs = arguments.epochs;
    config.autoencoder.likelihood = match arguments.exact {
        true => Likelihood::Exact,
        false => Likelihood::NegativeSampling,
    };
    config.clusterer = Clusterer::MiniBatch { batch: 4096 };
    let (mut marks, mut computed) = (Vec::new(), Vec::new());
    let mut after_training = None;
    let found = NodeClustering::new(config)?.run(&dataset, None, &mut |event| {
        match event {
            ClusteringEvent::Epoch(_) => {
                marks.push(Instant::now());
                computed.extend(computing());
            }
            ClusteringEvent::Trained { .. } => after_training = memory("VmHWM"),
            _ => {}
        }
        Control::Continue
    })?;
    let total = begin.elapsed().as_secs_f64();
    // The first epoch finds nothing in cache, so the steps between epochs count.
    let mut steps: Vec<f64> = marks
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    steps.sort_by(f64::total_cmp);
    let report = found.report;
    let cpu = match (computed.first(), computed.last()) {
        (Some(first), Some(last)) if computed.len() > 1 => Some((last - first) / (computed.len() - 1) as f64),
        _ => None,
    };
    Ok(json!({
        "graph": graph,
        "nodes": dataset.node_count(),
        "edges": dataset.edge_count(),
        "epochs": arguments.epochs,
        "exact": arguments.exact,
        "epoch_seconds": steps.get(steps.len() / 2),
        "epoch_seconds_best": steps.first(),
        "epoch_cpu_seconds": cpu,
        "reading_seconds": drawing,
        "timings": report.timings,
        "total_seconds": total,
        "data_megabytes": memory_of_data,
        "training_peak_megabytes": after_training,
        "peak_megabytes": memory("VmHWM"),
        "agreement": report.agreement,
        "modularity": report.modularity,
        "dimension": report.dimension,
    }))
}

/// The slope of the logarithms, by least squares.
fn exponent(lines: &[Value], of: &str) -> Option<f64> {
    let points: Option<Vec<(f64, f64)>> = lines
        .iter()
        .map(|line| Some((line["nodes"].as_f64()?.ln(), line[of].as_f64()?.ln())))
        .collect();
    let points = points.filter(|points| points.len() > 1)?;
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| {
        (x + point.0 / count, y + point.1 / count)
    });
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    Some(covariance / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    if arguments.child {
        let graph = arguments.graphs.first().ok_or("which graph?")?;
        println!("{}", measure(graph, &arguments)?);
        return Ok(());
    }
    println!(
        "| graph | nodes | edges | s an epoch | CPU s an epoch | epochs | s in all | peak MB | peak MB, training | NMI | accuracy |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for graph in &arguments.graphs {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([graph, "--child", "--epochs", &arguments.epochs.to_string()]);
        if arguments.exact {
            command.arg("--exact");
        }
        // Tensors of this size else go back to the system after each use, and are
        // cleared again, page by page, at the next: a third of the time.
        if std::env::var_os("MIMALLOC_PURGE_DELAY").is_none() {
            command.env("MIMALLOC_PURGE_DELAY", "-1");
        }
        let output = command.stderr(std::process::Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("{graph}: {}", output.status).into());
        }
        let line: Value = serde_json::from_slice(&output.stdout)?;
        let number = |value: &Value| {
            value
                .as_f64()
                .map_or("-".to_owned(), |value| format!("{value:.3}"))
        };
        println!(
            "| {graph} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            line["nodes"],
            line["edges"],
            number(&line["epoch_seconds"]),
            number(&line["epoch_cpu_seconds"]),
            line["epochs"],
            number(&line["total_seconds"]),
            number(&line["peak_megabytes"]),
            number(&line["training_peak_megabytes"]),
            number(&line["agreement"]["normalised_mutual_information"]),
            number(&line["agreement"]["accuracy"]),
        );
        lines.push(line);
    }
    let (by_clock, by_cpu) = (
        exponent(&lines, "epoch_seconds"),
        exponent(&lines, "epoch_cpu_seconds"),
    );
    if let (Some(by_clock), Some(by_cpu)) = (by_clock, by_cpu) {
        println!(
            "an epoch takes c nodes^{by_clock:.3} seconds by the clock, c nodes^{by_cpu:.3} of computing"
        );
    }
    if let Some(path) = &arguments.record {
        let record = json!({
            "revision": arguments.revision,
            "threads": rayon::current_num_threads(),
            "exponent": by_clock,
            "cpu_exponent": by_cpu,
            "graphs": lines,
        });
        let text = serde_json::to_string_pretty(&record)? + "\n";
        egg_files::write(path, text.as_bytes())?;
    }
    Ok(())
}
