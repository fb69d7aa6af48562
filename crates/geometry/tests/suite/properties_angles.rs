//! Principal angles and vectors, against angles that are known by construction.

use std::f64::consts::FRAC_PI_2;

use crate::strategies::{
    angle, cases, max_abs, orthonormality_defect, pair_with_angles, promised, roomy_dimensions,
};
use approx::abs_diff_eq;
use egg_geometry::{GrassmannPoint, principal_angles, principal_angles_batch, principal_vectors};
use ndarray::Array2;
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn planted_angles_are_recovered(
        (m, p) in roomy_dimensions(),
        all in vec(angle(), 3),
        wider in 0usize..3,
        seed in any::<u64>(),
    ) {
        let mut angles = all[..p].to_vec();
        let (a, b) = pair_with_angles(m, &angles, (p + wider).min(m - p), seed);
        angles.sort_by(f64::total_cmp);
        for (x, y) in [(&a, &b), (&b, &a)] {
            let found = principal_angles(x, y).unwrap();
            prop_assert_eq!(found.len(), p);
            prop_assert!(found.windows(2).into_iter().all(|pair| pair[0] <= pair[1]));
            for (found, built) in found.iter().zip(&angles) {
                prop_assert!(abs_diff_eq!(found, built, epsilon = promised(m)), "{found:e} for {built:e}");
                prop_assert!((0.0..=FRAC_PI_2).contains(found));
            }
        }
        let batch = principal_angles_batch(&[(&a, &b), (&b, &a), (&a, &a)]).unwrap();
        prop_assert_eq!(&batch[0], &principal_angles(&a, &b).unwrap());
        prop_assert_eq!(&batch[1], &principal_angles(&b, &a).unwrap());
        prop_assert_eq!(&batch[2], &principal_angles(&a, &a).unwrap());
    }

    #[test]
    fn principal_vectors_are_paired(
        (m, p) in roomy_dimensions(),
        all in vec(angle(), 3),
        wider in 0usize..3,
        swap in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let (a, b) = pair_with_angles(m, &all[..p], (p + wider).min(m - p), seed);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let pairs = principal_vectors(&a, &b).unwrap();
        prop_assert_eq!((pairs.left.dim(), pairs.right.dim()), ((m, p), (m, p)));
        let found = principal_angles(&a, &b).unwrap();
        for (x, y) in pairs.angles.iter().zip(&found) {
            prop_assert!(abs_diff_eq!(x, y, epsilon = promised(m)), "{x:e} and {y:e}");
        }
        prop_assert!(orthonormality_defect(pairs.left.view()) <= 1e-13);
        prop_assert!(orthonormality_defect(pairs.right.view()) <= 1e-13);
        let cosines = Array2::from_diag(&pairs.angles.mapv(f64::cos));
        prop_assert!(abs_diff_eq!(pairs.left.t().dot(&pairs.right), cosines, epsilon = 1e-13));
        let outside = |point: &GrassmannPoint<f64>, vectors: &Array2<f64>| {
            max_abs((vectors - &point.basis().dot(&point.basis().t().dot(vectors))).view())
        };
        prop_assert!(outside(&a, &pairs.left) <= 1e-14);
        prop_assert!(outside(&b, &pairs.right) <= 1e-14);
        // Sines too, which distinguish small angles: the parts of
        // `right` outside the first subspace are orthogonal, of length sin.
        let parts = &pairs.right - &a.basis().dot(&a.basis().t().dot(&pairs.right));
        for (part, angle) in parts.columns().into_iter().zip(&pairs.angles) {
            prop_assert!(abs_diff_eq!(part.dot(&part).sqrt(), angle.sin(), epsilon = 4.0 * promised(m)));
        }
    }
}

