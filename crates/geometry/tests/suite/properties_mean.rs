//! Extrinsic and Karcher means.

use crate::strategies::{
    cases, frobenius, orthonormal, orthonormality_defect, projectors_apart, random_point, rebased,
    roomy_dimensions, rotated, tangent_of_length,
};
use approx::abs_diff_eq;
use egg_geometry::{
    Distance, GrassmannPoint, KarcherSolver, distance, extrinsic_mean, karcher_mean, weighted_extrinsic_mean,
};
use ndarray::Array2;
use proptest::prelude::*;

/// A Karcher mean stops at a gradient of `eps^(3/4)` = 1.8e-12; within pi/4 the
/// cost is at least half as curved as in flat space, so that two such means lie
/// within a few times that.
const KARCHER: f64 = 1e-11;

/// A mean projector with a gap of at least a tenth: eps over the gap.
const EXTRINSIC: f64 = 1e-13;

fn geodesic(a: &GrassmannPoint<f64>, b: &GrassmannPoint<f64>) -> f64 {
    distance(a, b, Distance::Geodesic).unwrap()
}

/// Points around a centre, no farther than `radius` (below pi/4).
fn cloud(centre: &GrassmannPoint<f64>, count: u64, radius: f64, seed: u64) -> Vec<GrassmannPoint<f64>> {
    let one = |k: u64| {
        let length = radius * (k + 1) as f64 / count as f64;
        let d = tangent_of_length(centre, length, seed.wrapping_add(k));
        rebased(&centre.exp(&d).unwrap(), seed.wrapping_sub(k))
    };
    (0..count).map(one).collect()
}

/// A centre, and points within the ball where means are unique.
fn clouds() -> impl Strategy<Value = (GrassmannPoint<f64>, Vec<GrassmannPoint<f64>>, u64)> {
    (roomy_dimensions(), 1u64..6, 0.01..0.7f64, any::<u64>()).prop_map(|((m, p), count, radius, seed)| {
        let centre = random_point(m, p, seed);
        let points = cloud(&centre, count, radius, seed);
        (centre, points, seed)
    })
}

