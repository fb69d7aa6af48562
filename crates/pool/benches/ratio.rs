//! Our side of `cargo xtask bench train`: reads task names, answers with times.
//!
//! A task is one epoch: every graph once, in batches of 32, forward, backward
//! and a step of Adam.
#![expect(clippy::print_stdout, reason = "run by hand, it says what it is for")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use egg_datasets::{DataFolders, Registry};
use egg_graph::synthetic::CovarianceSet;
use egg_graph::{GraphBatch, GraphDataset, Labels, ReadOptions, Targets, read_tu};
use egg_pool::ConvolutionConfig;
use egg_pool::model::ModelConfig;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

#[path = "../../../xtask/peers/protocol.rs"]
mod protocol;
mod training;

use protocol::{Export, Outcome, Timed, timed, tiny};
use training::Training;

/// Tensors without page faults, as a program that trains should have them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DATA: [&str; 4] = ["PROTEINS", "NCI1", "Mutagenicity", "DD"];

struct Inputs {
    datasets: BTreeMap<&'static str, GraphDataset>,
    /// A model in training, by the name of its task.
    training: RefCell<BTreeMap<String, Training>>,
}

/// `task` is convolution, pooling and data set, as in `gcn_sum_NCI1`.
fn training(task: &str, datasets: &BTreeMap<&'static str, GraphDataset>) -> Outcome<Training> {
    let unknown = || format!("no task of this name: {task}");
    let [conv, pool, name]: [&str; 3] = task
        .split('_')
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| unknown())?;
    let dataset = datasets
        .get(name)
        .ok_or("this data set is not here; `cargo xtask data fetch` gets it")?;
    let convolution: ConvolutionConfig = conv.parse()?;
    let mut config = ModelConfig::new(convolution, pool.parse()?);
    // The paper's; the peers have the same.
    if (conv, name) == ("gcn", "NCI1") {
        config.layers = 3;
    }
    config.hidden = if conv == "gcn" { 64 } else { 32 };
    Training::new(dataset.clone(), &config, 32)
}

fn run(inputs: &Inputs, task: &str) -> Outcome<Timed> {
    let mut all = inputs.training.borrow_mut();
    if !all.contains_key(task) {
        all.insert(task.to_owned(), training(task, &inputs.datasets)?);
    }
    let training = RefCell::new(all.get_mut(task).ok_or("just inserted")?);
    let (seconds, loss) = timed(|| training.borrow_mut().epoch())?;
    if !loss.is_finite() {
        return Err(format!("{task}: the loss is {loss}").into());
    }
    let steps = {
        let training = training.borrow();
        training.steps()
    };
    Ok(Timed::new(seconds, steps, loss))
}

/// A data set, where it is here.
fn find(name: &str) -> Option<PathBuf> {
    let entry = Registry::builtin().get(name).ok()?;
    DataFolders::locate_from(Path::new(env!("CARGO_MANIFEST_DIR"))).find(entry)
}

fn export_dataset(export: &mut Export, name: &str, dataset: &GraphDataset) -> Outcome<()> {
    let all = GraphBatch::all(dataset)?;
    let numbers = |positions: &[usize]| -> Outcome<Vec<i64>> {
        let numbers = positions.iter().map(|position| i64::try_from(*position));
        Ok(numbers.collect::<Result<_, _>>()?)
    };
    let nodes = numbers(all.offsets())?;
    export.array(&format!("{name}_nodes"), &[nodes.len()], nodes)?;
    let rows = (0i64..).zip(all.row_offsets().windows(2));
    let sources = rows.flat_map(|(row, part)| std::iter::repeat_n(row, part[1] - part[0]));
    let targets = all.entries().iter().map(|id| i64::from(*id));
    export.array(
        &format!("{name}_edges"),
        &[2, all.entries().len()],
        sources.chain(targets),
    )?;
    let features = all.features();
    export.array(
        &format!("{name}_x"),
        &[features.rows(), features.width()],
        features.to_dense(),
    )?;
    let Some(Targets::Classes(labels)) = all.targets() else {
        return Err(format!("{name} has no classes").into());
    };
    let classes: Vec<i64> = Labels::iter(labels).flatten().map(i64::from).collect();
    export.array(&format!("{name}_y"), &[classes.len()], classes)
}

/// On a thread of rayon's pool: called from outside it, the pool's threads and
/// the caller's would be one more than were asked for.
fn main() -> Outcome<()> {
    rayon::scope(|_| serve().map_err(|error| error.to_string())).map_err(Into::into)
}

fn serve() -> Outcome<()> {
    let Some(mut export) = Export::from_arguments()? else {
        println!("ratio: run by `cargo xtask bench train`");
        return Ok(());
    };
    let mut datasets = BTreeMap::new();
    // The driver names what it needs. `cargo xtask bench memory` wants a process
    // with one data set and no copies of it.
    let only = std::env::var("EGG_BENCH_DATA").ok();
    let export_all = std::env::var_os("EGG_BENCH_NO_EXPORT").is_none();
    let wanted = |name: &&str| {
        only.as_ref()
            .is_none_or(|only| only.split(',').any(|one| one == *name))
    };
    for name in DATA.into_iter().filter(wanted) {
        if tiny() {
            let few = CovarianceSet {
                graphs: 40,
                ..CovarianceSet::default()
            };
            datasets.insert(name, few.generate(&mut ChaCha8Rng::seed_from_u64(0))?);
        } else if let Some(path) = find(name) {
            let dataset = read_tu(&path, &ReadOptions::default())?;
            if export_all {
                export_dataset(&mut export, name, &dataset)?;
            }
            datasets.insert(name, dataset);
        }
    }
    let about = match datasets.len() {
        0 => "none here (`cargo xtask data fetch` gets them)".to_owned(),
        _ => datasets.keys().copied().collect::<Vec<_>>().join(", "),
    };
    let inputs = Inputs {
        datasets,
        training: RefCell::default(),
    };
    export.serve(json!({"data": about}), |task| run(&inputs, task))
}
