//! Our side of `cargo xtask bench cluster`: reads task names, answers with
//! times.
#![expect(clippy::print_stdout, reason = "run by hand, it says what it is for")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use candle_core::Tensor;
use egg_cluster::Silent;
use egg_cluster::egg::EggConfig;
use egg_cluster::kmeans::KMeansConfig;
use egg_cluster::metrics::Contingency;
use egg_cluster::vgae::{Autoencoder, AutoencoderConfig, Likelihood};
use egg_datasets::DataFolders;
use egg_geometry::RankRule;
use egg_graph::{Cache, GraphDataset, ReadOptions};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

#[path = "../../../xtask/peers/protocol.rs"]
mod protocol;
mod training;

use protocol::{Export, Outcome, Timed, timed, tiny};
use training::{Training, block_model};

/// How large an input is, or how large if it is only to be seen whether tasks run.
fn size(full: usize, small: usize) -> usize {
    if tiny() { small } else { full }
}

/// Tensors without page faults, as a program that trains should have them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DATA: [&str; 3] = ["Cora", "Citeseer", "Pubmed"];

/// Points for the measures of a clustering.
const MILLION: usize = 1_000_000;

struct Inputs {
    /// By the name of the data set.
    training: RefCell<BTreeMap<String, Training>>,
    /// Pubmed's nodes after some training, n x 16.
    embedding: Option<Array2<f32>>,
    classes: Vec<u32>,
    clusters: Vec<u32>,
}

fn run(inputs: &Inputs, task: &str) -> Outcome<Timed> {
    let embedding = || {
        let missing = "Pubmed is not here; `cargo xtask data fetch Pubmed` gets it";
        inputs.embedding.as_ref().ok_or(missing)
    };
    match task {
        "egg_kmeans_1" | "egg_kmeans_10" => {
            let starts = if task.ends_with("_10") { 10 } else { 1 };
            let h = embedding()?;
            let egg = EggConfig::new(RankRule::Ratio(0.8)).check()?;
            let kmeans = KMeansConfig {
                starts,
                ..KMeansConfig::new(3)
            }
            .check()?;
            let (seconds, fit) = timed(|| -> Outcome<_> {
                let rows = egg.embed(h.view())?;
                Ok(kmeans.fit(rows.coordinates.view(), &mut ChaCha8Rng::seed_from_u64(0))?)
            })?;
            Ok(Timed::new(seconds, starts, fit.inertia))
        }
        "metrics" => {
            let (seconds, agreement) = timed(|| -> Outcome<_> {
                Ok(Contingency::new(&inputs.classes, &inputs.clusters)?.agreement()?)
            })?;
            Ok(Timed::new(
                seconds,
                1,
                agreement.normalised_mutual_information + agreement.adjusted_rand + agreement.accuracy,
            ))
        }
        _ => {
            let mut all = inputs.training.borrow_mut();
            let name = task.strip_prefix("epoch_").unwrap_or(task);
            let training = all
                .get_mut(name)
                .ok_or_else(|| format!("no task or no data for {task}"))?;
            let training = RefCell::new(training);
            let (seconds, loss) = timed(|| training.borrow_mut().epoch())?;
            if !loss.is_finite() {
                return Err(format!("{task}: the loss is {loss}").into());
            }
            Ok(Timed::new(seconds, 1, loss))
        }
    }
}

/// A data set, where it is here.
fn find(name: &str) -> Option<GraphDataset> {
    let folders = DataFolders::locate_from(Path::new(env!("CARGO_MANIFEST_DIR")));
    let source = folders.source(name).ok()?;
    let loaded = source.load(&ReadOptions::default(), &Cache::Off).ok()?;
    Some(loaded.dataset)
}

fn export_training(
    export: &mut Export,
    name: &str,
    dataset: &GraphDataset,
    training: &Training,
) -> Outcome<()> {
    let features = dataset.features();
    export.array(
        &format!("{name}_x"),
        &[features.rows(), features.width()],
        features.to_dense(),
    )?;
    let target = training.task.target();
    let pairs = (0..target.node_count()).flat_map(|node| {
        let others = target.neighbours(node).iter();
        others.map(move |other| (node as i64, i64::from(*other)))
    });
    let (sources, targets): (Vec<i64>, Vec<i64>) = pairs.unzip();
    export.array(
        &format!("{name}_edges"),
        &[2, sources.len()],
        sources.iter().chain(&targets).copied(),
    )?;
    Ok(())
}

/// `H` of Pubmed after a little training, so that there is something to find.
fn embedded(training: &Training) -> Outcome<Array2<f32>> {
    let config = AutoencoderConfig {
        epochs: 30,
        likelihood: Likelihood::NegativeSampling,
        validate_every: 0,
        ..AutoencoderConfig::default()
    };
    let trained = Autoencoder::train(&training.task, &config, 0, None, &mut Silent)?;
    let h: &Tensor = &trained.embedding;
    Ok(Array2::from_shape_vec(
        h.dims2()?,
        h.flatten_all()?.to_vec1::<f32>()?,
    )?)
}

/// Classes, and clusters that agree with most of them.
fn labellings(export: &mut Export) -> Outcome<(Vec<u32>, Vec<u32>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let count = size(MILLION, 1000);
    let classes: Vec<u32> = (0..count).map(|_| rng.random_range(0..10)).collect();
    let other = |class: &u32| match rng.random_bool(0.7) {
        true => *class,
        false => rng.random_range(0..12),
    };
    let clusters: Vec<u32> = classes.iter().map(other).collect();
    for (name, labels) in [("classes", &classes), ("clusters", &clusters)] {
        export.array(name, &[count], labels.iter().map(|label| i64::from(*label)))?;
    }
    Ok((classes, clusters))
}

fn main() -> Outcome<()> {
    let Some(mut export) = Export::from_arguments()? else {
        println!("ratio: run by `cargo xtask bench cluster`");
        return Ok(());
    };
    let (mut training, mut embedding) = (BTreeMap::new(), None);
    // The driver names what it needs. `cargo xtask bench memory` wants a process
    // with one data set and nothing else.
    let only = std::env::var("EGG_BENCH_DATA").ok();
    let alone = std::env::var_os("EGG_BENCH_NO_EXPORT").is_some();
    let wanted = |name: &&str| {
        only.as_ref()
            .is_none_or(|only| only.split(',').any(|one| one == *name))
    };
    for name in DATA.into_iter().filter(wanted) {
        let Some(dataset) = (match tiny() {
            true => Some(block_model(60, 6.0)?),
            false => find(name),
        }) else {
            continue;
        };
        let begun = Training::new(&dataset, Likelihood::Exact)?;
        if !alone {
            export_training(&mut export, name, &dataset, &begun)?;
            if name == "Pubmed" {
                let h = embedded(&begun)?;
                export.array("embedding", &[h.nrows(), h.ncols()], h.iter().copied())?;
                embedding = Some(h);
            }
        }
        training.insert(name.to_owned(), begun);
    }
    let (classes, clusters) = match alone {
        true => (Vec::new(), Vec::new()),
        false => labellings(&mut export)?,
    };
    let about = training.keys().cloned().collect::<Vec<_>>().join(", ");
    let inputs = Inputs {
        training: RefCell::new(training),
        embedding,
        classes,
        clusters,
    };
    export.serve(json!({"data": about}), |task| run(&inputs, task))
}
