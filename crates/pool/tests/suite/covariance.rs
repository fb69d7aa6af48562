//! The project's own set, whose classes differ in covariance alone: what EGG is
//! for, and what first-order poolings of linear convolutions provably can't see.

use egg_graph::synthetic::CovarianceSet;
use egg_graph::{GraphDataset, Split};
use egg_pool::convolution::Gcn;
use egg_pool::protocol::{Experiment, Protocol, RunOptions};

use crate::small::watch_nothing;

/// The standard set, with half of it to test on: by chance alone the mean of
/// two runs is above 0.6 once in some hundreds, were they independent.
fn standard() -> GraphDataset {
    let dataset = CovarianceSet::standard().unwrap();
    let split = Split {
        train: (0..160).collect(),
        validation: (160..200).collect(),
        test: (200..400).collect(),
    };
    dataset.with_split(split).unwrap()
}

/// The mean test accuracy of two runs.
fn accuracy(dataset: &GraphDataset, pooling: &str, activation: bool) -> f64 {
    let pooling = pooling.parse().unwrap();
    let mut experiment = Experiment::new(dataset, Protocol::Paper, Gcn, pooling).unwrap();
    experiment.model.activation = activation;
    experiment.training.learning_rate = 5e-3;
    experiment.training.max_epochs = 12;
    experiment.repetitions = 2;
    let graphs = experiment.prepare(dataset.clone()).unwrap();
    let run = experiment
        .run(&graphs, &RunOptions::default(), &watch_nothing)
        .unwrap();
    run.report.test.unwrap().mean
}

#[test]
fn egg_separates_classes_that_differ_in_covariance() {
    let dataset = standard();
    for activation in [false, true] {
        for pooling in ["egg", "soft-egg"] {
            let found = accuracy(&dataset, pooling, activation);
            assert!(found >= 0.95, "{pooling}, activation {activation}: {found}");
        }
    }
}

#[test]
fn sums_and_means_of_linear_convolutions_do_not_see_covariance() {
    let dataset = standard();
    for pooling in ["sum", "avg"] {
        let found = accuracy(&dataset, pooling, false);
        assert!(found <= 0.6, "{pooling}: {found}");
    }
}
