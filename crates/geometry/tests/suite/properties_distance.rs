//! Distances and kernels, against angles that are known by construction and
//! against the axioms.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use crate::strategies::{
    cases, dimensions, orthonormal, pair_with_angles, point_of, projectors_apart, promised, random_point,
    rebased, roomy_dimensions, rotated,
};
use approx::{abs_diff_eq, relative_eq};
use egg_geometry::{Distance, Extension, Flatten, GrassmannPoint, Kernel};
use egg_geometry::{
    cross_distances, distance, distance_matrix, extended_distance, principal_angles, projector_distance,
};
use ndarray::{Array2, s};
use proptest::collection::vec;
use proptest::prelude::*;

const EXTENSIONS: [Extension; 3] = [Extension::Containment, Extension::YeLim, Extension::Projector];

/// The formulas of the table, term by term.
fn by_formula(distance: Distance, angles: &[f64]) -> f64 {
    let sum = |f: &dyn Fn(f64) -> f64| angles.iter().map(|angle| f(*angle)).sum::<f64>();
    let product: f64 = angles.iter().map(|angle| angle.cos()).product();
    let largest = angles.iter().copied().fold(0.0, f64::max);
    match distance {
        Distance::Geodesic => sum(&|angle| angle * angle).sqrt(),
        Distance::Projection => sum(&|angle| angle.sin().powi(2)).sqrt(),
        Distance::ProjectionFull => (2.0 * sum(&|angle| angle.sin().powi(2))).sqrt(),
        Distance::Procrustes => 2.0 * sum(&|angle| (angle / 2.0).sin().powi(2)).sqrt(),
        Distance::Spectral => 2.0 * (largest / 2.0).sin(),
        Distance::Gap => largest.sin(),
        Distance::Asimov => largest,
        Distance::FubiniStudy => product.acos(),
        Distance::BinetCauchy => (1.0 - product * product).sqrt(),
        Distance::Martin => (-2.0 * sum(&|angle| angle.cos().ln())).sqrt(),
        _ => panic!("{} has no formula here", distance.name()),
    }
}

/// Equal to a tolerance, or both infinite.
fn close(a: f64, b: f64, tolerance: f64) -> bool {
    relative_eq!(a, b, epsilon = tolerance, max_relative = 0.0)
}

/// Subspaces of any dimensions of one R^m.
fn mixed_points(count: usize) -> impl Strategy<Value = Vec<GrassmannPoint<f64>>> {
    (1usize..=6).prop_flat_map(move |m| {
        vec((1..=m, any::<u64>()), count).prop_map(move |choices| {
            let point = |(p, seed)| random_point(m, p, seed);
            choices.into_iter().map(point).collect()
        })
    })
}

