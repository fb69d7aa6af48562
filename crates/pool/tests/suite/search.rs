//! The grid search: every cell a record, killed and resumed, chosen by validation alone.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use egg_pool::Error;
use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{
    CellRecord, Grid, GridReport, GridSearch, Parallelism, Protocol, SearchEvent, SplitRule,
};
use egg_pool::train::Event;

use crate::small;

fn search(folder: &Path, protocol: Protocol) -> (GridSearch, PreparedGraphs) {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gcn", "egg");
    experiment.protocol = protocol;
    experiment.split_rule = SplitRule::new(protocol, &experiment.model.convolution);
    experiment.training.max_epochs = 2;
    experiment.repetitions = 2;
    let graphs = experiment.prepare(dataset).unwrap();
    let grid = Grid {
        learning_rate: vec![1e-2, 1e-5],
        weight_decay: vec![5e-4],
        hidden: vec![4],
        dropout: vec![0.0],
        threshold: vec![0.5, 0.8],
    };
    let search = GridSearch {
        experiment,
        grid,
        folder: folder.to_owned(),
        parallelism: Parallelism::Auto,
    };
    (search, graphs)
}

fn go_on(_: SearchEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Without times.
fn timeless(mut report: GridReport) -> GridReport {
    for cell in &mut report.cells {
        cell.repetitions.iter_mut().for_each(|run| run.seconds = 0.0);
    }
    report
}

fn records(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap();
    names
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .ends_with(".json")
        })
        .count()
}

