//! Clusters the nodes of a graph, as in the paper's Table 5.
//!
//! ```text
//! cargo run --release -p egg-cluster --example cluster -- cora --repetitions 10
//! cargo run --release -p egg-cluster --example cluster -- 100000 --sampled --epochs 20
//! ```
//!
//! The first argument is the name of a data set, or a number of nodes: then
//! a block model of that size is drawn. Options: `--preset paper|tuned`, `--repetitions N`
//! (of which each has the next seed), `--seed N`, `--epochs N`, `--sampled` (the
//! likelihood of sampled non-edges, linear in the edges), `--raw` (features as they are,
//! whatever the preset does with them). For records:
//! `--record FOLDER` (written after each repetition; those that are there are not
//! repeated), `--revision TEXT` (of the sources), `--budget SECONDS` (after which no
//! repetition is begun).

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod record;

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use arguments::Arguments;
use egg_cluster::egg::{EggConfig, Weighting};
use egg_cluster::pipeline::{ClusterReport, Coordinates, Links, NodeClustering, NodeClusteringConfig};
use egg_cluster::vgae::{Control, LinkTask};
use egg_datasets::DataFolders;
use egg_geometry::RankRule;
use egg_graph::synthetic::BlockModel;
use egg_graph::{Cache, GraphDataset, ReadOptions};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use record::{Data, Record, Repetition, Subject};

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

/// The rows of the table: the paper's, the same weighted by singular values, and
/// what the preset has.
fn methods(config: &NodeClusteringConfig) -> BTreeMap<String, Coordinates> {
    let plain = Coordinates::Plain {
        normalise_rows: false,
    };
    let mut methods = BTreeMap::from([
        ("k-means on H".to_owned(), plain),
        ("preset".to_owned(), config.coordinates),
    ]);
    for (name, weighting) in [
        ("flat", Weighting::Flat),
        ("spectral(1)", Weighting::Spectral(1.0)),
    ] {
        for ratio in [0.2, 0.5, 0.8] {
            let egg = EggConfig {
                weighting,
                ..EggConfig::new(RankRule::Ratio(ratio))
            };
            methods.insert(format!("EGG {ratio} {name}"), Coordinates::Egg(egg));
        }
    }
    methods
}

/// One training, clustered by each method.
fn repeat(
    dataset: &GraphDataset,
    config: NodeClusteringConfig,
    methods: &BTreeMap<String, Coordinates>,
    revision: &str,
) -> Result<Repetition, Box<dyn Error>> {
    let begin = Instant::now();
    let clustering = NodeClustering::new(config)?;
    let embedding = clustering.embed(dataset, None, &mut |_| Control::Continue)?;
    let cluster = |(name, coordinates): (&String, &Coordinates)| {
        let (_, report) = clustering.cluster(&embedding, coordinates)?;
        Ok((name.clone(), report))
    };
    let reports: Result<_, egg_cluster::Error> = methods.iter().map(cluster).collect();
    Ok(Repetition {
        seed: config.seed,
        revision: revision.to_owned(),
        machine: record::machine(),
        arithmetic: record::arithmetic(),
        threads: rayon::current_num_threads(),
        validation: embedding.validation,
        test: embedding.test,
        methods: reports?,
        seconds: begin.elapsed().as_secs_f64(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read()?;
    let begin = Instant::now();
    let dataset = load(&arguments.data)?;
    // By the name that was asked for: a file may be called otherwise.
    let config = arguments.config(&arguments.data);
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
    let subject = Subject {
        table: "cluster".to_owned(),
        dataset: arguments.data.to_lowercase(),
        preset: arguments.name(),
        config: NodeClusteringConfig { seed: 0, ..config },
        data: Data::of(&dataset),
        methods: methods(&config),
    };
    let folder = arguments.record.as_deref();
    let split = match config.links {
        Links::All => None,
        Links::Split {
            validation,
            test,
            seed,
        } => {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            Some(LinkTask::split(&dataset, validation, test, rng)?.held_out_checksum())
        }
    };
    let mut record = Record::open(folder, subject, split)?;
    for seed in arguments.seed..arguments.seed + arguments.repetitions {
        if record.has(seed) {
            eprintln!("seed {seed}: already there");
            continue;
        }
        if begin.elapsed().as_secs_f64() > arguments.budget {
            eprintln!("the time is up before seed {seed}: call again to go on");
            break;
        }
        let config = NodeClusteringConfig { seed, ..config };
        let repetition = repeat(&dataset, config, &record.subject.methods, &arguments.revision)?;
        let auc = repetition.test.map_or(f64::NAN, |test| test.roc_auc);
        eprintln!("seed {seed}: {:.1} s, test AUC {auc:.4}", repetition.seconds);
        record.add(folder, repetition)?;
    }
    print(&record);
    Ok(())
}

/// Mean and standard deviation (of the population, as the paper's).
fn spread(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    format!("{mean:.4} +- {:.4}", variance.sqrt())
}

fn print(record: &Record) {
    println!("{} repetitions", record.repetitions.len());
    println!("| method | accuracy | NMI | ARI | completeness | captured | modularity | seconds |");
    println!("|---|---|---|---|---|---|---|---|");
    for name in record.subject.methods.keys() {
        let of = |value: &dyn Fn(&ClusterReport) -> Option<f64>| {
            let reports = record.repetitions.iter().filter_map(|one| one.methods.get(name));
            spread(reports.filter_map(value))
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            of(&|report| Some(report.agreement?.accuracy)),
            of(&|report| Some(report.agreement?.normalised_mutual_information)),
            of(&|report| Some(report.agreement?.adjusted_rand)),
            of(&|report| Some(report.agreement?.completeness)),
            of(&|report| Some(report.captured)),
            of(&|report| report.modularity),
            of(&|report| Some(report.timings.coordinates + report.timings.clustering)),
        );
    }
}