/// Three points of one manifold: at random, or along a geodesic, where the
/// triangle inequality is tight.
fn triples() -> impl Strategy<Value = Vec<GrassmannPoint<f64>>> {
    let random = (dimensions(6), any::<u64>())
        .prop_map(|((m, p), seed)| (0..3).map(|k| random_point(m, p, seed.wrapping_add(k))).collect());
    let aligned = (roomy_dimensions(), 1e-6..0.78f64, any::<u64>()).prop_map(|((m, p), size, seed)| {
        let frame = orthonormal(m, 2 * p, seed);
        let at = |time: f64| {
            let mut basis = Array2::zeros((m, p));
            for column in 0..p {
                let turn = time * size * (column + 1) as f64 / p as f64;
                let to = &frame.column(column) * turn.cos() + &frame.column(p + column) * turn.sin();
                basis.column_mut(column).assign(&to);
            }
            rebased(&point_of(basis), seed ^ time.to_bits())
        };
        vec![at(0.0), at(1.0), at(2.0)]
    });
    prop_oneof![random, aligned]
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn distances_match_their_formulas(
        (m, p) in roomy_dimensions(),
        all in vec(0.05..1.5f64, 3),
        wider in 0usize..3,
        seed in any::<u64>(),
    ) {
        let q = (p + wider).min(m - p);
        let (a, b) = pair_with_angles(m, &all[..p], q, seed);
        for &kind in Distance::ALL {
            // Angles to 1e-15 sqrt(m); the slope of Martin's at 1.5 is 10, that of
            // the plain formulas at 0.05 is 20.
            let tolerance = 32.0 * promised(m);
            let plain = by_formula(kind, &all[..p]);
            let found = extended_distance(&a, &b, kind, Extension::Containment).unwrap();
            prop_assert!(
                close(found, plain, tolerance),
                "{}: {found} for {plain}",
                kind.name()
            );
            let mut extended = all[..p].to_vec();
            extended.resize(q, FRAC_PI_2);
            let found = extended_distance(&a, &b, kind, Extension::YeLim).unwrap();
            if kind == Distance::Martin && q > p {
                prop_assert_eq!(found, f64::INFINITY);
                continue;
            }
            let wanted = by_formula(kind, &extended);
            prop_assert!(
                close(found, wanted, tolerance),
                "{}: {found} for {wanted}",
                kind.name()
            );
            prop_assert_eq!(found, distance(&a, &b, kind).unwrap());
            let extended: Vec<f64> = all[..p].iter().copied().chain(vec![FRAC_PI_4; q - p]).collect();
            let wanted = by_formula(kind, &extended);
            let found = extended_distance(&a, &b, kind, Extension::Projector).unwrap();
            prop_assert!(
                close(found, wanted, tolerance),
                "{}: {found} for {wanted}",
                kind.name()
            );
        }
    }

    #[test]
    fn small_distances_keep_their_digits(
        (m, p) in roomy_dimensions(),
        exponent in -12.0..-5.0f64,
        seed in any::<u64>(),
    ) {
        // All distances are |theta| or max theta to second order there.
        let angles: Vec<f64> = (1..=p).map(|k| 10f64.powf(exponent) * k as f64).collect();
        let (a, b) = pair_with_angles(m, &angles, p, seed);
        let norm = angles.iter().map(|angle| angle * angle).sum::<f64>().sqrt();
        for &kind in Distance::ALL {
            let wanted = match kind {
                Distance::ProjectionFull => norm * std::f64::consts::SQRT_2,
                Distance::Spectral | Distance::Gap | Distance::Asimov => angles[p - 1],
                _ => norm,
            };
            let tolerance = 4.0 * promised(m) + wanted.powi(3);
            let found = distance(&a, &b, kind).unwrap();
            prop_assert!(
                abs_diff_eq!(found, wanted, epsilon = tolerance),
                "{}: {found:e} for {wanted:e}",
                kind.name()
            );
            let pair = [a.clone(), b.clone()];
            let matrix = distance_matrix(&pair, kind, Extension::YeLim).unwrap();
            prop_assert!(
                abs_diff_eq!(matrix[[0, 1]], wanted, epsilon = tolerance),
                "{} in a matrix",
                kind.name()
            );
            let cross = cross_distances(&pair[..1], &pair[1..], kind, Extension::YeLim).unwrap();
            prop_assert!(
                abs_diff_eq!(cross[[0, 0]], wanted, epsilon = tolerance),
                "{} across",
                kind.name()
            );
        }
        let full = projector_distance(&a, &b).unwrap();
        let tolerance = 4.0 * promised(m) + norm.powi(3);
        prop_assert!(abs_diff_eq!(full, norm * std::f64::consts::SQRT_2, epsilon = tolerance));
    }

    #[test]
    fn distances_are_symmetric_and_zero_on_the_same_subspace(
        points in mixed_points(2),
        seed in any::<u64>(),
    ) {
        let (a, b) = (&points[0], &points[1]);
        let again = rebased(a, seed);
        for &kind in Distance::ALL {
            for extension in EXTENSIONS {
                let there = extended_distance(a, b, kind, extension).unwrap();
                let back = extended_distance(b, a, kind, extension).unwrap();
                prop_assert!(there >= 0.0);
                // Martin's and the angle near pi/2 are steep, not wrong: relative.
                prop_assert!(
                    close(there, back, 1e-13 * there.max(1.0)),
                    "{}: {there} and {back}",
                    kind.name()
                );
                let none = extended_distance(a, &again, kind, extension).unwrap();
                prop_assert!(
                    (0.0..=8.0 * promised(a.ambient())).contains(&none),
                    "{}: {none:e}",
                    kind.name()
                );
            }
        }
        prop_assert!(projector_distance(a, &again).unwrap() <= 8.0 * promised(a.ambient()));
    }

    #[test]
    fn metrics_obey_the_triangle_inequality(points in prop_oneof![triples(), mixed_points(3)]) {
        for kind in Distance::ALL.iter().copied().filter(|kind| kind.is_metric()) {
            for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
                let d = |x: usize, y: usize| distance(&points[x], &points[y], kind).unwrap();
                prop_assert!(d(i, k) <= d(i, j) + d(j, k) + 1e-13, "{}", kind.name());
            }
        }
    }

    #[test]
    fn containment_is_zero_exactly_inside(
        p in 1usize..=3,
        extra in 1usize..=3,
        more in 1usize..=3,
        tilt in 1e-6..1.5f64,
        seed in any::<u64>(),
    ) {
        let m = p + extra + more;
        let frame = orthonormal(m, p + extra + 1, seed);
        let large = point_of(frame.slice(s![.., ..p + extra]).to_owned());
        let inside = rebased(&point_of(frame.slice(s![.., ..p]).to_owned()), seed ^ 1);
        // One direction leans out of the larger subspace by `tilt`.
        let mut leaning = frame.slice(s![.., ..p]).to_owned();
        let out = &frame.column(0) * tilt.cos() + &frame.column(p + extra) * tilt.sin();
        leaning.column_mut(0).assign(&out);
        let leaning = rebased(&point_of(leaning), seed ^ 2);
        for &kind in Distance::ALL {
            let contained = extended_distance(&inside, &large, kind, Extension::Containment).unwrap();
            prop_assert!(contained <= 8.0 * promised(m), "{}: {contained:e}", kind.name());
            let outside = extended_distance(&large, &leaning, kind, Extension::Containment).unwrap();
            // Every one is at least the sine of the largest angle.
            prop_assert!(
                outside >= tilt.sin() - 8.0 * promised(m),
                "{}: {outside:e}",
                kind.name()
            );
            prop_assert!(distance(&inside, &large, kind).unwrap() >= 1.0 - 1e-14);
        }
    }

    #[test]
    fn distances_are_invariant_to_rotation(points in mixed_points(2), seed in any::<u64>()) {
        let m = points[0].ambient();
        let rotation = orthonormal(m, m, seed);
        let turned = [rotated(&points[0], &rotation), rotated(&points[1], &rotation)];
        let (before, after) = (
            principal_angles(&points[0], &points[1]).unwrap(),
            principal_angles(&turned[0], &turned[1]).unwrap(),
        );
        for (x, y) in before.iter().zip(&after) {
            // Twice the promise, and the rounding of the rotation.
            prop_assert!(abs_diff_eq!(x, y, epsilon = 2.0 * promised(m)));
        }
        for kind in Distance::ALL.iter().copied().filter(|kind| kind.is_metric()) {
            let a = distance(&points[0], &points[1], kind).unwrap();
            let b = distance(&turned[0], &turned[1], kind).unwrap();
            prop_assert!(abs_diff_eq!(a, b, epsilon = 1e-13), "{}", kind.name());
        }
    }

    #[test]
    fn projector_distances_match_their_norms(points in mixed_points(2)) {
        let (a, b) = (&points[0], &points[1]);
        let long_way = projectors_apart(a, b);
        prop_assert!(abs_diff_eq!(projector_distance(a, b).unwrap(), long_way, epsilon = 1e-13));
        let difference = &a.embed(Flatten::Isometric) - &b.embed(Flatten::Isometric);
        prop_assert!(abs_diff_eq!(difference.dot(&difference).sqrt(), long_way, epsilon = 1e-13));
        let kernel = a.embed(Flatten::Isometric).dot(&b.embed(Flatten::Isometric));
        prop_assert!(abs_diff_eq!(Kernel::Projection.value(a, b).unwrap(), kernel, epsilon = 1e-13));
        if a.dimension() == b.dimension() {
            let full = distance(a, b, Distance::ProjectionFull).unwrap();
            prop_assert!(abs_diff_eq!(full, long_way, epsilon = 1e-13));
            let halved = distance(a, b, Distance::Projection).unwrap();
            prop_assert!(abs_diff_eq!(halved, long_way / 2f64.sqrt(), epsilon = 1e-13));
        }
    }

    #[test]
    fn distance_matrix_matches_pairwise_distances(
        points in mixed_points(5),
        near in 1e-11..1e-3f64,
        seed in any::<u64>(),
    ) {
        // One more point next to the first.
        let mut points = points;
        let nudge = crate::strategies::gaussian(points[0].ambient(), points[0].dimension(), seed) * near;
        points.push(GrassmannPoint::from_spanning((&points[0].basis() + &nudge).view()).unwrap());
        for &kind in Distance::ALL {
            for extension in EXTENSIONS {
                let matrix = distance_matrix(&points, kind, extension).unwrap();
                let cross = cross_distances(&points, &points[1..], kind, extension).unwrap();
                prop_assert_eq!(cross.dim(), (6, 5));
                for i in 0..6 {
                    prop_assert_eq!(matrix[[i, i]], 0.0);
                    for j in 0..6 {
                        let alone = extended_distance(&points[i], &points[j], kind, extension).unwrap();
                        let tolerance = 1e-12 * alone.clamp(1e-2, 1e2);
                        if i != j {
                            prop_assert!(close(matrix[[i, j]], alone, tolerance), "{}", kind.name());
                        }
                        prop_assert!(matrix[[i, j]] == matrix[[j, i]]);
                        if j > 0 {
                            prop_assert!(close(cross[[i, j - 1]], alone, tolerance), "{}", kind.name());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn kernels_are_positive_and_match_their_formulas(
        mixed in mixed_points(6),
        (m, p) in dimensions(5),
        seed in any::<u64>(),
    ) {
        let equal: Vec<_> = (0..6).map(|k| random_point(m, p, seed.wrapping_add(k))).collect();
        for (kernel, points) in [
            (Kernel::Projection, &mixed),
            (Kernel::Projection, &equal),
            (Kernel::BinetCauchy, &equal),
        ] {
            let gram = kernel.gram(points).unwrap();
            prop_assert!(is_positive(&gram, 1e-12), "{kernel:?}: {gram}");
            for i in 0..6 {
                for j in 0..6 {
                    let squares = principal_angles(&points[i], &points[j])
                        .unwrap()
                        .mapv(|angle| angle.cos().powi(2));
                    let wanted = match kernel {
                        Kernel::Projection => squares.sum(),
                        _ => squares.product(),
                    };
                    prop_assert!(abs_diff_eq!(gram[[i, j]], wanted, epsilon = 1e-13));
                    prop_assert_eq!(gram[[i, j]], gram[[j, i]]);
                    let alone = kernel.value(&points[i], &points[j]).unwrap();
                    prop_assert!(abs_diff_eq!(alone, wanted, epsilon = 1e-13));
                }
            }
        }
    }
}

/// Whether a symmetric matrix plus `shift` times the identity has a Cholesky factor.
fn is_positive(gram: &Array2<f64>, shift: f64) -> bool {
    let n = gram.nrows();
    let mut factor = gram.clone();
    for k in 0..n {
        let pivot = factor[[k, k]] + shift;
        if pivot <= 0.0 {
            return false;
        }
        for i in k + 1..n {
            for j in k + 1..n {
                factor[[i, j]] -= factor[[i, k]] * factor[[k, j]] / pivot;
            }
        }
    }
    true
}

#[test]
fn martin_fails_the_triangle_inequality() {
    // Lines at 0, 36 and 72 degrees: sqrt(-2 log cos) is 0.651 twice, but 1.533 at once.
    let line = |degrees: f64| {
        let angle = degrees.to_radians();
        point_of(ndarray::array![[angle.cos()], [angle.sin()]])
    };
    let d = |from: f64, to: f64| distance(&line(from), &line(to), Distance::Martin).unwrap();
    assert!(!Distance::Martin.is_metric());
    assert!(d(0.0, 72.0) > d(0.0, 36.0) + d(36.0, 72.0) + 0.2);
}

/// Enough basis vectors for several tiles of the stacked product, and one
/// subspace wider than a tile.
#[test]
fn distance_matrix_is_right_across_tiles() {
    let m = 150;
    let mut points: Vec<_> = (0..90)
        .map(|seed| random_point(m, 1 + (seed as usize * 7) % 5, seed))
        .collect();
    points.insert(40, random_point(m, 140, 1000));
    points.push(rebased(&points[3], 5));
    let gram = Kernel::Projection.gram(&points).unwrap();
    for kind in [Distance::Projection, Distance::ProjectionFull] {
        for extension in EXTENSIONS {
            let matrix = distance_matrix(&points, kind, extension).unwrap();
            for i in 0..points.len() {
                for j in 0..i {
                    let alone = extended_distance(&points[i], &points[j], kind, extension).unwrap();
                    assert!(abs_diff_eq!(matrix[[i, j]], alone, epsilon = 1e-12), "{i}, {j}");
                    let value = Kernel::Projection.value(&points[i], &points[j]).unwrap();
                    assert!(abs_diff_eq!(gram[[i, j]], value, epsilon = 1e-12), "{i}, {j}");
                }
            }
        }
    }
}
