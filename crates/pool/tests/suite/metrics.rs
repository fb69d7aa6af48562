//! Metrics against scikit-learn (`tests/fixtures/metrics.py`), and where they
//! are not defined.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_pool::Error;
use egg_pool::metrics::{
    ConfusionMatrix, Metric, Scores, accuracy, average_precision, balanced_accuracy, mean_absolute_error,
    mean_squared_error, roc_auc, root_mean_squared_error,
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    ranking: Vec<Ranking>,
    classification: Vec<Classification>,
    regression: Vec<Regression>,
}

#[derive(Deserialize)]
struct Ranking {
    truth: Vec<bool>,
    scores: Vec<f64>,
    roc_auc: f64,
    average_precision: f64,
}

#[derive(Deserialize)]
struct Classification {
    truth: Vec<u32>,
    predicted: Vec<u32>,
    classes: usize,
    accuracy: f64,
    balanced_accuracy: f64,
    confusion: Vec<Vec<u64>>,
}

#[derive(Deserialize)]
struct Regression {
    truth: Vec<f64>,
    predicted: Vec<f64>,
    mae: f64,
    mse: f64,
    rmse: f64,
}

fn close(ours: f64, theirs: f64) {
    assert_abs_diff_eq!(ours, theirs, epsilon = 1e-12 * theirs.abs().max(1.0));
}

#[test]
fn metrics_are_those_of_scikit_learn() {
    let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/metrics.json")).unwrap();
    assert!(fixture.ranking.len() >= 6 && fixture.classification.len() >= 4 && fixture.regression.len() >= 3);
    for case in &fixture.ranking {
        close(roc_auc(&case.truth, &case.scores).unwrap(), case.roc_auc);
        close(
            average_precision(&case.truth, &case.scores).unwrap(),
            case.average_precision,
        );
    }
    for case in &fixture.classification {
        let (truth, predicted) = (&case.truth, &case.predicted);
        close(accuracy(truth, predicted).unwrap(), case.accuracy);
        close(
            balanced_accuracy(truth, predicted).unwrap(),
            case.balanced_accuracy,
        );
        let confusion = ConfusionMatrix::new(truth, predicted, case.classes).unwrap();
        assert_eq!(confusion.counts(), case.confusion);
    }
    for case in &fixture.regression {
        close(
            mean_absolute_error(&case.truth, &case.predicted).unwrap(),
            case.mae,
        );
        close(
            mean_squared_error(&case.truth, &case.predicted).unwrap(),
            case.mse,
        );
        close(
            root_mean_squared_error(&case.truth, &case.predicted).unwrap(),
            case.rmse,
        );
    }
}

#[test]
fn undefined_metrics_are_errors() {
    for metric in [roc_auc, average_precision] {
        let present = |truth: &[bool]| match metric(truth, &[0.1, 0.2]).unwrap_err() {
            Error::OneClass {
                present, items: 2, ..
            } => present,
            other => panic!("{other}"),
        };
        assert_eq!(present(&[true, true]), "positive");
        assert_eq!(present(&[false, false]), "negative");
        assert!(matches!(metric(&[], &[]), Err(Error::NoItems { .. })));
        assert!(matches!(metric(&[true], &[]), Err(Error::Length { .. })));
        let refused = metric(&[true, false], &[0.0, f64::NAN]);
        assert!(matches!(refused, Err(Error::NonFinite { index: 1, .. })));
    }
    assert!(matches!(accuracy(&[], &[]), Err(Error::NoItems { .. })));
    assert!(matches!(balanced_accuracy(&[1], &[]), Err(Error::Length { .. })));
    assert!(matches!(
        ConfusionMatrix::new(&[2], &[0], 2),
        Err(Error::Setting { .. })
    ));
    assert!(matches!(
        mean_absolute_error(&[], &[]),
        Err(Error::NoItems { .. })
    ));
    let refused = mean_squared_error(&[0.0, f64::INFINITY], &[0.0, 0.0]);
    assert!(matches!(refused, Err(Error::NonFinite { index: 1, .. })));
}

#[test]
fn undefined_metrics_are_none() {
    let scores = Scores::from_logits(&[1, 1], &[vec![0.0, 1.0], vec![2.0, 1.0]]).unwrap();
    assert_eq!(scores.get(Metric::ACCURACY), Some(0.5));
    assert_eq!(scores.get(Metric::ROC_AUC), None); // one class only
    let scores = Scores::from_logits(&[0, 2], &[vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]]).unwrap();
    assert_eq!(scores.get(Metric::ROC_AUC), None); // three classes
    let scores = Scores::from_numbers(&[3.0, 0.0], &[0.0, 0.0]).unwrap();
    assert_eq!(scores.get(Metric::RMSE), Some(4.5f64.sqrt()));
    let text = serde_json::to_string(&scores).unwrap();
    assert_eq!(serde_json::from_str::<Scores>(&text).unwrap(), scores);
}

proptest! {
    /// The area is the share of pairs in the right order, counted one by one.
    #[test]
    fn roc_auc_is_the_share_of_ordered_pairs(items in proptest::collection::vec((any::<bool>(), 0u8..6), 2..60)) {
        let truth: Vec<bool> = items.iter().map(|item| item.0).collect();
        let scores: Vec<f64> = items.iter().map(|item| f64::from(item.1)).collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for (positive, high) in items.iter().filter(|item| item.0) {
            let _ = positive;
            for (_, low) in items.iter().filter(|item| !item.0) {
                pairs += 1.0;
                won += if high > low { 1.0 } else if high == low { 0.5 } else { 0.0 };
            }
        }
        match roc_auc(&truth, &scores) {
            Ok(area) => {
                prop_assert!(abs_diff_eq!(area, won / pairs, epsilon = 1e-12));
                // Turning the scores round turns the area round.
                let turned: Vec<f64> = scores.iter().map(|score| -score).collect();
                prop_assert!(abs_diff_eq!(roc_auc(&truth, &turned).unwrap(), 1.0 - area, epsilon = 1e-12));
            }
            Err(_) => prop_assert_eq!(pairs, 0.0),
        }
    }
}
