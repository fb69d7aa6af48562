//! Against SciPy (`tests/fixtures/significance.py`).

use egg_report::{Method, Repetition, Verdict, compare, holm, two_sided_p};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    student: Vec<(f64, f64, f64)>,
    paired: Vec<Paired>,
}

#[derive(Deserialize)]
struct Paired {
    train: u64,
    test: u64,
    first: Vec<f64>,
    second: Vec<f64>,
    difference: f64,
    t: f64,
    p: f64,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/significance.json")).unwrap()
}

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
fn student_is_scipys() {
    let fixture = fixture();
    assert!(fixture.student.len() > 100);
    for (t, freedom, expected) in fixture.student {
        let found = two_sided_p(t, freedom);
        // At a million degrees the logarithms themselves have fewer digits.
        let tolerance = if freedom > 1e5 { 1e-9 } else { 1e-12 };
        let error = (found - expected).abs() / expected.max(1e-300);
        assert!(
            error < tolerance || found == expected,
            "t {t}, {freedom} degrees: {found}, SciPy {expected}, {error:e}"
        );
    }
}

/// With one and two degrees there are closed forms.
#[test]
fn student_of_one_and_two_degrees() {
    for t in [1e-12f64, 1e-8, 1e-3, 0.5, 3.0, 1e3, 1e8] {
        let one = std::f64::consts::FRAC_2_PI * (1.0 / t).atan();
        assert!(
            (two_sided_p(t, 1.0) - one).abs() < 1e-13 * one,
            "t {t}: {} {one}",
            two_sided_p(t, 1.0)
        );
        let root = (2.0 + t * t).sqrt();
        let two = 2.0 / (root * (root + t));
        assert!(
            (two_sided_p(t, 2.0) - two).abs() < 1e-13 * two,
            "t {t}: {} {two}",
            two_sided_p(t, 2.0)
        );
    }
    assert_eq!(two_sided_p(f64::INFINITY, 3.0), 0.0);
    assert!(two_sided_p(f64::NAN, 3.0).is_nan() && two_sided_p(1.0, 0.0).is_nan());
}

#[test]
fn the_corrected_paired_test_is_scipys() {
    for case in fixture().paired {
        let parts = (case.train, 10, case.test);
        let found = compare(
            &method("a", &case.first, parts),
            &method("b", &case.second, parts),
        )
        .unwrap();
        assert_eq!(found.pairs, case.first.len());
        assert!((found.difference - case.difference).abs() < 1e-14);
        assert!(
            (found.t - case.t).abs() < 1e-11 * case.t.abs().max(1.0),
            "{} {}",
            found.t,
            case.t
        );
        assert!((found.p - case.p).abs() < 1e-11, "{} {}", found.p, case.p);
    }
}

#[test]
fn order_of_repetitions_does_not_matter_and_missing_splits_are_left_out() {
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
    assert!((comparison.difference - 0.1).abs() < 1e-12);
}

#[test]
fn holm_by_hand() {
    // 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 but not below the one before.
    let corrected = holm(&[0.04, 0.005, f64::NAN, 0.03, 0.01]);
    assert!(corrected[2].is_nan());
    for (found, expected) in [(0, 0.06), (1, 0.02), (3, 0.06), (4, 0.03)] {
        assert!((corrected[found] - expected).abs() < 1e-15, "{corrected:?}");
    }
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn verdicts() {
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
