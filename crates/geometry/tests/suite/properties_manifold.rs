//! Tangent vectors, geodesics, transport, retractions and flattening.

use std::f64::consts::FRAC_PI_2;

use crate::strategies::{
    cases, dimensions, frobenius, gaussian, matrix_of, max_abs, orthonormal, orthonormality_defect,
    pair_with_angles, projectors_apart, random_point, rebased, roomy_dimensions, rotated, tangent_of_length,
    tangent_with_angles,
};
use approx::{abs_diff_eq, relative_eq};
use egg_geometry::{
    Distance, Flatten, GrassmannPoint, Tangent, distance, exp_batch, injectivity_radius, log_batch,
    nearest_point, nearest_point_to_flat,
};
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;

/// Rounding of a handful of products of matrices with entries below 1.
const ROUNDING: f64 = 1e-13;

fn geodesic(a: &GrassmannPoint<f64>, b: &GrassmannPoint<f64>) -> f64 {
    distance(a, b, Distance::Geodesic).unwrap()
}

fn apart(a: &Tangent<f64>, b: &Tangent<f64>) -> f64 {
    frobenius((&a.matrix() - &b.matrix()).view())
}

/// Angles of a logarithm: tiny ones, zeros and large ones together.
fn short_angle() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        2 => (-12.0..-2.0f64).prop_map(|exponent| 10f64.powf(exponent)),
        5 => 0.0..FRAC_PI_2 - 1e-3,
    ]
}

/// A point of Gr(p, m) and p angles.
fn point_and_angles() -> impl Strategy<Value = (GrassmannPoint<f64>, Vec<f64>, u64)> {
    (roomy_dimensions(), vec(short_angle(), 3), any::<u64>())
        .prop_map(|((m, p), angles, seed)| (random_point(m, p, seed), angles[..p].to_vec(), seed))
}

