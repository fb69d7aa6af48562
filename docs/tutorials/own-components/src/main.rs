//! A pooling, a convolution and a metric that egg-gnn does not have: trained, saved, loaded and
//! compared like those that it has.

mod deviation;
mod f1;
mod graph_conv;

use std::error::Error;
use std::ops::ControlFlow;

use egg_gnn::graph::synthetic::CovarianceSet;
use egg_gnn::pool::convolution::Gcn;
use egg_gnn::pool::protocol::{Grid, GridSearch, Parallelism};
use egg_gnn::pool::{register_convolution, register_metric, register_pooling};
use egg_gnn::prelude::*;

use deviation::Deviation;
use graph_conv::GraphConv;

fn main() -> Result<(), Box<dyn Error>> {
    // Once, at the start: from here on the names can be read in files and from the command line.
    register_pooling::<Deviation>()?;
    register_convolution::<GraphConv>()?;
    register_metric(&f1::F1)?;

    let dataset = CovarianceSet::standard()?.subset(&(0..120).collect::<Vec<_>>())?;
    let conv: ConvolutionConfig = "graph-conv:scale=0.5".parse()?;
    let mut experiment = Experiment::new(&dataset, Protocol::Fair, conv, "deviation".parse()?)?;
    experiment.training.metric = "f1".parse()?;
    (experiment.repetitions, experiment.training.max_epochs) = (3, 8);
    experiment.training.learning_rate = 0.01;
    // All that a result depends on is text, and comes back from it.
    let written = format!("{} with {}", experiment.model.convolution, experiment.model.pooling);
    assert_eq!(written, "graph-conv:scale=0.5 with deviation");

    let graphs = experiment.prepare(dataset.clone())?;
    let options = RunOptions::default();
    let mine = experiment.run(&graphs, &options, &|_, _| ControlFlow::Continue(()))?;
    let f1 = mine.report.test.ok_or("F1 is defined")?;
    println!("{written}: test F1 {:.3} +- {:.3}", f1.mean, f1.deviation.unwrap_or(0.0));

    // Saved and loaded like any other.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model");
    mine.models[mine.best()].save(&path)?;
    let loaded = TrainedModel::load(&path)?;
    assert_eq!(loaded.predict(dataset.clone())?, mine.models[mine.best()].predict(dataset.clone())?);
    assert_eq!(loaded.config().model, experiment.model);

    // Chosen by a grid, with a record on disk for each cell.
    let search = GridSearch {
        experiment: Experiment { repetitions: 1, ..experiment.clone() },
        grid: Grid { learning_rate: vec![0.01, 0.001], weight_decay: vec![0.0], hidden: vec![8], ..Grid::paper() },
        folder: folder.path().join("grid"),
        parallelism: Parallelism::Auto,
    };
    let found = search.run(&graphs, &|_| ControlFlow::Continue(()))?;
    println!("{} cells, chosen: {}", found.cells.len(), found.cells[found.chosen[0]].cell);

    // Compared on the same splits, with a test that knows that training parts overlap.
    let mut experiment = Experiment::new(&dataset, Protocol::Fair, Gcn, "sum".parse()?)?;
    experiment.training.metric = "f1".parse()?;
    (experiment.repetitions, experiment.training.max_epochs) = (3, 8);
    let graphs = experiment.prepare(dataset)?;
    let sum = experiment.run(&graphs, &options, &|_, _| ControlFlow::Continue(()))?;
    let comparison = mine.compare(&sum).ok_or("they share their splits")?;
    println!(
        "against the sum: {:+.3} (p = {:.2}, {} pairs)",
        comparison.difference, comparison.p, comparison.pairs
    );
    Ok(())
}
