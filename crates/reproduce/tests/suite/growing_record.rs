//! The record that is kept for each cell of the paper's tables.

use std::time::Duration;

use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{Experiment, RunOptions, RunRecord};
use egg_reproduce::Error;
use egg_reproduce::budget::{Budget, Length};
use egg_reproduce::growing;

use crate::small;

fn prepared() -> (Experiment, PreparedGraphs) {
    let dataset = small::dataset(60);
    let mut experiment = small::experiment(&dataset, "gcn", "egg");
    experiment.training.max_epochs = 2;
    let graphs = experiment.prepare(dataset).unwrap();
    (experiment, graphs)
}

/// What does not differ from run to run.
fn results(record: &RunRecord) -> Vec<(f64, f64)> {
    let repetitions = record.repetitions.iter();
    repetitions
        .map(|one| (one.validation.loss, one.test.as_ref().unwrap().loss))
        .collect()
}

#[test]
fn recorded_repetitions_are_not_run_again() {
    let (experiment, graphs) = prepared();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cell.json");
    let watched = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let extend = |repetitions, seconds: Option<u64>, revision: &str| {
        let wanted = Experiment {
            repetitions,
            ..experiment.clone()
        };
        let observer = |repetition: usize, _: egg_pool::train::Event<'_>| {
            watched.lock().unwrap().insert(repetition);
            std::ops::ControlFlow::Continue(())
        };
        let budget = Budget::new(seconds.map(|seconds| Length(Duration::from_secs(seconds))));
        growing::extend(&path, &wanted, &graphs, Some(revision.into()), &budget, &observer).unwrap()
    };
    assert_eq!(extend(1, None, "one"), 1);
    assert_eq!(RunRecord::load(&path).unwrap().repetitions.len(), 1);
    watched.lock().unwrap().clear();
    assert_eq!(extend(3, None, "two"), 3);
    assert_eq!(Vec::from_iter(watched.lock().unwrap().iter().copied()), [1, 2]);
    watched.lock().unwrap().clear();
    // Nothing is begun when all is there, nor when the time is up.
    assert_eq!(extend(3, None, "three"), 3);
    assert_eq!(extend(5, Some(0), "three"), 3);
    assert!(watched.lock().unwrap().is_empty());

    // As if it had been run at once.
    let grown = RunRecord::load(&path).unwrap();
    let run = experiment
        .run(&graphs, &RunOptions::default(), &small::watch_nothing)
        .unwrap();
    let whole = RunRecord::new(&run.report, &run.splits, &graphs, None).unwrap();
    assert_eq!(results(&grown), results(&whole));
    assert_eq!((&grown.test, &grown.validation), (&whole.test, &whole.validation));
    assert_eq!(
        (&grown.splits, &grown.experiment),
        (&whole.splits, &whole.experiment)
    );
    assert_eq!(grown.revision.as_deref(), Some("one, two"));
}

#[test]
fn records_of_other_settings_are_refused() {
    let (experiment, graphs) = prepared();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cell.json");
    let extend = |experiment: &Experiment| {
        growing::extend(
            &path,
            experiment,
            &graphs,
            None,
            &Budget::new(None),
            &small::watch_nothing,
        )
    };
    extend(&experiment).unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut other = experiment.clone();
    other.training.learning_rate = 0.1;
    let error = extend(&other).unwrap_err();
    assert!(matches!(error, Error::OtherRecord { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
