//! The record that the example `train` keeps for the paper's tables.

use egg_pool::data::PreparedGraphs;
use egg_pool::model::Architecture;
use egg_pool::protocol::{Experiment, RunOptions, RunRecord};

use crate::small;

// The example's own file.
#[expect(clippy::print_stdout, reason = "a program for people")]
#[path = "../../examples/train/record.rs"]
mod record;

fn prepared() -> (Experiment, PreparedGraphs) {
    let dataset = small::dataset(60);
    let mut experiment = small::experiment(&dataset, Architecture::Gcn, "egg");
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
fn repetitions_that_are_there_are_not_repeated() {
    let (experiment, graphs) = prepared();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cell.json");
    let watched = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let extend = |repetitions, budget, revision: &str| {
        let wanted = Experiment {
            repetitions,
            ..experiment.clone()
        };
        let follow = |repetition: usize, _: egg_pool::train::Event<'_>| {
            watched.lock().unwrap().insert(repetition);
            std::ops::ControlFlow::Continue(())
        };
        record::extend(&path, &wanted, &graphs, Some(revision.into()), budget, &follow).unwrap();
    };
    extend(1, f64::INFINITY, "one");
    assert_eq!(RunRecord::load(&path).unwrap().repetitions.len(), 1);
    watched.lock().unwrap().clear();
    extend(3, f64::INFINITY, "two");
    assert_eq!(Vec::from_iter(watched.lock().unwrap().iter().copied()), [1, 2]);
    watched.lock().unwrap().clear();
    // Nothing is begun when all is there, nor when the time is up.
    extend(3, f64::INFINITY, "three");
    extend(5, -1.0, "three");
    assert!(watched.lock().unwrap().is_empty());

    // As if it had been run at once.
    let grown = RunRecord::load(&path).unwrap();
    let report = experiment
        .run(&graphs, &RunOptions::default(), &small::watch_nothing)
        .unwrap();
    let whole = RunRecord::of(&report, &graphs, None).unwrap();
    assert_eq!(results(&grown), results(&whole));
    assert_eq!((&grown.test, &grown.validation), (&whole.test, &whole.validation));
    assert_eq!(
        (&grown.splits, &grown.experiment),
        (&whole.splits, &whole.experiment)
    );
    assert_eq!(grown.revision.as_deref(), Some("one, two"));
}

#[test]
fn a_record_of_other_settings_is_left_alone() {
    let (experiment, graphs) = prepared();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cell.json");
    let extend = |experiment: &Experiment| {
        record::extend(
            &path,
            experiment,
            &graphs,
            None,
            f64::INFINITY,
            &small::watch_nothing,
        )
    };
    extend(&experiment).unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut other = experiment.clone();
    other.training.learning_rate = 0.1;
    let error = extend(&other).unwrap_err().to_string();
    assert!(error.contains("other data or settings"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
