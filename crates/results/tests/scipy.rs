//! Against SciPy (`tests/fixtures/significance.py`).

use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_results::{Pair, holm, paired, two_sided_p};
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
    serde_json::from_str(include_str!("fixtures/significance.json")).unwrap()
}

#[test]
fn student_matches_scipy() {
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
fn student_matches_closed_forms_at_one_and_two_degrees() {
    for t in [1e-12f64, 1e-8, 1e-3, 0.5, 3.0, 1e3, 1e8] {
        let one = std::f64::consts::FRAC_2_PI * (1.0 / t).atan();
        assert!(
            abs_diff_eq!(two_sided_p(t, 1.0), one, epsilon = 1e-13 * one),
            "t {t}: {} {one}",
            two_sided_p(t, 1.0)
        );
        let root = (2.0 + t * t).sqrt();
        let two = 2.0 / (root * (root + t));
        assert!(
            abs_diff_eq!(two_sided_p(t, 2.0), two, epsilon = 1e-13 * two),
            "t {t}: {} {two}",
            two_sided_p(t, 2.0)
        );
    }
    assert_eq!(two_sided_p(f64::INFINITY, 3.0), 0.0);
    assert!(two_sided_p(f64::NAN, 3.0).is_nan() && two_sided_p(1.0, 0.0).is_nan());
}

#[test]
fn corrected_paired_test_matches_scipy() {
    for case in fixture().paired {
        let scores = case.first.iter().zip(&case.second);
        let pairs: Vec<Pair<'_>> = scores
            .map(|(first, second)| Pair {
                split: "",
                first: *first,
                second: *second,
                train: case.train,
                test: case.test,
            })
            .collect();
        let found = paired(&pairs).unwrap();
        assert_eq!(found.pairs, case.first.len());
        assert_abs_diff_eq!(found.difference, case.difference, epsilon = 1e-14);
        assert_abs_diff_eq!(found.t, case.t, epsilon = 1e-11 * case.t.abs().max(1.0));
        assert_abs_diff_eq!(found.p, case.p, epsilon = 1e-11);
    }
}

#[test]
fn holm_matches_hand_calculation() {
    // 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 but not below the one before.
    let corrected = holm(&[0.04, 0.005, f64::NAN, 0.03, 0.01]);
    assert!(corrected[2].is_nan());
    for (found, expected) in [(0, 0.06), (1, 0.02), (3, 0.06), (4, 0.03)] {
        assert!(
            abs_diff_eq!(corrected[found], expected, epsilon = 1e-15),
            "{corrected:?}"
        );
    }
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    assert!(holm(&[]).is_empty());
}
