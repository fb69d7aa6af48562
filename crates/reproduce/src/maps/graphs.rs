//! Graphs as EGG sees them, before training and after.

use std::ops::ControlFlow;
use std::time::Instant;

use egg_graph::GraphDataset;
use egg_pool::convolution::{Gcn, Gin};
use egg_pool::data::PreparedGraphs;
use egg_pool::folder::TrainedModel;
use egg_pool::protocol::{Experiment, Report, RunOptions, RunRecord};
use egg_pool::train::Event;
use serde_json::json;

use super::chosen;
use super::record::{Drawn, MapRecord, about};
use crate::error::{Error, Result};

/// The maps of one model. At most `points` graphs are drawn.
///
/// # Errors
/// If the graphs have no classes; as training and [`MapRecord::add`].
pub fn maps(
    dataset: GraphDataset,
    experiment: Experiment,
    points: usize,
    revision: &str,
) -> Result<MapRecord> {
    let begin = Instant::now();
    let experiment = Experiment {
        repetitions: 1,
        ..experiment
    };
    let chosen = chosen(dataset.len(), points, experiment.seed);
    let some = dataset.subset(&chosen)?;
    let classes = classes(&some)?;
    let graphs = experiment.prepare(dataset)?;
    let split = experiment.splits(graphs.dataset())?.swap_remove(0);
    let held_out: Vec<usize> = (0..chosen.len())
        .filter(|&row| split.test.contains(&chosen[row]))
        .collect();

    let convolution = experiment.model.convolution.clone();
    let mut drawn = Vec::new();
    if convolution.get::<Gcn>().is_some() {
        let untrained = train(&experiment, &graphs, ControlFlow::Break(()))?;
        drawn.push(rows("GCN-EGG, untrained", &untrained, &some)?);
    }
    let trained = train(&experiment, &graphs, ControlFlow::Continue(()))?;
    let layers = match convolution.get::<Gin>() {
        Some(_) => ", its layers side by side",
        None => "",
    };
    let title = format!("{}-EGG, trained{layers}", convolution.name().to_uppercase());
    drawn.push(rows(&title, &trained, &some)?);

    let report = Report::new(&experiment, &graphs, vec![trained.outcome().clone()]);
    // For the checksums of data and split.
    let run = RunRecord::new(&report, &[split], &graphs, None)?;
    let subject = json!({
        "figure": super::Figure::Graphs.name(),
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
    let mut record = MapRecord::new(about(subject, revision, begin.elapsed()), classes);
    for one in drawn {
        record.add("graphs", one, &held_out, experiment.seed)?;
    }
    Ok(record)
}

fn classes(dataset: &GraphDataset) -> Result<Vec<Option<u32>>> {
    let labels = dataset.classes().ok_or_else(|| Error::Unfit {
        dataset: dataset.name().to_owned(),
        lacking: "the graphs have no classes",
    })?;
    Ok((0..dataset.len()).map(|graph| labels.get(graph)).collect())
}

/// A trained model, or one with its first values if its training is broken off at once.
fn train(experiment: &Experiment, graphs: &PreparedGraphs, flow: ControlFlow<()>) -> Result<TrainedModel> {
    let mut observer = |_: Event<'_>| flow;
    let options = RunOptions::default();
    Ok(TrainedModel::train(
        experiment,
        graphs,
        0,
        &options,
        &mut observer,
    )?)
}

fn rows(name: &str, model: &TrainedModel, graphs: &GraphDataset) -> Result<Drawn> {
    // Maps and neighbours are of distances.
    let rows = model.embed(graphs.clone())?.isometric();
    Ok(Drawn {
        name: name.to_owned(),
        columns: rows.ncols(),
        values: rows.iter().copied().collect(),
    })
}
