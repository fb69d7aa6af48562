//! Graphs as EGG sees them, before training and after.

use std::ops::ControlFlow;
use std::time::Instant;

use egg_gnn::graph::{GraphDataset, random_order};
use egg_gnn::pool::PoolingConfig;
use egg_gnn::pool::data::PreparedGraphs;
use egg_gnn::pool::folder::TrainedModel;
use egg_gnn::pool::model::Architecture;
use egg_gnn::pool::protocol::{Experiment, Protocol, Report, RunOptions, RunRecord};
use egg_gnn::pool::train::Event;
use egg_gnn::prelude::CovarianceSet;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;

use super::record::{Drawn, Record, about};
use super::{Arguments, Failure, registered};

/// The maps of one model.
pub(crate) fn maps(name: &str, architecture: &str, arguments: &Arguments) -> Result<Record, Failure> {
    let begin = Instant::now();
    let dataset = match name.parse() {
        Ok(graphs) => CovarianceSet {
            graphs,
            ..CovarianceSet::default()
        }
        .generate(&mut ChaCha8Rng::seed_from_u64(0))?,
        Err(_) => registered(name)?,
    };
    let architecture: Architecture = architecture.parse()?;
    let mut experiment = Experiment::new(&dataset, Protocol::Paper, architecture, PoolingConfig::default())?;
    experiment.repetitions = 1;
    arguments.set("seed", &mut experiment.seed)?;
    arguments.set("epochs", &mut experiment.training.max_epochs)?;
    arguments.set("lr", &mut experiment.training.learning_rate)?;
    arguments.set("wd", &mut experiment.training.weight_decay)?;
    arguments.set("hidden", &mut experiment.model.hidden)?;
    arguments.set("dropout", &mut experiment.model.head.dropout)?;
    let mut points = 4000;
    arguments.set("points", &mut points)?;

    let chosen = chosen(dataset.len(), points, experiment.seed);
    let some = dataset.subset(&chosen)?;
    let classes = classes(&some)?;
    let graphs = experiment.prepare(dataset)?;
    let split = experiment.splits(graphs.dataset())?.swap_remove(0);
    let held_out: Vec<usize> = (0..chosen.len())
        .filter(|&row| split.test.contains(&chosen[row]))
        .collect();

    let mut drawn = Vec::new();
    if architecture == Architecture::Gcn {
        let untrained = train(&experiment, &graphs, 0)?;
        drawn.push(rows("GCN-EGG, untrained", &untrained, &some)?);
    }
    let trained = train(&experiment, &graphs, experiment.training.max_epochs)?;
    let layers = match architecture {
        Architecture::Gin => ", its layers side by side",
        _ => "",
    };
    let title = format!("{}-EGG, trained{layers}", architecture.name().to_uppercase());
    drawn.push(rows(&title, &trained, &some)?);

    let report = Report {
        experiment: experiment.clone(),
        dataset: graphs.dataset().name().to_owned(),
        fingerprint: graphs.fingerprint().to_owned(),
        outcomes: vec![trained.outcome().clone()],
        validation: None,
        test: None,
    };
    // For the checksums of data and split.
    let run = RunRecord::of(&report, &graphs, None)?;
    let subject = json!({
        "figure": "tsne-graphs",
        "dataset": run.dataset,
        "graphs": run.graphs,
        "fingerprint": run.fingerprint,
        "splits": run.splits,
        "experiment": run.experiment,
        "epochs": trained.outcome().history.len(),
        "best_epoch": trained.outcome().best_epoch,
        "test": trained.outcome().test.as_ref().and_then(|test| test.scores.get(experiment.training.metric)),
        "held_out": held_out.len(),
    });
    let mut record = Record::new(about(subject, begin.elapsed().as_secs_f64()), classes);
    for one in drawn {
        record.add("graphs", one, &held_out, experiment.seed)?;
    }
    Ok(record)
}

/// Which of `all` are drawn: all, or some in random order, sorted.
pub(crate) fn chosen(all: usize, points: usize, seed: u64) -> Vec<usize> {
    let mut chosen = random_order(all, &mut ChaCha8Rng::seed_from_u64(seed));
    chosen.truncate(points);
    chosen.sort_unstable();
    chosen
}

fn classes(dataset: &GraphDataset) -> Result<Vec<Option<u32>>, Failure> {
    let labels = dataset.classes().ok_or("the graphs have no classes")?;
    Ok((0..dataset.len()).map(|graph| labels.get(graph)).collect())
}

/// A model after so many epochs; after none it has its first values.
fn train(experiment: &Experiment, graphs: &PreparedGraphs, epochs: u64) -> Result<TrainedModel, Failure> {
    let mut observer = |event: Event<'_>| {
        if let Event::Epoch(epoch) = event {
            println!(
                "epoch {}: train {:.4}, validation {:.4}, {:.1} s",
                epoch.epoch, epoch.train_loss, epoch.validation_loss, epoch.seconds
            );
        }
        match epochs {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    Ok(TrainedModel::train(
        experiment,
        graphs,
        0,
        &RunOptions::default(),
        &mut observer,
    )?)
}

fn rows(name: &str, model: &TrainedModel, graphs: &GraphDataset) -> Result<Drawn, Failure> {
    // Maps and neighbours are of distances.
    let rows = model.embed(graphs.clone())?.isometric();
    Ok(Drawn {
        name: name.to_owned(),
        columns: rows.ncols(),
        values: rows.iter().copied().collect(),
    })
}
