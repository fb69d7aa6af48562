//! Values against independent sources: 80-digit arithmetic (mpmath), SciPy and
//! Pymanopt. `fixtures/subspaces.py` made `fixtures/subspaces.json`.

use std::sync::LazyLock;

use approx::{abs_diff_eq, assert_abs_diff_eq, relative_eq};
use egg_geometry::{
    Distance, Extension, Factors, GrassmannPoint, RankRule, Workspace, extended_distance, extrinsic_mean,
    karcher_mean, principal_angles, principal_vectors, projector_distance, rectify,
};
use ndarray::Array2;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    angles: Vec<AngleCase>,
    distances: Vec<DistanceCase>,
    maps: Vec<MapCase>,
    karcher: Karcher,
    rectify: Vec<RectifyCase>,
    gradient: Vec<GradientCase>,
}

#[derive(Deserialize)]
struct Matrix {
    shape: (usize, usize),
    data: Vec<f64>,
}

#[derive(Deserialize)]
struct AngleCase {
    name: String,
    a: Matrix,
    b: Matrix,
    scipy: Vec<f64>,
    exact: Vec<f64>,
}

#[derive(Deserialize)]
struct DistanceCase {
    case: String,
    equal: Option<Distances>,
    containment: Option<Distances>,
    ye_lim: Option<Distances>,
}

#[derive(Deserialize)]
struct Distances {
    geodesic: f64,
    projection: f64,
    projection_full: f64,
    procrustes: f64,
    spectral: f64,
    gap: f64,
    asimov: f64,
    fubini_study: f64,
    binet_cauchy: f64,
    /// Infinite where absent.
    martin: Option<f64>,
}

#[derive(Deserialize)]
struct MapCase {
    name: String,
    a: Matrix,
    b: Matrix,
    log: Matrix,
    norm: f64,
    t: f64,
    exp: Matrix,
}

#[derive(Deserialize)]
struct Karcher {
    points: Vec<Matrix>,
    squared_geodesic_sum: f64,
    karcher_mean: Matrix,
    extrinsic_mean: Matrix,
}

#[derive(Deserialize)]
struct RectifyCase {
    name: String,
    h: Matrix,
    rank: usize,
    singular_values: Vec<f64>,
    p: usize,
    projector: Matrix,
}

#[derive(Deserialize)]
struct GradientCase {
    name: String,
    p: usize,
    w: Matrix,
    gradient: Matrix,
}

static FIXTURE: LazyLock<Fixture> =
    LazyLock::new(|| serde_json::from_str(include_str!("../fixtures/subspaces.json")).unwrap());

impl Matrix {
    fn array(&self) -> Array2<f64> {
        Array2::from_shape_vec(self.shape, self.data.clone()).unwrap()
    }

    fn point(&self) -> GrassmannPoint<f64> {
        GrassmannPoint::from_orthonormal(self.array()).unwrap()
    }
}

impl Distances {
    fn get(&self, distance: Distance) -> f64 {
        match distance {
            Distance::Geodesic => self.geodesic,
            Distance::Projection => self.projection,
            Distance::ProjectionFull => self.projection_full,
            Distance::Procrustes => self.procrustes,
            Distance::Spectral => self.spectral,
            Distance::Gap => self.gap,
            Distance::Asimov => self.asimov,
            Distance::FubiniStudy => self.fubini_study,
            Distance::BinetCauchy => self.binet_cauchy,
            Distance::Martin => self.martin.unwrap_or(f64::INFINITY),
            other => panic!("no value for {other:?} in the fixture"),
        }
    }
}

fn angle_case(name: &str) -> &'static AngleCase {
    FIXTURE.angles.iter().find(|case| case.name == name).unwrap()
}

