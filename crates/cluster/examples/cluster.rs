//! Clusters the nodes of a graph, as in the paper's Table 5.
//!
//! ```text
//! cargo run --release -p egg-cluster --example cluster -- cora --repetitions 10
//! cargo run --release -p egg-cluster --example cluster -- 100000 --sampled --epochs 20
//! ```
//!
//! The first argument is a data set below `EGG_DATASETS`, or a number of nodes: then
//! a block model of that size is drawn. Options: `--preset paper`, `--repetitions N`
//! (of which each has the next seed), `--seed N`, `--epochs N`, `--sampled` (the
//! likelihood of sampled non-edges, linear in the edges).

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use egg_cluster::egg::{EggConfig, Weighting};
use egg_cluster::pipeline::{ClusterReport, Coordinates, NodeClustering, Preset};
use egg_cluster::vgae::{Control, Likelihood};
use egg_geometry::RankRule;
use egg_graph::synthetic::BlockModel;
use egg_graph::{Cache, DataSource, GraphDataset, ReadOptions};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Arguments {
    data: String,
    preset: Preset,
    repetitions: u64,
    seed: u64,
    epochs: Option<u64>,
    sampled: bool,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let data = given.next().ok_or("which data set, or how many nodes?")?;
    let mut arguments = Arguments {
        data,
        preset: Preset::Paper,
        repetitions: 1,
        seed: 0,
        epochs: None,
        sampled: false,
    };
    while let Some(option) = given.next() {
        if option == "--sampled" {
            arguments.sampled = true;
            continue;
        }
        let value = given.next().ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--preset" => arguments.preset = value.parse()?,
            "--repetitions" => arguments.repetitions = value.parse()?,
            "--seed" => arguments.seed = value.parse()?,
            "--epochs" => arguments.epochs = Some(value.parse()?),
            _ => return Err(format!("no such option: {option}").into()),
        }
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
    let folder = std::env::var_os("EGG_DATASETS").ok_or("set EGG_DATASETS to the folder of the data sets")?;
    let source = DataSource::registered(data, &PathBuf::from(folder))?;
    Ok(source.load(&ReadOptions::default(), &Cache::Off)?.dataset)
}

/// The rows of the table.
fn methods() -> Vec<(String, Coordinates)> {
    let plain = Coordinates::Plain {
        normalise_rows: false,
    };
    let mut methods = vec![("k-means on H".to_owned(), plain)];
    for (name, weighting) in [
        ("flat", Weighting::Flat),
        ("spectral(1)", Weighting::Spectral(1.0)),
    ] {
        for ratio in [0.2, 0.5, 0.8] {
            let egg = EggConfig {
                weighting,
                ..EggConfig::new(RankRule::Ratio(ratio))
            };
            methods.push((format!("EGG {ratio} {name}"), Coordinates::Egg(egg)));
        }
    }
    methods
}

/// Mean and standard deviation (of the population, as the paper's).
fn spread(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    format!("{mean:.4} +- {:.4}", variance.sqrt())
}

fn percent(reports: &[ClusterReport], share: impl Fn(&ClusterReport) -> f64) -> f64 {
    100.0 * reports.iter().map(share).sum::<f64>() / reports.len().max(1) as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let dataset = load(&arguments.data)?;
    println!(
        "{}: {} nodes, {} edges, {} features; preset {}, {} repetitions from seed {}",
        arguments.data,
        dataset.node_count(),
        dataset.edge_count(),
        dataset.features().width(),
        arguments.preset.name(),
        arguments.repetitions,
        arguments.seed,
    );
    let methods = methods();
    let mut reports: Vec<Vec<ClusterReport>> = vec![Vec::new(); methods.len()];
    for repetition in 0..arguments.repetitions {
        let mut config = arguments.preset.config();
        config.seed = arguments.seed + repetition;
        if let Some(epochs) = arguments.epochs {
            config.autoencoder.epochs = epochs;
        }
        if arguments.sampled {
            config.autoencoder.likelihood = Likelihood::NegativeSampling;
        }
        let clustering = NodeClustering::new(config)?;
        let begin = Instant::now();
        let embedding = clustering.embed(&dataset, None, &mut |_| Control::Continue)?;
        let test = embedding.test.map_or(String::new(), |test| {
            format!("; test AUC {:.4}, AP {:.4}", test.roc_auc, test.average_precision)
        });
        eprintln!(
            "seed {}: trained in {:.2} s{test}",
            config.seed,
            begin.elapsed().as_secs_f64()
        );
        for ((_, coordinates), reports) in methods.iter().zip(&mut reports) {
            reports.push(clustering.cluster(&embedding, coordinates)?.1);
        }
    }
    println!(
        "| method | accuracy | NMI | ARI | completeness | captured | of squares | modularity | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for ((name, _), reports) in methods.iter().zip(&reports) {
        let of = |value: &dyn Fn(&ClusterReport) -> Option<f64>| spread(reports.iter().filter_map(value));
        println!(
            "| {name} | {} | {} | {} | {} | {:.2} % | {:.2} % | {} | {} |",
            of(&|report| Some(report.agreement?.accuracy)),
            of(&|report| Some(report.agreement?.normalised_mutual_information)),
            of(&|report| Some(report.agreement?.adjusted_rand)),
            of(&|report| Some(report.agreement?.completeness)),
            percent(reports, |report| report.captured),
            percent(reports, |report| report.captured_squares),
            of(&|report| report.modularity),
            of(&|report| Some(report.timings.coordinates + report.timings.clustering)),
        );
    }
    Ok(())
}