/// In a large space, where the choice between sine and cosine is another one.
#[test]
fn angles_are_exact_in_large_spaces() {
    for (m, p, seed) in [(60, 3, 1), (400, 4, 2), (1000, 2, 3)] {
        for size in [1e-12, 1e-6, 1e-3, 0.03, 0.08, 0.3, 0.7, 1.2] {
            let angles: Vec<f64> = (1..=p).map(|k| size * (1.0 + 0.05 * k as f64)).collect();
            let (a, b) = pair_with_angles(m, &angles, p, seed);
            for (found, built) in principal_angles(&a, &b).unwrap().iter().zip(&angles) {
                assert!(
                    abs_diff_eq!(found, built, epsilon = promised(m)),
                    "R^{m}: {found:e} for {built:e}"
                );
            }
            let pairs = principal_vectors(&a, &b).unwrap();
            for (found, built) in pairs.angles.iter().zip(&angles) {
                assert!(
                    abs_diff_eq!(found, built, epsilon = promised(m)),
                    "R^{m}, vectors: {found:e} for {built:e}"
                );
            }
        }
    }
}

/// The angles that come with the vectors keep the promise as well. The error of
/// singular vectors must not reach them, which many draws show.
#[test]
fn angles_with_vectors_are_equally_exact() {
    let mut worst = (0.0, 0);
    for seed in 0..5000 {
        let angles = [0.0, 1.1156881074305298e-10, 1.473998152342806];
        let (a, b) = pair_with_angles(6, &angles, 3, seed);
        let pairs = principal_vectors(&a, &b).unwrap();
        for (found, built) in pairs.angles.iter().zip(&angles) {
            if (found - built).abs() > worst.0 {
                worst = ((found - built).abs(), seed);
            }
        }
    }
    let (error, seed) = worst;
    assert!(error <= promised(6), "off by {error:e} with seed {seed}");
}

#[test]
fn single_precision_angles_match_double() {
    #[expect(clippy::cast_possible_truncation, reason = "the purpose")]
    let narrow = |point: &GrassmannPoint<f64>| {
        GrassmannPoint::from_orthonormal(point.basis().mapv(|entry| entry as f32)).unwrap()
    };
    for seed in 0..50 {
        let (a, b) = pair_with_angles(7, &[1e-3, 0.4, 1.2], 4, seed);
        let (c, d) = (narrow(&a), narrow(&b));
        let wide = principal_angles(&a, &b).unwrap();
        for (x, y) in wide.iter().zip(&principal_angles(&c, &d).unwrap()) {
            // Bases rounded to f32 turn by up to sqrt(m) eps / 2.
            assert!(
                abs_diff_eq!(*x, f64::from(*y), epsilon = 8.0 * f64::from(f32::EPSILON)),
                "{x} and {y}"
            );
        }
    }
}

/// Large subspaces, whose singular values a backend computes less well, with
/// angles where the formulas change over and everywhere else.
#[test]
fn angles_of_large_subspaces_meet_the_error_bound() {
    for (m, p) in [(64, 20), (64, 32), (100, 40), (200, 90)] {
        let switch = (2.0 / (m as f64).sqrt()).asin();
        let just_above = |index: usize| switch * (1.0 + 1e-3 * index as f64);
        let spread = |index: usize| FRAC_PI_2 * (index as f64 + 0.5) / p as f64;
        for (seed, angles) in [
            (1, (0..p).map(just_above).collect::<Vec<_>>()),
            (2, (0..p).map(spread).collect()),
            (
                3,
                (0..p)
                    .map(|index| {
                        if index % 2 == 0 {
                            switch * 1.001
                        } else {
                            spread(index)
                        }
                    })
                    .collect(),
            ),
        ] {
            let mut sorted = angles.clone();
            sorted.sort_by(f64::total_cmp);
            let (a, b) = pair_with_angles(m, &angles, p, seed);
            let found = principal_angles(&a, &b).unwrap();
            assert!(found.windows(2).into_iter().all(|pair| pair[0] <= pair[1]));
            for (found, built) in found.iter().zip(&sorted) {
                let off = (found - built).abs();
                // In this many dimensions the bases themselves add little.
                let promise = 1e-15 * (m as f64).sqrt();
                assert!(off <= promise, "R^{m}, p = {p}: {found} is off by {off:e}");
            }
        }
    }
}
