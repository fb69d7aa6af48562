//! Model folders of earlier versions: read where that is exact, refused otherwise.
//! `tests/fixtures/format-1` was written by the last version of that format, with what
//! it predicted.

use std::path::PathBuf;

use approx::abs_diff_eq;
use egg_graph::{GraphDataset, ReadOptions, read_tu};
use egg_pool::folder::{Prediction, TrainedModel};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/format-1")
        .join(name)
}

fn data(name: &str) -> GraphDataset {
    read_tu(&fixture(name), &ReadOptions::default()).unwrap()
}

fn first_probabilities(predictions: &[Prediction]) -> Vec<f64> {
    let first = |prediction: &Prediction| match prediction {
        Prediction::Class { probabilities, .. } => probabilities[0],
        Prediction::Numbers(_) => panic!("classes"),
    };
    predictions.iter().map(first).collect()
}

/// The column `p(-1)` of what the earlier version predicted.
fn recorded(name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(fixture(&format!("{name}-predictions.csv"))).unwrap();
    let column = |line: &str| line.split(',').nth(2).unwrap().parse().unwrap();
    text.lines().skip(1).map(column).collect()
}

fn assert_same(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            abs_diff_eq!(found, expected, epsilon = 1e-5),
            "{found}, recorded {expected}"
        );
    }
}

#[test]
fn old_model_of_unchanged_meaning_predicts_as_recorded() {
    // Degrees, and a sum: nothing has changed.
    let plain = TrainedModel::load(fixture("PLAIN-sum")).unwrap();
    assert_eq!(plain.config().format, 1);
    let all = data("PLAIN");
    let found = first_probabilities(&plain.predict(all.clone()).unwrap());
    assert_same(&found, &recorded("PLAIN-sum"));
    let some = [3, 1, 20];
    let part = first_probabilities(&plain.predict(all.subset(&some).unwrap()).unwrap());
    assert_same(&part, &some.map(|graph| recorded("PLAIN-sum")[graph]));

    // Node labels: what the columns were is not known, but of the training data themselves.
    let labelled = TrainedModel::load(fixture("SHAPES-sum")).unwrap();
    let all = data("SHAPES");
    let found = first_probabilities(&labelled.predict(all.clone()).unwrap());
    assert_same(&found, &recorded("SHAPES-sum"));
    let refused = labelled
        .predict(all.subset(&some).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("earlier version") && refused.contains("train it again"),
        "{refused}"
    );

    // It is still of that format when it is saved again.
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again");
    labelled.save(&again).unwrap();
    let loaded = TrainedModel::load(&again).unwrap();
    assert!(loaded.predict(all.subset(&some).unwrap()).is_err());
    assert!(loaded.predict(all).is_ok());
}

#[test]
fn old_model_of_changed_meaning_is_refused_with_the_remedy() {
    let refused = TrainedModel::load(fixture("SHAPES-egg")).unwrap_err().to_string();
    assert!(
        refused.contains("format 1") && refused.contains("train the model again"),
        "{refused}"
    );
}
