//! Table 5: k-means on the node embeddings of an autoencoder, with EGG and without.

mod preset;
pub mod record;
pub mod scale;
pub mod tune;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use egg_cluster::Silent;
use egg_cluster::egg::{EggConfig, Weighting};
use egg_cluster::pipeline::{
    self, ClusterReport, Coordinates, Encoder, Links, Method, NodeClusteringConfig, Repetitions,
};
use egg_cluster::vgae::LinkTask;
use egg_geometry::RankRule;
use egg_graph::GraphDataset;
use egg_results::Summary;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::budget::Budget;
use crate::error::Result;
use crate::{data, provenance};
pub use preset::PresetName;
use record::{ClusterRecord, Data, Repetition, Subject};

/// The data sets of the table, in the order in which they run if none is named.
pub const DATASETS: [&str; 5] = ["Cora", "Citeseer", "Pubmed", "Coauthor-CS", "Wiki-CS"];

/// The row of plain k-means.
pub const PLAIN: &str = "k-means on H";
/// The row of what a preset has.
pub const OF_PRESET: &str = "preset";

/// Rows of smoothed features: k-means on H, and EGG with other weights, of k directions (the flat one is AGC's spectral
/// clustering) and of 2 k. H has 2 k columns.
fn smooth_methods(directions: usize) -> [(String, Coordinates); 4] {
    let egg = |rank: usize, weighting, normalise_rows| EggConfig {
        weighting,
        normalise_rows,
        ..EggConfig::new(RankRule::Fixed(rank))
    };
    let k = directions / 2;
    [
        ("EGG k flat", egg(k, Weighting::Flat, false)),
        ("EGG 2k flat", egg(2 * k, Weighting::Flat, false)),
        ("EGG 2k flat, unit rows", egg(2 * k, Weighting::Flat, true)),
        (
            "EGG k spectral(1), unit rows",
            egg(k, Weighting::Spectral(1.0), true),
        ),
    ]
    .map(|(name, egg)| (name.to_owned(), Coordinates::Egg(egg)))
}

/// The rows of the table: the paper's, the same weighted by singular values, and
/// what the preset has.
fn methods(config: &NodeClusteringConfig) -> BTreeMap<String, Coordinates> {
    let plain = Coordinates::Plain {
        normalise_rows: false,
    };
    let mut methods = BTreeMap::from([
        (PLAIN.to_owned(), plain),
        (OF_PRESET.to_owned(), config.coordinates),
    ]);
    if let Encoder::Smooth(smooth) = config.encoder {
        methods.extend(smooth_methods(smooth.directions));
        return methods;
    }
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

/// A repetition as it is recorded.
fn recorded(repetition: pipeline::Repetition, methods: &[Method], revision: &str) -> Repetition {
    let named = methods.iter().map(|method| method.name.clone());
    let reports = repetition.clusterings.iter().map(|clusters| clusters.report);
    Repetition {
        seed: repetition.seed,
        revision: revision.to_owned(),
        machine: provenance::processor(),
        arithmetic: provenance::machine().arithmetic,
        threads: rayon::current_num_threads(),
        validation: repetition.embedding.validation,
        test: repetition.embedding.test,
        methods: named.zip(reports).collect(),
        seconds: repetition.seconds,
    }
}

/// What a record of this preset on these data is about, and the checksum of its held-out edges.
///
/// # Errors
/// If the edges can't be split.
pub fn subject(name: &str, preset: PresetName, dataset: &GraphDataset) -> Result<(Subject, Option<String>)> {
    // By the name that was asked for: a file may be called otherwise.
    let config = preset.config(name, dataset)?;
    let subject = Subject {
        table: "cluster".to_owned(),
        dataset: name.to_lowercase(),
        preset: preset.to_string(),
        config: NodeClusteringConfig { seed: 0, ..config },
        data: Data::new(dataset),
        methods: methods(&config),
    };
    let split = match config.links {
        Links::All => None,
        Links::Split {
            validation,
            test,
            seed,
        } => {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            Some(LinkTask::split(dataset, validation, test, rng)?.held_out_checksum())
        }
        _ => {
            return Err(crate::Error::measurement(
                "a way to hold links out that records have no checksum of",
            ));
        }
    };
    Ok((subject, split))
}

/// Runs the repetitions, one for each seed, that the record in `folder` lacks, and prints the table. None is begun
/// once the budget is over.
///
/// # Errors
/// [`Error::OtherRecord`](crate::Error::OtherRecord) if the record is of something else; else as clustering.
pub fn run(
    name: &str,
    preset: PresetName,
    seeds: Range<u64>,
    folder: &Path,
    revision: &str,
    budget: &Budget,
) -> Result<()> {
    let dataset = data::load(name)?;
    println!(
        "{name}: {} nodes, {} edges, {} features; preset {preset}, {} repetitions from seed {}",
        dataset.node_count(),
        dataset.edge_count(),
        dataset.features().width(),
        seeds.end - seeds.start,
        seeds.start,
    );
    let (subject, split) = subject(name, preset, &dataset)?;
    let mut record = ClusterRecord::open(folder, subject, split)?;
    let methods = record.subject.methods.iter();
    let methods = methods.map(|(name, coordinates)| Method {
        name: name.clone(),
        coordinates: *coordinates,
    });
    let config = NodeClusteringConfig {
        seed: seeds.start,
        ..record.subject.config
    };
    let repetitions = Repetitions::new(config, methods.collect(), seeds.clone().count());
    for (index, seed) in seeds.enumerate() {
        if record.has(seed) {
            eprintln!("seed {seed}: already there");
            continue;
        }
        if budget.is_over() {
            eprintln!("the time is up before seed {seed}: call again to continue");
            break;
        }
        let repetition = repetitions.run_one(index, &dataset, &mut Silent)?;
        let repetition = recorded(repetition, &repetitions.methods, revision);
        let auc = repetition
            .test
            .map(|test| format!(", test AUC {:.4}", test.roc_auc));
        eprintln!(
            "seed {seed}: {:.1} s{}",
            repetition.seconds,
            auc.unwrap_or_default()
        );
        record.add(folder, repetition)?;
    }
    print(&record);
    Ok(())
}

fn print(record: &ClusterRecord) {
    println!("{} repetitions", record.repetitions.len());
    println!("| method | accuracy | NMI | ARI | completeness | captured | modularity | seconds |");
    println!("|---|---|---|---|---|---|---|---|");
    for name in record.subject.methods.keys() {
        let of = |value: &dyn Fn(&ClusterReport) -> Option<f64>| {
            let summary = Summary::from_values(&record.values(name, value), 0);
            summary.map_or("-".to_owned(), |summary| summary.to_string())
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
