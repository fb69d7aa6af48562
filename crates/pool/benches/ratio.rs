//! Our side of `cargo xtask bench train`: reads task names, answers with times.
//!
//! A task is one epoch: every graph once, in batches of 32, forward, backward
//! and a step of Adam.
#![expect(clippy::print_stdout, reason = "run by hand, it says what it is for")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use candle_core::DType;
use egg_autodiff::{Flatten, RankRule};
use egg_datasets::{DataFolders, Registry};
use egg_graph::synthetic::CovarianceSet;
use egg_graph::{GraphBatch, GraphDataset, Labels, ReadOptions, Targets, batches, random_order, read_tu};
use egg_nn::{Adam, AdamConfig, Decay, Pass, Reduction, backward, cross_entropy};
use egg_pool::PoolingConfig;
use egg_pool::data::{Batch, BatchTargets, Convolved, PreparedGraphs};
use egg_pool::model::{Architecture, Model, ModelConfig};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

#[path = "../../../xtask/peers/protocol.rs"]
mod protocol;

use protocol::{Export, Outcome, Timed, timed, tiny};

/// Tensors without page faults, as a program that trains should have them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DATA: [&str; 4] = ["PROTEINS", "NCI1", "Mutagenicity", "DD"];

/// The paper's threshold; the peers have the same.
const RANK: RankRule = RankRule::Threshold(0.5);

struct Inputs {
    datasets: BTreeMap<&'static str, GraphDataset>,
    /// A model in training, by the name of its task.
    training: RefCell<BTreeMap<String, Training>>,
}

struct Training {
    graphs: PreparedGraphs,
    model: Model,
    adam: Adam,
    rng: ChaCha8Rng,
    batch_size: usize,
}

impl Training {
    /// `task` is convolution, pooling and data set, as in `gcn_sum_NCI1`, or sizes for
    /// GCN-EGG: nodes of a graph, graphs, width, as in `scale_30_32_64`.
    fn new(task: &str, datasets: &BTreeMap<&'static str, GraphDataset>) -> Outcome<Self> {
        if let Some(sizes) = task.strip_prefix("scale_") {
            return Self::scaled(sizes);
        }
        let unknown = || format!("no task of this name: {task}");
        let [conv, pool, name]: [&str; 3] = task
            .split('_')
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| unknown())?;
        let dataset = datasets
            .get(name)
            .ok_or("this data set is not here; `cargo xtask data prepare` gets it")?;
        let pooling = match pool {
            "egg" => PoolingConfig::Egg {
                rank: RANK,
                flatten: Flatten::Upper,
            },
            name => name.parse()?,
        };
        let (architecture, convolved) = match conv {
            "gcn" => (Architecture::Gcn, Convolved::Normalised),
            "gin" => (Architecture::Gin, Convolved::Sum),
            _ => return Err(unknown().into()),
        };
        let mut config = ModelConfig::paper(name, architecture, pooling);
        config.hidden = if conv == "gcn" { 64 } else { 32 };
        Self::of(dataset.clone(), convolved, config, 32)
    }

    /// One batch of graphs made for it.
    fn scaled(sizes: &str) -> Outcome<Self> {
        let numbers: Result<Vec<usize>, _> = sizes.split('_').map(str::parse).collect();
        let [nodes, graphs, width]: [usize; 3] = numbers?.try_into().map_err(|_| "three sizes are needed")?;
        let set = CovarianceSet {
            graphs,
            fewest_nodes: nodes,
            most_nodes: nodes,
            ..CovarianceSet::default()
        };
        let dataset = set.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
        let pooling = PoolingConfig::Egg {
            rank: RANK,
            flatten: Flatten::Upper,
        };
        let mut config = ModelConfig::paper("made up", Architecture::Gcn, pooling);
        config.hidden = width;
        Self::of(dataset, Convolved::Normalised, config, graphs)
    }

    fn of(
        dataset: GraphDataset,
        convolved: Convolved,
        config: ModelConfig,
        batch_size: usize,
    ) -> Outcome<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let graphs = PreparedGraphs::new(dataset, convolved, DType::F32)?;
        let outputs = graphs.outputs().ok_or("no classes")?;
        let model = config.model(graphs.inputs(), outputs, DType::F32, &mut rng)?;
        let adam = Adam::new(model.parameters(), AdamConfig::new(1e-3, Decay::L2(5e-4)))?;
        Ok(Self {
            graphs,
            model,
            adam,
            rng,
            batch_size,
        })
    }

    fn epoch(&mut self) -> Outcome<f64> {
        let order = random_order(self.graphs.dataset().len(), &mut self.rng);
        let mut total = 0.0;
        let (graphs, parts) = (self.graphs.clone(), batches(&order, self.batch_size));
        let trained = graphs.each_batch(parts, |batch| match self.step(batch) {
            Ok(loss) => {
                total += loss;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        });
        trained.break_value().map_or(Ok(total), Err)
    }

    fn step(&mut self, batch: egg_pool::Result<Batch>) -> Outcome<f64> {
        let batch = batch?;
        let Some(BatchTargets::Classes(classes)) = &batch.targets else {
            return Err("no classes".into());
        };
        let output = self
            .model
            .network()
            .forward(&batch, &mut Pass::Training(&mut self.rng))?;
        let loss = cross_entropy(&output.scores, classes, Reduction::Sum)?;
        self.adam.step(&backward(&loss)?)?;
        Ok(f64::from(loss.to_scalar::<f32>()?))
    }
}

fn run(inputs: &Inputs, task: &str) -> Outcome<Timed> {
    let mut all = inputs.training.borrow_mut();
    if !all.contains_key(task) {
        all.insert(task.to_owned(), Training::new(task, &inputs.datasets)?);
    }
    let training = RefCell::new(all.get_mut(task).ok_or("just inserted")?);
    let (seconds, loss) = timed(|| training.borrow_mut().epoch())?;
    if !loss.is_finite() {
        return Err(format!("{task}: the loss is {loss}").into());
    }
    let steps = {
        let training = training.borrow();
        training.graphs.dataset().len().div_ceil(training.batch_size)
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
        0 => "none here (`cargo xtask data prepare` gets them)".to_owned(),
        _ => datasets.keys().copied().collect::<Vec<_>>().join(", "),
    };
    let inputs = Inputs {
        datasets,
        training: RefCell::default(),
    };
    export.serve(json!({"data": about}), |task| run(&inputs, task))
}