fn largest_difference(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn angles_are_exact_to_1e_15_sqrt_m() {
    for case in &FIXTURE.angles {
        let (a, b) = (case.a.point(), case.b.point());
        let tolerance = 1e-15 * (a.ambient() as f64).sqrt();
        for (x, y) in [(&a, &b), (&b, &a)] {
            let angles = principal_angles(x, y).unwrap();
            let vectors = principal_vectors(x, y).unwrap();
            assert_eq!(angles.len(), case.exact.len(), "{}", case.name);
            for ((angle, of_vectors), exact) in angles.iter().zip(&vectors.angles).zip(&case.exact) {
                assert!(
                    abs_diff_eq!(angle, exact, epsilon = tolerance),
                    "{}: {angle:e} for {exact:e}",
                    case.name
                );
                assert!(
                    abs_diff_eq!(of_vectors, exact, epsilon = tolerance),
                    "{}: vectors, {of_vectors:e} for {exact:e}",
                    case.name
                );
            }
        }
    }
}

/// SciPy 1.17 picks the wrong formula for some angles where others lie on the
/// far side of pi/4: on `all_scales` it says 0 for 1e-14. Elsewhere it is good.
#[test]
fn angles_agree_with_scipy_where_scipy_is_right() {
    for case in FIXTURE.angles.iter().filter(|case| case.name != "all_scales") {
        let angles = principal_angles(&case.a.point(), &case.b.point()).unwrap();
        for (angle, scipy) in angles.iter().zip(&case.scipy) {
            assert!(
                abs_diff_eq!(angle, scipy, epsilon = 5e-15),
                "{}: {angle:e}, SciPy {scipy:e}",
                case.name
            );
        }
    }
}

#[test]
fn f32_angles_keep_f32_accuracy() {
    for case in &FIXTURE.angles {
        let single =
            |m: &Matrix| GrassmannPoint::from_orthonormal(m.array().mapv(|entry| entry as f32)).unwrap();
        let angles = principal_angles(&single(&case.a), &single(&case.b)).unwrap();
        for (angle, exact) in angles.iter().zip(&case.exact) {
            // Rounding the bases to f32 moves the angles by about sqrt(m) eps.
            let tolerance = 4.0 * f64::from(f32::EPSILON) * (case.a.shape.0 as f64).sqrt();
            assert!(
                abs_diff_eq!(f64::from(*angle), exact, epsilon = tolerance),
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn distances_match_fixture_values() {
    for case in &FIXTURE.distances {
        let pair = angle_case(&case.case);
        let (a, b) = (pair.a.point(), pair.b.point());
        let sets = [
            (&case.equal, Extension::Containment),
            (&case.equal, Extension::YeLim),
            (&case.containment, Extension::Containment),
            (&case.ye_lim, Extension::YeLim),
        ];
        for (expected, extension) in sets {
            let Some(expected) = expected else { continue };
            for &distance in Distance::ALL {
                let found = extended_distance(&a, &b, distance, extension).unwrap();
                let expected = expected.get(distance);
                let tolerance = 1e-14 * expected.max(1.0);
                // Not `abs_diff_eq`: infinity minus itself is not a number.
                assert!(
                    relative_eq!(found, expected, epsilon = tolerance, max_relative = 0.0),
                    "{} {distance:?} {extension:?}: {found:e} for {expected:e}",
                    case.case
                );
            }
        }
    }
}

#[test]
fn tiny_distances_keep_their_digits() {
    let case = FIXTURE
        .distances
        .iter()
        .find(|case| case.case == "tiny_1e-10")
        .unwrap();
    let pair = angle_case(&case.case);
    let expected = case.equal.as_ref().unwrap();
    for &distance in Distance::ALL {
        let found = extended_distance(&pair.a.point(), &pair.b.point(), distance, Extension::YeLim).unwrap();
        // An angle of 1e-10 is known to about 1e-16, a relative 1e-6.
        assert!(
            abs_diff_eq!(found / expected.get(distance), 1.0, epsilon = 5e-6),
            "{distance:?}: {found:e}"
        );
    }
    let found = projector_distance(&pair.a.point(), &pair.b.point()).unwrap();
    assert_abs_diff_eq!(found / expected.projection_full, 1.0, epsilon = 5e-6);
}

#[test]
fn logarithm_and_exponential_match_pymanopt() {
    for case in &FIXTURE.maps {
        let (a, b) = (case.a.point(), case.b.point());
        let log = a.log(&b).unwrap();
        let difference = largest_difference(&log.matrix().to_owned(), &case.log.array());
        assert!(difference < 1e-14, "{}: log off by {difference:e}", case.name);
        assert_abs_diff_eq!(log.norm(), case.norm, epsilon = 1e-14);
        let there = a.exp(&log.scaled(case.t)).unwrap();
        let apart = principal_angles(&there, &case.exp.point()).unwrap();
        assert!(apart.iter().all(|angle| *angle < 1e-14), "{}: {apart}", case.name);
    }
}

#[test]
fn means_match_fixture_values() {
    let case = &FIXTURE.karcher;
    let points: Vec<_> = case.points.iter().map(Matrix::point).collect();
    let karcher = karcher_mean(&points).unwrap();
    assert!(karcher.converged && karcher.unique);
    let apart = |a: &GrassmannPoint<f64>, b: &Matrix| projector_distance(a, &b.point()).unwrap();
    assert!(apart(&karcher.point, &case.karcher_mean) < 1e-11);
    assert_abs_diff_eq!(
        karcher.variance * points.len() as f64,
        case.squared_geodesic_sum,
        epsilon = 1e-13
    );
    let extrinsic = extrinsic_mean(&points, 2).unwrap();
    assert!(apart(&extrinsic.point, &case.extrinsic_mean) < 1e-14);
    // The two means are different points, so neither test passes for the other.
    assert!(apart(&extrinsic.point, &case.karcher_mean) > 1e-4);
}

#[test]
fn rectification_matches_fixture_singular_values_and_projectors() {
    for case in &FIXTURE.rectify {
        let h = case.h.array();
        let rule = RankRule::Fixed(case.p.max(1));
        let double = rectify(h.view(), rule).unwrap();
        assert_eq!(double.choice.p, case.p, "{}", case.name);
        assert_eq!(double.choice.numerical_rank, case.rank, "{}", case.name);
        let largest = case.singular_values[0];
        for (found, expected) in double.singular_values.iter().zip(&case.singular_values) {
            assert!(
                abs_diff_eq!(found, expected, epsilon = 4e-15 * largest),
                "{}: {found:e} {expected:e}",
                case.name
            );
        }
        let difference = largest_difference(&double.projector(), &case.projector.array());
        assert!(
            difference < 1e-14 / double.choice.gap.clamp(1e-3, 1.0),
            "{}: P off by {difference:e}",
            case.name
        );

        let single = rectify(h.mapv(|entry| entry as f32).view(), rule).unwrap();
        let difference = largest_difference(&single.projector().mapv(f64::from), &case.projector.array());
        assert!(
            difference < 1e-6 / double.choice.gap.clamp(1e-3, 1.0),
            "{}: f32 P off by {difference:e}",
            case.name
        );
    }
}

#[test]
fn gradients_match_80_digit_differences() {
    for case in &FIXTURE.gradient {
        let h = FIXTURE
            .rectify
            .iter()
            .find(|rectify| rectify.name == case.name)
            .unwrap()
            .h
            .array();
        let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
        factors
            .compute(h.view(), RankRule::Fixed(case.p), &mut workspace)
            .unwrap();
        assert_eq!(factors.choice().p, case.p);
        let found = factors
            .gradient(h.view(), case.w.array().view(), &mut workspace)
            .unwrap();
        let expected = case.gradient.array();
        let size = expected
            .iter()
            .fold(0.0, |most: f64, entry| most.max(entry.abs()));
        let difference = largest_difference(&found, &expected);
        assert!(
            difference <= 1e-11 * size,
            "{}: off by {difference:e} of {size:e}",
            case.name
        );
    }
}
