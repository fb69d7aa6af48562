//! Real graphs: no number that is none, and more is learnt than which class is
//! the larger.

use egg_graph::{GraphDataset, ReadOptions, read_tu};
use egg_pool::protocol::{Experiment, Protocol, Report, RunOptions};

use crate::real_data;
use crate::small::watch_nothing;

fn read(name: &str) -> Option<GraphDataset> {
    let path = real_data::find(&format!("{name}.zip"))?;
    Some(read_tu(&path, &ReadOptions::default()).unwrap())
}

fn train(dataset: &GraphDataset, convolution: &str, repetitions: usize, epochs: u64) -> Report {
    let pooling = "egg".parse().unwrap();
    let mut experiment = Experiment::new(
        dataset,
        Protocol::Paper,
        crate::small::convolution(convolution),
        pooling,
    )
    .unwrap();
    experiment.apply(&crate::small::preset(dataset.name()));
    experiment.training.max_epochs = epochs;
    experiment.repetitions = repetitions;
    let graphs = experiment.prepare(dataset.clone()).unwrap();
    let report = experiment
        .run(&graphs, &RunOptions::default(), &watch_nothing)
        .unwrap()
        .report;
    for outcome in &report.outcomes {
        let losses = outcome
            .history
            .iter()
            .flat_map(|epoch| [epoch.train_loss, epoch.validation_loss]);
        assert!(losses.into_iter().all(f64::is_finite), "{convolution}");
    }
    report
}

#[test]
fn mutag_trains_without_a_nan() {
    let Some(dataset) = read("MUTAG") else { return };
    for convolution in ["gcn", "gin"] {
        let report = train(&dataset, convolution, 1, 10);
        let history = &report.outcomes[0].history;
        assert_eq!(history.len(), 10, "{convolution}");
        assert!(history[9].train_loss < history[0].train_loss, "{convolution}");
    }
}

/// The share of the larger class in the test part of the first repetition.
fn majority(dataset: &GraphDataset, report: &Report) -> f64 {
    let split = &report.experiment.splits(dataset).unwrap()[0];
    let classes = dataset.classes().unwrap();
    let ones = split
        .test
        .iter()
        .filter(|graph| classes.get(**graph) == Some(1))
        .count();
    let share = ones as f64 / split.test.len() as f64;
    share.max(1.0 - share)
}

#[test]
fn proteins_are_classified_better_than_the_majority_class() {
    let Some(dataset) = read("PROTEINS") else { return };
    for convolution in ["gcn", "gin"] {
        let report = train(&dataset, convolution, 1, 6);
        let (test, majority) = (report.test.unwrap().mean, majority(&dataset, &report));
        assert!(
            test > majority,
            "{convolution}: {test}, the larger class has {majority}"
        );
    }
}

#[test]
fn molecules_train_without_a_nan() {
    for name in ["NCI1", "Mutagenicity"] {
        let Some(dataset) = read(name) else { return };
        train(&dataset, "gcn", 1, 1);
    }
}

/// The paper's figure less 3 points, by the mean of ten repetitions: minutes, so
/// not every day.
#[test]
fn presets_reach_the_published_accuracy() {
    if std::env::var_os("EGG_TEST_FULL").is_none() {
        return;
    }
    let Some(dataset) = read("Mutagenicity") else {
        return;
    };
    let test = train(&dataset, "gcn", 10, 200).test.unwrap().mean;
    assert!(test >= 0.7801, "{test}");
}
