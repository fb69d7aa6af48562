//! Records for tests.

use egg_pool::protocol::{Cell as Setting, Failure, Grid, RepetitionRecord, RunRecord};
use serde_json::{Value, json};

use crate::halving::{HalvingRecord, HalvingSubject, TriedRun, TriedSetting};

fn part(accuracy: f64) -> Value {
    // 80 graphs to train on, 10 to validate and 10 to test with.
    json!({"loss": 0.5, "scores": {"of": "classes", "accuracy": accuracy, "balanced_accuracy": accuracy, "roc_auc": null,
        "average_precision": null, "confusion": [[4, 1], [2, 3]]}})
}

/// One repetition with these accuracies of validation and test.
pub(super) fn repetition(validation: f64, test: f64) -> RepetitionRecord {
    let value = json!({"validation": part(validation), "test": part(test), "best_epoch": 1, "epochs": 1, "seconds": 1.0});
    serde_json::from_value(value).unwrap()
}

/// A record of GCN-EGG on 100 graphs with these test accuracies, each on a split of its own.
pub(super) fn record(accuracies: &[f64]) -> RunRecord {
    let splits: Vec<String> = (0..accuracies.len()).map(|at| at.to_string()).collect();
    let experiment = json!({"protocol": "paper", "repetitions": 10, "seed": 0,
        "training": {"objective": "cross-entropy", "metric": "accuracy", "batch_size": 32, "max_epochs": 200, "patience": 20,
            "learning_rate": 0.005, "weight_decay": 0.0005, "batch_loss": "sum", "clip_norm": null,
            "schedule": {"plateau": {"factor": 0.7, "patience": 5, "threshold": 0.0001, "min_rate": 0.0}}},
        "model": {"architecture": "gcn", "layers": 2, "hidden": 32, "rectify": true, "node_norm": false, "virtual_node": false,
            "features": "as-they-are", "pooling": {"kind": "egg", "flatten": "upper", "rank": {"threshold": 0.5}},
            "head": {"widths": [64, 16], "dropout": 0.5, "output_norm": true}}});
    let machine =
        json!({"os": "linux", "architecture": "x86_64", "processor": "p", "cores": 2, "threads": 2});
    let record = json!({"format": 1, "dataset": "PROTEINS", "graphs": 100, "fingerprint": "abcdefabcdefabcdef",
        "experiment": experiment, "splits": splits, "repetitions": [], "validation_loss": null, "validation": null,
        "test": null, "seconds": 1.0, "written": 0, "version": "0.1.0", "revision": "r", "machine": machine});
    let mut record: RunRecord = serde_json::from_value(record).unwrap();
    record.repetitions = accuracies.iter().map(|test| repetition(0.9, *test)).collect();
    record
}

/// A search of four settings: one tried twice and chosen, one tried once, one that diverged, one not tried.
pub(super) fn search() -> HalvingRecord {
    let run = |repetition, validation_loss, validation, test| TriedRun {
        repetition,
        validation_loss,
        validation: Some(validation),
        test: Some(test),
        best_epoch: 1,
        epochs: 1,
        seconds: 2.0,
        rank: None,
    };
    let setting = |learning_rate, runs, failures| TriedSetting {
        cell: Setting {
            learning_rate,
            weight_decay: 5e-4,
            hidden: 32,
            dropout: 0.0,
            threshold: Some(0.5),
        },
        runs,
        failures,
    };
    let diverged = Failure {
        repetition: 1,
        reason: "no number".to_owned(),
    };
    let of = record(&[]);
    let settings = vec![
        setting(
            0.005,
            vec![run(1, 0.4, 0.80, 0.75), run(2, 0.5, 0.70, 0.76)],
            vec![],
        ),
        setting(0.001, vec![run(1, 0.6, 0.60, 0.79)], vec![]),
        setting(0.0005, vec![], vec![diverged]),
        setting(0.0001, vec![], vec![]),
    ];
    HalvingRecord {
        subject: HalvingSubject {
            format: 1,
            dataset: of.dataset,
            graphs: of.graphs,
            fingerprint: of.fingerprint,
            experiment: of.experiment,
            grid: Grid::paper(),
            rungs: Vec::new(),
            splits: Vec::new(),
        },
        revision: Some("abc".to_owned()),
        machine: of.machine,
        chosen: Some(settings[0].cell),
        settings,
    }
}
