//! Model folders of earlier versions: read where that is exact, refused otherwise.
//! `tests/fixtures/format-1` and `format-2` were written by the last version of their format, with what
//! it predicted. The data are those of `format-1`.

use std::path::PathBuf;

use approx::abs_diff_eq;
use egg_graph::{GraphDataset, ReadOptions, read_tu};
use egg_pool::folder::{Prediction, TrainedModel};

fn fixture(name: &str) -> PathBuf {
    of_format(1, name)
}

fn of_format(format: u64, name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/fixtures/format-{format}"))
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
    recorded_by(1, name)
}

fn recorded_by(format: u64, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(of_format(format, &format!("{name}-predictions.csv"))).unwrap();
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

#[test]
fn folders_of_format_2_predict_the_same() {
    for (name, dataset, convolution, pooling) in [
        ("gcn-egg", "SHAPES", "gcn", "egg:threshold=0.3"),
        ("gin-soft-egg", "PLAIN", "gin", "soft-egg"),
        ("blind", "SHAPES", "blind", "sum"),
    ] {
        let trained = TrainedModel::load(of_format(2, name)).unwrap();
        let config = trained.config();
        assert_eq!(config.model.convolution.to_string(), convolution);
        assert_eq!(config.model.pooling.to_string(), pooling);
        assert_eq!(config.model.activation, name == "blind");
        let found = first_probabilities(&trained.predict(data(dataset)).unwrap());
        assert_same(&found, &recorded_by(2, name));

        let folder = tempfile::tempdir().unwrap();
        let again = folder.path().join("again");
        trained.save(&again).unwrap();
        let loaded = TrainedModel::load(&again).unwrap();
        assert_eq!(
            loaded.predict(data(dataset)).unwrap(),
            trained.predict(data(dataset)).unwrap()
        );
    }
}
