//! The grid search by halving: one file, stopped and gone on with, chosen by
//! validation alone.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use egg_pool::Error;
use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{Grid, Parallelism};
use egg_reproduce::halving::{Halving, HalvingEvent, HalvingRecord, Rung};

use crate::small;

fn search() -> (Halving, PreparedGraphs) {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gcn", "egg");
    experiment.training.max_epochs = 2;
    let graphs = experiment.prepare(dataset).unwrap();
    let grid = Grid {
        learning_rate: vec![1e-2, 1e-5],
        weight_decay: vec![5e-4],
        hidden: vec![6, 4],
        dropout: vec![0.0],
        threshold: vec![0.5, 0.8],
    };
    let rung = |settings, repetitions| Rung {
        settings,
        repetitions,
    };
    let search = Halving {
        experiment,
        grid,
        rungs: vec![rung(usize::MAX, 1), rung(4, 2), rung(2, 4)],
        parallelism: Parallelism::Auto,
    };
    (search, graphs)
}

fn go_on(_: HalvingEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Without times and machines.
fn timeless(mut record: HalvingRecord) -> HalvingRecord {
    let runs = record.settings.iter_mut().flat_map(|setting| &mut setting.runs);
    runs.for_each(|run| run.seconds = 0.0);
    record.machine.threads = 0;
    record.revision = None;
    record
}

#[test]
fn the_best_are_repeated_and_the_lowest_loss_is_chosen() {
    let (mut search, graphs) = search();
    // So that runs begin in order.
    search.parallelism = Parallelism::Inside;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deeper/grid.json");
    let begun = Mutex::new(Vec::new());
    let record = search
        .run(&path, &graphs, Some("one".into()), &|event| {
            if let HalvingEvent::Begin { cell, repetition } = event {
                begun.lock().unwrap().push((cell.hidden, repetition));
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    let counts: Vec<usize> = record.settings.iter().map(|setting| setting.runs.len()).collect();
    let of = |count| counts.iter().filter(|runs| **runs == count).count();
    assert_eq!((of(1), of(2), of(4)), (4, 2, 2), "{counts:?}");
    // Those that got further had the lower losses at each step.
    for (few, many) in [(1, 2), (2, 4)] {
        let losses = |further: bool| {
            let settings = record
                .settings
                .iter()
                .filter(move |setting| setting.runs.len() >= few && further == (setting.runs.len() >= many));
            settings.map(|setting| setting.validation_loss(few))
        };
        let worst = losses(true).fold(f64::NEG_INFINITY, f64::max);
        assert!(worst <= losses(false).fold(f64::INFINITY, f64::min));
    }
    let last = record.settings.iter().filter(|setting| setting.runs.len() == 4);
    let best = last.min_by(|a, b| a.validation_loss(4).total_cmp(&b.validation_loss(4)));
    assert_eq!(record.chosen, Some(best.unwrap().cell));
    assert_eq!(record.subject.rungs[0].settings, 8);
    assert_eq!(record.subject.splits.len(), 4);
    // The narrow first.
    let begun = begun.into_inner().unwrap();
    assert!(begun[..8].iter().all(|(_, repetition)| *repetition == 1));
    assert_eq!(
        begun[..4].iter().filter(|(hidden, _)| *hidden == 4).count(),
        4,
        "{begun:?}"
    );
    assert_eq!(HalvingRecord::load(&path).unwrap(), record);
}

/// Stopped after every run, on other threads, and never a run twice.
#[test]
fn an_interrupted_search_resumes_with_the_same_result() {
    let (mut search, graphs) = search();
    let folder = tempfile::tempdir().unwrap();
    let whole = search
        .run(&folder.path().join("whole.json"), &graphs, None, &go_on)
        .unwrap();
    search.parallelism = Parallelism::Inside;
    let path = folder.path().join("pieces.json");
    let trained = AtomicUsize::new(0);
    let mut calls = 0;
    let pieces = loop {
        let record = search
            .run(
                &path,
                &graphs,
                Some(format!("revision {calls}")),
                &|event| match event {
                    HalvingEvent::Done { .. } => {
                        trained.fetch_add(1, Ordering::Relaxed);
                        ControlFlow::Break(())
                    }
                    _ => ControlFlow::Continue(()),
                },
            )
            .unwrap();
        calls += 1;
        if record.chosen.is_some() {
            break record;
        }
        assert!(calls < 30);
    };
    // 8 settings once, 4 of them once more, 2 twice more.
    assert_eq!(trained.into_inner(), 16);
    assert!(
        pieces
            .revision
            .as_ref()
            .unwrap()
            .starts_with("revision 0, revision 1, ")
    );
    assert_eq!(timeless(pieces), timeless(whole));

    // One that is over only reads.
    let before = std::fs::read(&path).unwrap();
    search
        .run(&path, &graphs, Some("later".into()), &|_| {
            panic!("nothing is left to do")
        })
        .unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

fn rewritten(path: &Path, change: impl Fn(&mut HalvingRecord)) {
    let mut record = HalvingRecord::load(path).unwrap();
    change(&mut record);
    record.save(path).unwrap();
}

#[test]
fn tests_and_failures_are_not_chosen() {
    let (search, graphs) = search();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.json");
    let record = search.run(&path, &graphs, None, &go_on).unwrap();
    // The worst of all looks perfect in the test: the choice stays.
    rewritten(&path, |record| {
        record.chosen = None;
        for setting in &mut record.settings {
            let loss = setting.validation_loss(4);
            setting.runs.iter_mut().for_each(|run| run.test = Some(loss));
        }
    });
    let again = search.run(&path, &graphs, None, &go_on).unwrap();
    assert_eq!(again.chosen, record.chosen);
    // The chosen one diverges in its last repetition: the other is taken.
    rewritten(&path, |record| {
        let chosen = record.chosen.take();
        let setting = record
            .settings
            .iter_mut()
            .find(|setting| Some(setting.cell) == chosen);
        let setting = setting.unwrap();
        setting.runs.pop();
        setting.failures.push(egg_pool::protocol::Failure {
            repetition: 4,
            reason: "no number".into(),
        });
    });
    let again = search.run(&path, &graphs, None, &go_on).unwrap();
    assert!(again.chosen.is_some() && again.chosen != record.chosen);
    // And if the other did too, nothing is left.
    rewritten(&path, |record| {
        record.chosen = None;
        for setting in record
            .settings
            .iter_mut()
            .filter(|setting| setting.runs.len() == 4)
        {
            setting.runs.pop();
            setting.failures.push(egg_pool::protocol::Failure {
                repetition: 4,
                reason: "no number".into(),
            });
        }
    });
    let error = search.run(&path, &graphs, None, &go_on).unwrap_err();
    assert!(matches!(error, Error::AllCellsFailed { cells: 8, .. }), "{error}");
}

#[test]
fn files_of_other_searches_are_refused() {
    let (search, graphs) = search();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.json");
    let stop = |event: HalvingEvent<'_>| match event {
        HalvingEvent::Done { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    search.run(&path, &graphs, None, &stop).unwrap();
    let before = std::fs::read(&path).unwrap();
    let (mut seed, mut grid, mut rungs) = (search.clone(), search.clone(), search.clone());
    seed.experiment.seed = 1;
    grid.grid.dropout.push(0.5);
    rungs.rungs.pop();
    for other in [seed, grid, rungs] {
        let error = other.run(&path, &graphs, None, &go_on).unwrap_err();
        assert!(matches!(error, Error::OtherRun { .. }), "{error}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let mut empty = search;
    empty.grid.hidden.clear();
    let error = empty.run(&path, &graphs, None, &go_on).unwrap_err();
    assert!(matches!(error, Error::Setting { .. }), "{error}");
}
