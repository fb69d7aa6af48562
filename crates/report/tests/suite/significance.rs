//! Methods are compared split by split.

use approx::assert_abs_diff_eq;
use egg_report::{Method, Repetition, Verdict, compare};

fn method(name: &str, scores: &[f64], parts: (u64, u64, u64)) -> Method {
    let repetition = |(i, &score): (usize, &f64)| Repetition {
        split: format!("split {i}"),
        parts,
        test: Some(score),
        ..Repetition::default()
    };
    Method {
        name: name.to_owned(),
        repetitions: scores.iter().enumerate().map(repetition).collect(),
        ..Method::default()
    }
}

#[test]
fn comparison_ignores_repetition_order_and_missing_splits() {
    let parts = (80, 10, 10);
    let first = method("a", &[0.7, 0.8, 0.75, 0.9], parts);
    let second = method("b", &[0.72, 0.7, 0.7, 0.8], parts);
    let straight = compare(&first, &second).unwrap();
    let mut turned = second.clone();
    turned.repetitions.reverse();
    assert_eq!(compare(&first, &turned).unwrap(), straight);
    turned.repetitions.pop();
    assert_eq!(compare(&first, &turned).unwrap().pairs, 3);
    turned.repetitions.clear();
    assert_eq!(compare(&first, &turned), None);
}

#[test]
fn repetitions_on_one_split_are_paired_in_order() {
    let mut first = method("a", &[0.7, 0.8, 0.75], (80, 10, 10));
    let mut second = method("b", &[0.6, 0.7, 0.65], (80, 10, 10));
    for repetition in first.repetitions.iter_mut().chain(&mut second.repetitions) {
        repetition.split = "the paper's".to_owned();
    }
    let comparison = compare(&first, &second).unwrap();
    assert_eq!((comparison.pairs, comparison.splits), (3, 1));
    assert_abs_diff_eq!(comparison.difference, 0.1, epsilon = 1e-12);
}

#[test]
fn verdicts_match_hand_calculation() {
    let parts = (90, 0, 10);
    let same = compare(&method("a", &[0.5, 0.6], parts), &method("b", &[0.5, 0.6], parts)).unwrap();
    assert_eq!(same.verdict(same.p, false), Verdict::Same);
    // Equal on average is not equal on every split.
    let even = compare(
        &method("a", &[0.5, 0.75], parts),
        &method("b", &[0.75, 0.5], parts),
    )
    .unwrap();
    assert_eq!((even.difference, even.p), (0.0, 1.0));
    assert_eq!(even.verdict(even.p, false), Verdict::Noise);
    let one = compare(&method("a", &[0.5], parts), &method("b", &[0.6], parts)).unwrap();
    assert_eq!(one.verdict(one.p, false), Verdict::Unknown);
    let unknown = compare(
        &method("a", &[0.5, 0.7], (0, 0, 0)),
        &method("b", &[0.6, 0.5], (0, 0, 0)),
    )
    .unwrap();
    assert_eq!(unknown.verdict(unknown.p, false), Verdict::Unknown);
    let first = [0.80, 0.81, 0.79, 0.82, 0.80];
    let clear = compare(
        &method("a", &first, parts),
        &method("b", &[0.6, 0.6, 0.6, 0.6, 0.61], parts),
    )
    .unwrap();
    assert_eq!(clear.verdict(clear.p, false), Verdict::Better);
    assert_eq!(clear.verdict(clear.p, true), Verdict::Worse);
    let close = compare(
        &method("a", &first, parts),
        &method("b", &[0.81, 0.79, 0.80, 0.81, 0.80], parts),
    )
    .unwrap();
    assert_eq!(close.verdict(close.p, false), Verdict::Noise);
    // A difference that is the same on every split has no variance: certain.
    let constant = compare(
        &method("a", &[0.5, 0.75], parts),
        &method("b", &[0.25, 0.5], parts),
    )
    .unwrap();
    assert_eq!(
        (constant.p, constant.verdict(constant.p, false)),
        (0.0, Verdict::Better)
    );
}