fn norm(angles: &[f64]) -> f64 {
    angles.iter().map(|angle| angle * angle).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn tangent_projection_is_an_orthogonal_projection(
        (m, p) in dimensions(7),
        size in -8.0..8.0f64,
        seed in any::<u64>(),
    ) {
        let point = random_point(m, p, seed);
        let scale = 10f64.powf(size);
        let z = gaussian(m, p, seed ^ 1) * scale;
        let d = point.project_to_tangent(z.view()).unwrap();
        prop_assert!(max_abs(point.basis().t().dot(&d.matrix()).view()) <= ROUNDING * scale);
        prop_assert!(apart(&point.project_to_tangent(d.matrix()).unwrap(), &d) <= ROUNDING * scale);
        // What is taken away is orthogonal to every tangent vector.
        let other = point.project_to_tangent(gaussian(m, p, seed ^ 2).view()).unwrap();
        let away = &z - &d.matrix();
        let inner: f64 = away.iter().zip(other.matrix()).map(|(a, b)| a * b).sum();
        prop_assert!(inner.abs() <= ROUNDING * scale);
        prop_assert!(point.tangent(d.matrix().to_owned()).is_ok());
        prop_assert_eq!(point.manifold_dimension(), p * (m - p));
        if p == m {
            prop_assert!(d.norm() <= ROUNDING * scale);
        }
    }

    #[test]
    fn log_inverts_exp((point, angles, seed) in point_and_angles()) {
        let d = tangent_with_angles(&point, &angles, seed);
        let there = point.exp(&d).unwrap();
        prop_assert!(orthonormality_defect(there.basis()) <= 1e-14);
        prop_assert!(abs_diff_eq!(geodesic(&point, &there), norm(&angles), epsilon = ROUNDING));
        let back = point.log(&there).unwrap();
        // Near the cut locus (cos = 1e-3) an error turns the matching of principal
        // vectors by up to eps / 1e-3.
        let tolerance = if angles.iter().all(|angle| *angle < 1.5) {
            ROUNDING
        } else {
            1e-11
        };
        prop_assert!(
            apart(&back, &d) <= tolerance,
            "{angles:?}: {:e}",
            apart(&back, &d)
        );
        prop_assert!(abs_diff_eq!(back.norm(), norm(&angles), epsilon = ROUNDING));
        prop_assert_eq!(injectivity_radius::<f64>(), FRAC_PI_2);
    }

    #[test]
    fn exp_inverts_log((m, p) in roomy_dimensions(), all in vec(short_angle(), 3), seed in any::<u64>()) {
        let (a, b) = pair_with_angles(m, &all[..p], p, seed);
        let d = a.log(&b).unwrap();
        prop_assert!(max_abs(a.basis().t().dot(&d.matrix()).view()) <= ROUNDING);
        prop_assert!(abs_diff_eq!(d.norm(), norm(&all[..p]), epsilon = ROUNDING));
        let there = a.exp(&d).unwrap();
        prop_assert!(geodesic(&there, &b) <= ROUNDING, "{:e}", geodesic(&there, &b));
        prop_assert_eq!(&exp_batch(&[(&a, &d), (&a, &d.scaled(0.5))]).unwrap()[0], &there);
        prop_assert_eq!(&log_batch(&[(&b, &a), (&a, &b)]).unwrap()[1], &d);
    }

    #[test]
    fn opposite_subspaces_have_a_logarithm(
        (m, p) in roomy_dimensions(),
        all in vec(0.0..1.5f64, 3),
        seed in any::<u64>(),
    ) {
        let mut angles = all[..p].to_vec();
        angles[0] = FRAC_PI_2;
        let (a, b) = pair_with_angles(m, &angles, p, seed);
        let d = a.log(&b).unwrap();
        prop_assert!(abs_diff_eq!(d.norm(), norm(&angles), epsilon = ROUNDING));
        prop_assert!(geodesic(&a.exp(&d).unwrap(), &b) <= ROUNDING);
    }

    #[test]
    fn geodesic_has_constant_speed(
        (m, p) in roomy_dimensions(),
        all in vec(short_angle(), 3),
        time in -1.0..1.0f64,
        seed in any::<u64>(),
    ) {
        let (a, b) = pair_with_angles(m, &all[..p], p, seed);
        let length = geodesic(&a, &b);
        let on_the_way = a.geodesic(&b, time).unwrap();
        prop_assert!(abs_diff_eq!(geodesic(&a, &on_the_way), time.abs() * length, epsilon = ROUNDING));
        if time >= 0.0 {
            prop_assert!(abs_diff_eq!(geodesic(&on_the_way, &b), (1.0 - time) * length, epsilon = ROUNDING));
        }
        prop_assert!(geodesic(&a.geodesic(&b, 0.0).unwrap(), &a) <= ROUNDING);
        prop_assert!(geodesic(&a.geodesic(&b, 1.0).unwrap(), &b) <= ROUNDING);
        // Turning round: the same curve from the other end.
        let back = b.geodesic(&a, 1.0 - time).unwrap();
        prop_assert!(
            geodesic(&back, &on_the_way) <= 1e-11,
            "{:e}",
            geodesic(&back, &on_the_way)
        );
    }

    #[test]
    fn full_turn_geodesic_returns_to_its_start(
        (m, p) in roomy_dimensions(),
        turns in 1..4i32,
        seed in any::<u64>(),
    ) {
        let point = random_point(m, p, seed);
        let angles = vec![std::f64::consts::PI * f64::from(turns); p];
        let d = tangent_with_angles(&point, &angles, seed);
        prop_assert!(geodesic(&point.exp(&d).unwrap(), &point) <= ROUNDING);
    }

    #[test]
    fn maps_commute_with_rotations((point, angles, seed) in point_and_angles()) {
        let d = tangent_with_angles(&point, &angles, seed);
        let rotation = orthonormal(point.ambient(), point.ambient(), seed ^ 3);
        let (turned, along) = (rotated(&point, &rotation), rotation.dot(&d.matrix()));
        let along = turned.tangent(along).unwrap();
        let there = rotated(&point.exp(&d).unwrap(), &rotation);
        prop_assert!(geodesic(&turned.exp(&along).unwrap(), &there) <= ROUNDING);
    }

    #[test]
    fn transport_is_an_isometry(
        (point, angles, seed) in point_and_angles(),
        lengths in [0.1..3.0f64, 0.1..3.0f64],
    ) {
        let along = tangent_with_angles(&point, &angles, seed);
        let (x, y) = (
            tangent_of_length(&point, lengths[0], seed ^ 1),
            tangent_of_length(&point, lengths[1], seed ^ 2),
        );
        let (there_x, there_y) = (
            point.transport(&along, &x).unwrap(),
            point.transport(&along, &y).unwrap(),
        );
        let end = point.exp(&along).unwrap();
        let (here, there) = (x.inner(&y).unwrap(), there_x.inner(&there_y).unwrap());
        prop_assert!(abs_diff_eq!(here, there, epsilon = 10.0 * ROUNDING));
        prop_assert!(abs_diff_eq!(there_x.norm(), lengths[0], epsilon = ROUNDING * lengths[0].max(1.0)));
        prop_assert!(max_abs(end.basis().t().dot(&there_x.matrix()).view()) <= ROUNDING);
        prop_assert!(end.tangent(there_x.matrix().to_owned()).is_ok());
        // Linear.
        let sum = point.tangent(&x.matrix() + &y.matrix()).unwrap();
        let there_sum = point.transport(&along, &sum).unwrap();
        let difference = &there_sum.matrix() - &there_x.matrix() - there_y.matrix();
        prop_assert!(max_abs(difference.view()) <= ROUNDING);
    }

    #[test]
    fn geodesic_transports_its_own_velocity(
        (point, angles, seed) in point_and_angles(),
        half in any::<bool>(),
    ) {
        let d = tangent_with_angles(&point, &angles, seed);
        let end = point.exp(&d).unwrap();
        let velocity = point.transport(&d, &d).unwrap();
        let home = end.log(&point).unwrap().scaled(-1.0);
        let tolerance = if angles.iter().all(|angle| *angle < 1.5) {
            ROUNDING
        } else {
            1e-11
        };
        prop_assert!(
            apart(&velocity, &home) <= tolerance,
            "{:e}",
            apart(&velocity, &home)
        );
        // There and back again.
        let carried = tangent_of_length(&point, 1.0, seed ^ 5);
        let returned = end
            .transport(&velocity.scaled(-1.0), &point.transport(&d, &carried).unwrap())
            .unwrap();
        prop_assert!(apart(&returned, &carried) <= 10.0 * ROUNDING);
        // In two halves.
        if half {
            let middle = point.exp(&d.scaled(0.5)).unwrap();
            let there = point.transport(&d.scaled(0.5), &carried).unwrap();
            let speed = point.transport(&d.scaled(0.5), &d.scaled(0.5)).unwrap();
            let twice = middle.transport(&speed, &there).unwrap();
            prop_assert!(apart(&twice, &point.transport(&d, &carried).unwrap()) <= 10.0 * ROUNDING);
        }
    }

    #[test]
    fn retractions_span_the_sum((point, _, seed) in point_and_angles(), length in 0.0..20.0f64) {
        let d = tangent_of_length(&point, length, seed);
        let sum = GrassmannPoint::from_spanning((&point.basis() + &d.matrix()).view()).unwrap();
        let (qr, polar) = (point.retract_qr(&d).unwrap(), point.retract_polar(&d).unwrap());
        prop_assert!(geodesic(&qr, &sum) <= ROUNDING);
        prop_assert!(geodesic(&polar, &sum) <= ROUNDING, "{:e}", geodesic(&polar, &sum));
        prop_assert!(orthonormality_defect(qr.basis()) <= 1e-14);
        prop_assert!(orthonormality_defect(polar.basis()) <= 1e-14);
        // The polar factor is the basis nearest to U + D: its product with it is
        // symmetric positive definite. The QR factor leaves a triangle.
        let moved = &point.basis() + &d.matrix();
        let stretch = polar.basis().t().dot(&moved);
        prop_assert!(abs_diff_eq!(stretch, stretch.t(), epsilon = ROUNDING * (1.0 + length)));
        let triangle = qr.basis().t().dot(&moved);
        for ((row, column), entry) in triangle.indexed_iter() {
            prop_assert!(row <= column || entry.abs() <= ROUNDING * (1.0 + length));
            prop_assert!(row != column || *entry > 0.0);
        }
    }

    #[test]
    fn retractions_agree_with_exp_to_their_order(
        (point, _, seed) in point_and_angles(),
        all in vec(0.01..1.5f64, 3),
    ) {
        // Both move every principal angle by atan(theta) instead of theta.
        let angles = &all[..point.dimension()];
        let d = tangent_with_angles(&point, angles, seed);
        let wanted = angles
            .iter()
            .map(|angle| (angle - angle.atan()).powi(2))
            .sum::<f64>()
            .sqrt();
        let there = point.exp(&d).unwrap();
        for retracted in [point.retract_qr(&d).unwrap(), point.retract_polar(&d).unwrap()] {
            prop_assert!(abs_diff_eq!(geodesic(&retracted, &there), wanted, epsilon = ROUNDING));
        }
        // As bases: polar to third order (with 1/3, see the series of D's
        // factors), QR to second.
        for time in [1e-1, 1e-2, 1e-3] {
            let step = d.scaled(time / d.norm());
            let exact = point.exp(&step).unwrap();
            let off = |other: &GrassmannPoint<f64>| frobenius((&other.basis() - &exact.basis()).view());
            let polar = off(&point.retract_polar(&step).unwrap());
            prop_assert!(polar <= 0.4 * time.powi(3) + ROUNDING, "{polar:e} at {time}");
            let qr = off(&point.retract_qr(&step).unwrap());
            prop_assert!(qr <= time.powi(2) + ROUNDING, "{qr:e} at {time}");
        }
    }

    #[test]
    fn the_inverse_retraction_inverts_both(
        (m, p) in roomy_dimensions(),
        all in vec(short_angle(), 3),
        seed in any::<u64>(),
    ) {
        let (a, b) = pair_with_angles(m, &all[..p], p, seed);
        let d = a.inverse_retract(&b).unwrap();
        let tangents = all[..p]
            .iter()
            .map(|angle| angle.tan().powi(2))
            .sum::<f64>()
            .sqrt();
        // tan magnifies an error of the angle by 1 + tan^2.
        prop_assert!(abs_diff_eq!(d.norm(), tangents, epsilon = ROUNDING * (1.0 + tangents * tangents)));
        let tolerance = ROUNDING * (1.0 + tangents);
        prop_assert!(geodesic(&a.retract_qr(&d).unwrap(), &b) <= tolerance);
        prop_assert!(geodesic(&a.retract_polar(&d).unwrap(), &b) <= tolerance);
        // And the other way round, for any length.
        let step = tangent_of_length(&a, tangents.min(50.0), seed ^ 1);
        let size = step.norm();
        for there in [a.retract_qr(&step).unwrap(), a.retract_polar(&step).unwrap()] {
            let back = a.inverse_retract(&there).unwrap();
            prop_assert!(
                apart(&back, &step) <= ROUNDING * (1.0 + size * size),
                "{:e}",
                apart(&back, &step)
            );
        }
    }

    #[test]
    fn points_round_trip_through_projectors((m, p) in dimensions(6), seed in any::<u64>()) {
        let point = random_point(m, p, seed);
        let again = GrassmannPoint::from_projector(point.projector().view()).unwrap();
        prop_assert!(projectors_apart(&point, &again) <= ROUNDING);
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            let nearest = nearest_point_to_flat(point.embed(flatten).view(), flatten, p).unwrap();
            prop_assert!(projectors_apart(&point, &nearest.point) <= ROUNDING);
            prop_assert!(nearest.distance <= ROUNDING);
            let gap = if p == m { f64::INFINITY } else { 1.0 };
            // Not `abs_diff_eq`: infinity minus itself is not a number.
            prop_assert!(relative_eq!(nearest.gap, gap, epsilon = ROUNDING, max_relative = 0.0));
        }
        if p < m {
            let complement = point.complement().unwrap();
            prop_assert!(max_abs(complement.basis().t().dot(&point.basis()).view()) <= ROUNDING);
            prop_assert_eq!(complement.dimension(), m - p);
            prop_assert!(orthonormality_defect(complement.basis()) <= ROUNDING);
        }
        let spanned = GrassmannPoint::from_spanning(point.basis().dot(&skewed(p)).view()).unwrap();
        prop_assert!(projectors_apart(&point, &spanned) <= 10.0 * ROUNDING);
    }

    #[test]
    fn nearest_point_is_nearer_than_random_points((m, p) in dimensions(5), seed in any::<u64>()) {
        let raw = gaussian(m, m, seed);
        let matrix = &raw + &raw.t();
        let nearest = nearest_point(matrix.view(), p).unwrap();
        let off = |point: &GrassmannPoint<f64>| {
            frobenius((&matrix - &point.basis().dot(&point.basis().t())).view())
        };
        let tolerance = ROUNDING * (1.0 + nearest.distance);
        prop_assert!(abs_diff_eq!(off(&nearest.point), nearest.distance, epsilon = tolerance));
        for other in 0..20 {
            prop_assert!(
                off(&random_point(m, p, seed.wrapping_add(other))) >= nearest.distance - ROUNDING * 10.0
            );
        }
    }

    #[test]
    fn flatten_round_trips(upper in (1usize..7).prop_flat_map(|m| matrix_of(m, m, -1e3..1e3f64))) {
        let symmetric = &upper + &upper.t();
        let m = symmetric.nrows();
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            let flat = flatten.flatten(symmetric.view()).unwrap();
            prop_assert_eq!(flat.len(), m * (m + 1) / 2);
            let back = flatten.unflatten(flat.view()).unwrap();
            // sqrt(2) and its inverse cost an ulp or two.
            let tolerance = 4.0 * f64::EPSILON * max_abs(symmetric.view());
            prop_assert!(abs_diff_eq!(back, symmetric, epsilon = tolerance));
            prop_assert_eq!(&back, &back.t());
            if flatten == Flatten::Upper {
                prop_assert_eq!(&back, &symmetric);
            } else {
                let square = frobenius(symmetric.view()).powi(2);
                prop_assert!(abs_diff_eq!(flat.dot(&flat), square, epsilon = 1e-14 * square));
            }
        }
        prop_assert_eq!(Flatten::length(m), m * (m + 1) / 2);
        prop_assert_eq!(Flatten::side(m * (m + 1) / 2), Some(m));
        // The next triangular number is m + 1 away.
        prop_assert_eq!(Flatten::side(m * (m + 1) / 2 + m), None);
    }

    #[test]
    fn flat_gradient_matches_the_gradient(m in 1usize..7, seed in any::<u64>()) {
        let raw = gaussian(m, m, seed);
        let direction = &raw + &raw.t();
        let upstream: Array1<f64> = gaussian(1, Flatten::length(m), seed ^ 1).row(0).to_owned();
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            let gradient = flatten.gradient(upstream.view()).unwrap();
            prop_assert_eq!(&gradient, &gradient.t());
            let as_vectors = upstream.dot(&flatten.flatten(direction.view()).unwrap());
            let as_matrices: f64 = gradient.iter().zip(&direction).map(|(a, b)| a * b).sum();
            prop_assert!(abs_diff_eq!(as_vectors, as_matrices, epsilon = 1e-13 * (m * m) as f64));
        }
    }

    #[test]
    fn maps_are_independent_of_the_basis((point, angles, seed) in point_and_angles()) {
        // exp and log are maps of subspaces: the basis of the target is free.
        let there = point.exp(&tangent_with_angles(&point, &angles, seed)).unwrap();
        let again = rebased(&there, seed ^ 1);
        let tolerance = if angles.iter().all(|angle| *angle < 1.5) {
            ROUNDING
        } else {
            1e-11
        };
        prop_assert!(apart(&point.log(&there).unwrap(), &point.log(&again).unwrap()) <= tolerance);
    }
}