/// The mean of the logarithms and of their squared lengths, by hand.
fn gradient_and_variance(at: &GrassmannPoint<f64>, points: &[GrassmannPoint<f64>]) -> (f64, f64) {
    let count = points.len() as f64;
    let mut mean = Array2::zeros(at.basis().dim());
    for point in points {
        mean.scaled_add(1.0 / count, &at.log(point).unwrap().matrix());
    }
    let variance = points
        .iter()
        .map(|point| geodesic(at, point).powi(2))
        .sum::<f64>()
        / count;
    (frobenius(mean.view()), variance)
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn means_are_equivariant_to_rotation((_, points, seed) in clouds()) {
        let (m, p) = (points[0].ambient(), points[0].dimension());
        let rotation = orthonormal(m, m, seed ^ 1);
        let turned: Vec<_> = points.iter().map(|point| rotated(point, &rotation)).collect();
        let (before, after) = (
            extrinsic_mean(&points, p).unwrap(),
            extrinsic_mean(&turned, p).unwrap(),
        );
        prop_assert!(geodesic(&rotated(&before.point, &rotation), &after.point) <= EXTRINSIC);
        prop_assert!(abs_diff_eq!(before.gap, after.gap, epsilon = EXTRINSIC));
        let (before, after) = (karcher_mean(&points).unwrap(), karcher_mean(&turned).unwrap());
        prop_assert!(geodesic(&rotated(&before.point, &rotation), &after.point) <= KARCHER);
        prop_assert!(abs_diff_eq!(before.variance, after.variance, epsilon = KARCHER));
    }

    #[test]
    fn centre_of_symmetry_is_the_mean(
        (m, p) in roomy_dimensions(),
        count in 1u64..4,
        radius in 0.01..0.7f64,
        seed in any::<u64>(),
    ) {
        let centre = random_point(m, p, seed);
        let mut points = Vec::new();
        for k in 0..count {
            let d = tangent_of_length(&centre, radius, seed.wrapping_add(k));
            points.push(centre.exp(&d).unwrap());
            points.push(centre.exp(&d.scaled(-1.0)).unwrap());
        }
        // cos^2 > sin^2 of every angle, so the centre leads the mean projector.
        prop_assert!(geodesic(&extrinsic_mean(&points, p).unwrap().point, &centre) <= EXTRINSIC * 10.0);
        let karcher = karcher_mean(&points).unwrap();
        prop_assert!(geodesic(&karcher.point, &centre) <= KARCHER);
        prop_assert!(abs_diff_eq!(karcher.radius, radius, epsilon = KARCHER));
        prop_assert!(abs_diff_eq!(karcher.variance, radius * radius, epsilon = KARCHER));
        prop_assert!(karcher.unique && karcher.converged);
    }

    #[test]
    fn integer_weights_equal_repetitions((_, points, seed) in clouds()) {
        let p = points[0].dimension();
        let times: Vec<usize> = (0..points.len())
            .map(|k| 1 + (seed as usize >> (2 * k)) % 3)
            .collect();
        let weights: Vec<f64> = times.iter().map(|count| 0.25 * *count as f64).collect();
        let mut repeated = Vec::new();
        for (point, count) in points.iter().zip(&times) {
            repeated.extend(std::iter::repeat_n(point.clone(), *count));
        }
        let weighted = weighted_extrinsic_mean(&points, &weights, p).unwrap();
        let plain = extrinsic_mean(&repeated, p).unwrap();
        prop_assert!(geodesic(&weighted.point, &plain.point) <= EXTRINSIC);
        prop_assert!(abs_diff_eq!(weighted.gap, plain.gap, epsilon = EXTRINSIC));
        let weighted = KarcherSolver::default().run_weighted(&points, &weights).unwrap();
        let plain = karcher_mean(&repeated).unwrap();
        prop_assert!(geodesic(&weighted.point, &plain.point) <= KARCHER);
        prop_assert!(abs_diff_eq!(weighted.variance, plain.variance, epsilon = KARCHER));
    }

    #[test]
    fn zero_weight_removes_a_point((_, points, seed) in clouds()) {
        let p = points[0].dimension();
        let stranger = random_point(points[0].ambient(), p, seed ^ 77);
        let (mut more, mut weights) = (points.clone(), vec![1.0; points.len()]);
        more.push(stranger);
        weights.push(0.0);
        let with = weighted_extrinsic_mean(&more, &weights, p).unwrap();
        prop_assert!(geodesic(&with.point, &extrinsic_mean(&points, p).unwrap().point) <= EXTRINSIC);
        let with = KarcherSolver::default().run_weighted(&more, &weights).unwrap();
        prop_assert!(geodesic(&with.point, &karcher_mean(&points).unwrap().point) <= KARCHER);
    }

    #[test]
    fn the_extrinsic_mean_minimises_projector_distances((_, points, seed) in clouds()) {
        let p = points[0].dimension();
        let mean = extrinsic_mean(&points, p).unwrap().point;
        prop_assert!(orthonormality_defect(mean.basis()) <= EXTRINSIC);
        let cost = |at: &GrassmannPoint<f64>| {
            points
                .iter()
                .map(|point| projectors_apart(at, point).powi(2))
                .sum::<f64>()
        };
        let least = cost(&mean);
        for k in 0..10 {
            let d = tangent_of_length(&mean, 10f64.powi(-k / 2), seed.wrapping_add(k as u64));
            prop_assert!(cost(&mean.exp(&d).unwrap()) >= least - EXTRINSIC);
        }
    }

    #[test]
    fn karcher_mean_is_a_stationary_minimum((_, points, seed) in clouds()) {
        let p = points[0].dimension();
        let mean = karcher_mean(&points).unwrap();
        prop_assert!(orthonormality_defect(mean.point.basis()) <= EXTRINSIC);
        let (gradient, variance) = gradient_and_variance(&mean.point, &points);
        prop_assert!(gradient <= 2e-12, "{gradient:e}");
        prop_assert!(abs_diff_eq!(mean.gradient_norm, gradient, epsilon = 1e-13));
        prop_assert!(abs_diff_eq!(mean.variance, variance, epsilon = 1e-13));
        let farthest = points
            .iter()
            .map(|point| geodesic(&mean.point, point))
            .fold(0.0, f64::max);
        prop_assert!(abs_diff_eq!(mean.radius, farthest, epsilon = 1e-13));
        let (_, extrinsic) = gradient_and_variance(&extrinsic_mean(&points, p).unwrap().point, &points);
        prop_assert!(variance <= extrinsic + 1e-14);
        for k in 0..10 {
            let d = tangent_of_length(&mean.point, 10f64.powi(-k / 2), seed.wrapping_add(k as u64));
            prop_assert!(gradient_and_variance(&mean.point.exp(&d).unwrap(), &points).1 >= variance - 1e-14);
        }
    }

    #[test]
    fn wide_sets_are_reported_as_not_converged(
        (m, p) in roomy_dimensions(),
        count in 2u64..7,
        seed in any::<u64>(),
    ) {
        // Anywhere on the manifold: no promise of uniqueness, but of honesty.
        let points: Vec<_> = (0..count)
            .map(|k| random_point(m, p, seed.wrapping_add(k)))
            .collect();
        let solver = KarcherSolver {
            max_iterations: 30,
            ..KarcherSolver::default()
        };
        let mean = solver.run(&points).unwrap();
        prop_assert!(mean.iterations <= 30);
        prop_assert!(orthonormality_defect(mean.point.basis()) <= EXTRINSIC);
        prop_assert_eq!(mean.converged, mean.gradient_norm <= f64::EPSILON.powf(0.75));
        prop_assert_eq!(mean.unique, mean.radius < std::f64::consts::FRAC_PI_4);
        let (_, extrinsic) = gradient_and_variance(&extrinsic_mean(&points, p).unwrap().point, &points);
        prop_assert!(mean.variance <= extrinsic * (1.0 + 1e-12));
        let converged = mean.converged;
        prop_assert_eq!(mean.require_converged().is_ok(), converged);
    }

    #[test]
    fn extrinsic_mean_accepts_mixed_dimensions(m in 2usize..7, seed in any::<u64>()) {
        // Nested subspaces, the larger weighing less: the mean projector is diagonal.
        let frame = orthonormal(m, m, seed);
        let nested: Vec<_> = (1..=m)
            .map(|p| {
                rebased(
                    &crate::strategies::point_of(frame.slice(ndarray::s![.., ..p]).to_owned()),
                    seed ^ p as u64,
                )
            })
            .collect();
        for p in 1..m {
            let mean = extrinsic_mean(&nested, p).unwrap();
            // Direction i is in m - i of the m subspaces.
            prop_assert!(abs_diff_eq!(mean.gap, 1.0 / m as f64, epsilon = EXTRINSIC));
            prop_assert!(geodesic(&mean.point, &nested[p - 1]) <= EXTRINSIC * m as f64);
        }
    }
}