#[test]
fn a_killed_search_resumes_with_the_same_result() {
    let whole = tempfile::tempdir().unwrap();
    let (uninterrupted, graphs) = search(whole.path(), Protocol::Paper);
    let expected = timeless(uninterrupted.run(&graphs, &go_on).unwrap());
    assert_eq!((expected.cells.len(), records(whole.path())), (4, 4));

    let folder = tempfile::tempdir().unwrap();
    let (mut search, graphs) = search(&folder.path().join("deeper/records"), Protocol::Paper);
    search.parallelism = Parallelism::Inside;
    // Killed in the middle of the third cell.
    let killed = search.run(&graphs, &|event| match event {
        SearchEvent::Training {
            cell: 2,
            event: Event::Batch { .. },
            ..
        } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(killed, Err(Error::Cancelled)));
    assert_eq!(records(search.folder()), 2);
    // What a crash would leave of a file that was being written.
    std::fs::write(search.folder().join(".egg-abc.part"), "{\"cell\":").unwrap();

    let trained = Mutex::new(Vec::new());
    let report = search.run(&graphs, &|event| {
        match event {
            SearchEvent::Started { done, cells } => assert_eq!((done, cells), (2, 4)),
            SearchEvent::Cell { cell, .. } => trained.lock().unwrap().push(cell),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    assert_eq!(timeless(report.unwrap()), expected);
    assert_eq!(*trained.lock().unwrap(), [2, 3]);

    // A search that is over only reads.
    let report = search.run(&graphs, &|event| {
        assert!(matches!(event, SearchEvent::Started { done: 4, .. }));
        ControlFlow::Continue(())
    });
    assert_eq!(timeless(report.unwrap()), expected);
}

#[test]
fn cells_are_chosen_by_validation_alone() {
    for &protocol in Protocol::ALL {
        let folder = tempfile::tempdir().unwrap();
        let (search, graphs) = search(folder.path(), protocol);
        let report = search.run(&graphs, &go_on).unwrap();
        // Rewrite the tests so that the worst cell looks best: the choice stays.
        for (index, record) in report.cells.iter().enumerate() {
            let mut record = record.clone();
            for run in &mut record.repetitions {
                let other = &report.cells[(index + 1) % report.cells.len()].repetitions[0];
                run.test.clone_from(&other.test);
            }
            let path = folder.path().join(format!("{}.json", record.cell));
            std::fs::write(path, egg_results::seal(&record).unwrap()).unwrap();
        }
        let again = search.run(&graphs, &go_on).unwrap();
        assert_eq!(again.chosen, report.chosen);
        assert_eq!(again.validation, report.validation);

        let metric = report.experiment.training.metric;
        let score = |cell: &CellRecord, at: usize| {
            let validation = &cell.repetitions[at].validation;
            validation.scores.get(metric).unwrap()
        };
        match protocol {
            Protocol::Paper => {
                assert_eq!(report.chosen[0], report.chosen[1]);
                let mean = |cell: &CellRecord| score(cell, 0) + score(cell, 1);
                let best = report.cells.iter().map(mean).fold(0.0, f64::max);
                assert_eq!(mean(&report.cells[report.chosen[0]]), best);
            }
            Protocol::Fair => {
                for (at, &chosen) in report.chosen.iter().enumerate() {
                    let best = report
                        .cells
                        .iter()
                        .map(|cell| score(cell, at))
                        .fold(0.0, f64::max);
                    assert_eq!(score(&report.cells[chosen], at), best);
                }
            }
        }
    }
}

#[test]
fn records_of_other_searches_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut search, graphs) = search(folder.path(), Protocol::Paper);
    search.grid.threshold.truncate(1);
    search.grid.learning_rate.truncate(1);
    search.run(&graphs, &go_on).unwrap();
    let mut other = search.clone();
    other.experiment.seed = 7;
    assert!(matches!(other.run(&graphs, &go_on), Err(Error::OtherRun { .. })));
    let others = search.experiment.prepare(small::dataset(42)).unwrap();
    assert!(matches!(search.run(&others, &go_on), Err(Error::OtherRun { .. })));
    let path = folder.path().join("lr0.01-wd0.0005-h4-d0-r0.5.json");
    std::fs::write(&path, "{").unwrap();
    assert!(matches!(search.run(&graphs, &go_on), Err(Error::Format { .. })));
    let mut empty = search.clone();
    empty.grid.hidden.clear();
    assert!(matches!(empty.run(&graphs, &go_on), Err(Error::Setting { .. })));
}

#[test]
fn a_cell_that_diverges_is_recorded_and_the_search_goes_on() {
    for (protocol, pooling) in [(Protocol::Paper, "egg"), (Protocol::Fair, "sum")] {
        let folder = tempfile::tempdir().unwrap();
        let (mut search, graphs) = search(folder.path(), protocol);
        search.experiment.model.pooling = pooling.parse().unwrap();
        search.grid.learning_rate = vec![1e38, 1e-2];
        search.grid.threshold.truncate(1);
        let report = search.run(&graphs, &go_on).unwrap();
        let [diverged, good] = report.cells.as_slice() else {
            panic!("{}", report.cells.len());
        };
        assert!(diverged.failed() && !good.failed());
        assert_eq!(diverged.failures.len() + diverged.repetitions.len(), 2);
        assert!(diverged.failures[0].reason.contains("epoch"), "{diverged:?}");
        assert_eq!(report.chosen, [1, 1]);
        assert!(report.test.is_some());
        // It is on disk: not trained again, whatever the threads.
        assert_eq!(records(folder.path()), 2);
        search.parallelism = Parallelism::Inside;
        let again = search.run(&graphs, &|event| {
            assert!(matches!(event, SearchEvent::Started { done: 2, .. }));
            ControlFlow::Continue(())
        });
        assert_eq!(again.unwrap(), report);
        // Nothing to choose from.
        search.grid.learning_rate.truncate(1);
        let refused = search.run(&graphs, &go_on).unwrap_err();
        assert!(
            matches!(&refused, Error::AllCellsFailed { cells: 1, first } if first.contains("epoch")),
            "{refused}"
        );
    }
}

#[test]
fn grids_search_the_threshold_of_poolings_that_have_one() {
    let folder = tempfile::tempdir().unwrap();
    let (search, _) = search(folder.path(), Protocol::Paper);
    let tried = |text: &str| {
        let mut experiment = search.experiment.clone();
        experiment.model.pooling = serde_json::from_str(text).unwrap();
        let cells = search.grid.cells(&experiment).into_iter();
        let poolings =
            cells.map(|cell| serde_json::to_string(&cell.apply(&experiment).model.pooling).unwrap());
        poolings.collect::<std::collections::BTreeSet<_>>()
    };
    for (pooling, part) in [
        (r#"{"kind": "egg"}"#, r#"{"threshold":0.8}"#),
        (
            r#"{"kind": "egg", "rank": {"relative": 0.1}}"#,
            r#"{"relative":0.8}"#,
        ),
        (r#"{"kind": "egg", "rank": {"energy": 0.9}}"#, r#"{"energy":0.8}"#),
        (r#"{"kind": "soft-egg"}"#, r#"{"resolvent":0.8}"#),
    ] {
        let found = tried(pooling);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|text| text.contains(part)), "{found:?}");
    }
    for pooling in [
        r#"{"kind": "soft-egg", "filter": "sqrt"}"#,
        r#"{"kind": "egg", "rank": {"fixed": 3}}"#,
    ] {
        assert_eq!(tried(pooling).len(), 1);
    }
}

/// A record is believed only as it was written.
#[test]
fn an_edited_record_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (search, graphs) = search(folder.path(), Protocol::Fair);
    let report = search.run(&graphs, &go_on).unwrap();
    let path = folder.path().join(format!("{}.json", report.cells[0].cell));
    let text = std::fs::read_to_string(&path).unwrap();
    let accuracy = text.lines().find(|line| line.contains("\"accuracy\":")).unwrap();
    let edited = text.replacen(accuracy, "\"accuracy\": 7.5,", 1);
    for (what, words) in [
        (edited, "changed after it was written"),
        (
            text.replace("\"checksum\"", "\"sum\""),
            "no record with a checksum",
        ),
        (
            serde_json::to_string(&report.cells[0]).unwrap(),
            "no record with a checksum",
        ),
    ] {
        std::fs::write(&path, what).unwrap();
        let refused = search.run(&graphs, &go_on).unwrap_err().to_string();
        assert!(
            refused.contains(words) && refused.contains("remove it"),
            "{refused}"
        );
    }
    // Numbers that no search can have come to, under a checksum of their own.
    let mut impossible = report.cells[0].clone();
    impossible.repetitions[0].best_epoch = 1000;
    std::fs::write(&path, egg_results::seal(&impossible).unwrap()).unwrap();
    let refused = search.run(&graphs, &go_on).unwrap_err().to_string();
    assert!(refused.contains("contradict"), "{refused}");
    // Removed, it is made again, to the same numbers.
    std::fs::remove_file(&path).unwrap();
    let again = search.run(&graphs, &go_on).unwrap();
    assert_eq!((again.chosen, again.test), (report.chosen, report.test));
}
