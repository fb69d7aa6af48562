//! What each pooling makes of graphs that differ in covariance alone, over the number of graphs it is trained on:
//! the tables of docs/TRAINING.md.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use egg_graph::synthetic::CovarianceSet;
use egg_graph::{GraphDataset, Split, random_order};
use egg_pool::PoolingConfig;
use egg_pool::convolution::Gcn;
use egg_pool::protocol::{Experiment, Protocol, RunOptions, RunRecord};
use egg_pool::train::Event;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::error::{Error, Result};
use crate::{files, provenance};

/// What each pooling makes of graphs that differ in covariance alone, over the number of graphs it is trained on.
///
/// One set of 1,200 graphs, the same 400 for testing and 160 for validation throughout; training graphs are the first
/// so many of the rest. The paper's GCN and training, width 32, nothing tuned, at most 100 epochs.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// How often each is trained.
    #[arg(long, value_name = "N", default_value_t = 3)]
    repetitions: usize,
    /// Where to keep all records, in one list.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

const TRAINING_GRAPHS: [usize; 4] = [20, 80, 320, 640];
const SEED: u64 = 2022;

/// The set, cut so that only the training part depends on `training`.
fn dataset(training: usize) -> Result<GraphDataset> {
    let set = CovarianceSet {
        graphs: 1200,
        ..CovarianceSet::default()
    };
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let dataset = set.generate(&mut rng)?;
    let order = random_order(dataset.len(), &mut rng);
    Ok(dataset.with_split(Split {
        test: order[..400].to_vec(),
        validation: order[400..560].to_vec(),
        train: order[560..560 + training].to_vec(),
    })?)
}

/// Does it.
pub(crate) fn run(request: &Request) -> Result<()> {
    let revision = provenance::revision();
    let mut records = Vec::new();
    for (title, activation) in [("linear convolutions", false), ("ReLU convolutions", true)] {
        println!(
            "\nTest accuracy in percent, mean+-sd of {} (ddof 0), {title}\n",
            request.repetitions
        );
        let sizes = TRAINING_GRAPHS.map(|graphs| format!(" {graphs} |")).concat();
        println!(
            "| pooling |{sizes}\n|---|{}",
            "---|".repeat(TRAINING_GRAPHS.len())
        );
        // Neither the control nor pairs of the others have a part in it.
        let poolings = PoolingConfig::names().into_iter();
        for pooling in poolings.filter(|name| !matches!(*name, "random" | "concat")) {
            let mut row = format!("| {pooling} |");
            for training in TRAINING_GRAPHS {
                let dataset = dataset(training)?;
                let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, pooling.parse()?)?;
                experiment.repetitions = request.repetitions;
                experiment.model.activation = activation;
                experiment.training.learning_rate = 5e-3;
                experiment.training.max_epochs = 100;
                let graphs = experiment.prepare(dataset)?;
                let observer = |_: usize, _: Event<'_>| ControlFlow::Continue(());
                let run = experiment.run(&graphs, &RunOptions::default(), &observer)?;
                let test = run
                    .report
                    .test
                    .ok_or_else(|| Error::measurement("accuracy is not defined"))?;
                row += &format!(" {test} |");
                records.push(RunRecord::new(
                    &run.report,
                    &run.splits,
                    &graphs,
                    Some(revision.clone()),
                )?);
            }
            println!("{row}");
        }
    }
    match &request.record {
        Some(path) => {
            let text = serde_json::to_string(&records).map_err(Error::format(path))?;
            files::write(path, &(text + "\n"))
        }
        None => Ok(()),
    }
}