/// Two halves of a geodesic in f32, to the accuracy its tolerance promises.
#[test]
fn single_precision_mean_of_two_is_the_midpoint() {
    for seed in 0..20 {
        let a = GrassmannPoint::<f32>::random(7, 2, &mut crate::strategies::rng(seed)).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "the purpose")]
        let raw = crate::strategies::gaussian(7, 2, seed + 100).mapv(|entry| 0.15 * entry as f32);
        let b = a.exp(&a.project_to_tangent(raw.view()).unwrap()).unwrap();
        let mean = karcher_mean(&[a.clone(), b.clone()]).unwrap();
        let middle = a.geodesic(&b, 0.5).unwrap();
        assert!(distance(&mean.point, &middle, Distance::Geodesic).unwrap() <= 2e-5);
    }
}

/// Within pi/4 of a centre the cost is convex: descent must reach its tolerance.
#[test]
fn means_within_the_ball_converge() {
    let mut unfinished = Vec::new();
    for seed in 0..2000u64 {
        let p = 1 + (seed % 3) as usize;
        let m = 2 * p + (seed / 3 % 4) as usize;
        let centre = random_point(m, p, seed);
        // From 0.7 down: small clouds have the same right to converge.
        let radius = 0.7 * 10f64.powf(-((seed % 11) as f64) / 2.0);
        let points = cloud(&centre, 1 + seed % 6, radius, seed);
        let mean = KarcherSolver::default().run(&points).unwrap();
        if !mean.converged {
            let (count, norm) = (points.len(), mean.gradient_norm);
            unfinished.push(format!(
                "seed {seed}: {count} points of Gr({p}, {m}) within {radius:.0e}: {norm:.1e}"
            ));
        }
    }
    assert!(
        unfinished.is_empty(),
        "gradient left in {} of 2000: {unfinished:#?}",
        unfinished.len()
    );
}