/// Well conditioned and far from orthogonal.
fn skewed(p: usize) -> Array2<f64> {
    Array2::from_shape_fn((p, p), |(row, column)| match row.cmp(&column) {
        std::cmp::Ordering::Less => 0.5,
        std::cmp::Ordering::Equal => 10f64.powi(i32::try_from(row).unwrap_or(0)),
        std::cmp::Ordering::Greater => 0.0,
    })
}

/// A long walk in f32 stays on the manifold.
#[test]
fn repeated_steps_stay_orthonormal_in_single_precision() {
    let mut point = GrassmannPoint::<f32>::random(8, 3, &mut crate::strategies::rng(1)).unwrap();
    #[expect(clippy::cast_possible_truncation, reason = "the purpose")]
    for seed in 0..500 {
        let raw = gaussian(8, 3, seed).mapv(|entry| 0.3 * entry as f32);
        let step = point.project_to_tangent(raw.view()).unwrap();
        point = match seed % 3 {
            0 => point.exp(&step).unwrap(),
            1 => point.retract_qr(&step).unwrap(),
            _ => point.retract_polar(&step).unwrap(),
        };
        let defect = orthonormality_defect(point.basis().mapv(f64::from).view());
        assert!(defect <= 8.0 * f64::from(f32::EPSILON), "step {seed}: {defect:e}");
    }
}
