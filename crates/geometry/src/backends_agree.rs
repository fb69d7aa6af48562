//! Both backends in one process: projectors, angles and distances agree to
//! 1e-12 where the gap at the cut is at least 1e-3.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::linalg::forced::with_pure_rust;
use crate::{
    Distance, Extension, Factors, GrassmannPoint, RankRule, Workspace, extended_distance, extrinsic_mean,
    principal_angles, projector_distance, rectify,
};

const AGREE: f64 = 1e-12;

/// The same work on both backends.
fn on_each_backend<R>(work: impl Fn() -> R) -> (R, R) {
    (work(), with_pure_rust(&work))
}

fn largest(difference: impl IntoIterator<Item = f64>) -> f64 {
    difference
        .into_iter()
        .fold(0.0, |most, entry| most.max(entry.abs()))
}

/// A matrix with a gap of 1e-3 to 1 (relative to the largest value) after p.
fn data_with_gap(rng: &mut ChaCha8Rng) -> (Array2<f64>, usize) {
    let (n, m) = (rng.random_range(1..40), rng.random_range(1..20));
    let k: usize = n.min(m);
    let p = rng.random_range(1..=k);
    let gap = 10f64.powf(rng.random_range(-3.0..-0.5));
    let cut = gap + rng.random_range(0.0..1.0 - gap);
    let sigma: Array1<f64> = (0..k)
        .map(|index| match index {
            0 => 1.0,
            _ if index < p => rng.random_range(cut..=1.0),
            _ => rng.random_range(0.0..=cut - gap),
        })
        .collect();
    let left = GrassmannPoint::<f64>::random(n, k, rng).unwrap();
    let right = GrassmannPoint::<f64>::random(m, k, rng).unwrap();
    ((&left.basis() * &sigma).dot(&right.basis().t()), p)
}

#[test]
fn backends_agree_on_projectors_and_gradients() {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let mut checked = 0;
    for _ in 0..2000 {
        let (h, p) = data_with_gap(&mut rng);
        let (a, b) = on_each_backend(|| rectify(h.view(), RankRule::Fixed(p)).unwrap());
        assert_eq!(a.choice.p, b.choice.p);
        if a.choice.gap < 1e-3 {
            continue;
        }
        checked += 1;
        let off = largest(&a.projector() - &b.projector());
        assert!(
            off <= AGREE,
            "projectors of {:?} differ by {off:e}, {:?}",
            h.dim(),
            a.choice
        );
        let tolerance = AGREE * a.singular_values[0];
        assert_abs_diff_eq!(a.singular_values, b.singular_values, epsilon = tolerance);

        let w = Array2::from_shape_simple_fn((h.ncols(), h.ncols()), || rng.random_range(-1.0..1.0));
        let (a, b) = on_each_backend(|| {
            let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
            factors
                .compute(h.view(), RankRule::Fixed(p), &mut workspace)
                .unwrap();
            factors.gradient(h.view(), w.view(), &mut workspace).unwrap()
        });
        // A gradient is worse conditioned than its projector by another 1 / gap.
        let off = largest(&a - &b) / largest(a.iter().copied()).max(1.0);
        assert!(off <= 1e-9, "gradients differ by {off:e}");
    }
    assert!(checked > 1000, "only {checked} cuts were clear enough");
}

#[test]
fn backends_agree_on_angles_and_distances() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    for _ in 0..500 {
        let m = rng.random_range(2..40);
        let a = GrassmannPoint::<f64>::random(m, rng.random_range(1..=m), &mut rng).unwrap();
        let b = GrassmannPoint::<f64>::random(m, rng.random_range(1..=m), &mut rng).unwrap();
        let (x, y) = on_each_backend(|| principal_angles(&a, &b).unwrap());
        let off = largest(&x - &y);
        assert!(off <= AGREE, "angles differ by {off:e}");
        let (x, y) = on_each_backend(|| projector_distance(&a, &b).unwrap());
        assert_abs_diff_eq!(x, y, epsilon = AGREE);
        for distance in Distance::ALL
            .iter()
            .copied()
            .filter(|distance| distance.is_metric())
        {
            for extension in [Extension::Containment, Extension::YeLim, Extension::Projector] {
                let (x, y) = on_each_backend(|| extended_distance(&a, &b, distance, extension).unwrap());
                // Fubini-Study's arccos has the slope 1 / sin at 0, where the
                // product of cosines crowds at 1; its own formula avoids it.
                assert!(abs_diff_eq!(x, y, epsilon = AGREE), "{distance:?}: {x} {y}");
            }
        }
    }
}

#[test]
fn backends_agree_on_maps_and_means() {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    for _ in 0..100 {
        let m = rng.random_range(4..30);
        let p = rng.random_range(1..=m / 2);
        let a = GrassmannPoint::<f64>::random(m, p, &mut rng).unwrap();
        let b = GrassmannPoint::<f64>::random(m, p, &mut rng).unwrap();
        let (x, y) = on_each_backend(|| a.log(&b).unwrap());
        // The logarithm is as sensitive as 1 / cos of the largest angle.
        let tolerance = AGREE / principal_angles(&a, &b).unwrap()[p - 1].cos().max(1e-3);
        assert_abs_diff_eq!(x.matrix(), y.matrix(), epsilon = tolerance);
        let (x, y) = on_each_backend(|| a.exp(&a.log(&b).unwrap().scaled(0.4)).unwrap().projector());
        assert_abs_diff_eq!(x, y, epsilon = tolerance);
        let (x, y) = on_each_backend(|| extrinsic_mean(&[a.clone(), b.clone(), a.clone()], p).unwrap());
        let same = abs_diff_eq!(x.point.projector(), y.point.projector(), epsilon = AGREE);
        assert!(x.gap < 1e-3 || same);
    }
}
