//! The gradient of the projector against central differences, and its
//! behaviour where the gradient of an SVD breaks down. (Cuts inside a tie, which no rule
//! makes, are tested next to the code.)

use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_geometry::{Factors, Flatten, RankRule, Workspace};
use ndarray::{Array1, Array2, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn gaussian(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(rng))
}

fn orthonormal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let square = egg_geometry::GrassmannPoint::<f64>::random(rows, columns, rng).unwrap();
    square.into_basis()
}

/// An n x m matrix with these singular values and random directions.
fn with_singular_values(n: usize, m: usize, sigma: &[f64], rng: &mut ChaCha8Rng) -> Array2<f64> {
    let left = orthonormal(n, sigma.len(), rng);
    let right = orthonormal(m, sigma.len(), rng);
    (&left * &Array1::from(sigma.to_vec())).dot(&right.t())
}

/// `sum W o P` with p directions held.
fn loss(h: ArrayView2<'_, f64>, w: &Array2<f64>, p: usize) -> f64 {
    let mut factors = Factors::new();
    factors
        .compute(h, RankRule::Fixed(p), &mut Workspace::new())
        .unwrap();
    assert_eq!(factors.choice().p, p);
    (factors.projector::<f64>() * w).sum()
}

fn gradient(h: ArrayView2<'_, f64>, w: &Array2<f64>, p: usize) -> Array2<f64> {
    let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    factors.compute(h, RankRule::Fixed(p), &mut workspace).unwrap();
    assert_eq!(factors.choice().p, p);
    factors.gradient(h, w.view(), &mut workspace).unwrap()
}

/// Largest error of the gradient relative to its largest entry.
fn error_against_differences(h: &Array2<f64>, p: usize, step: f64, rng: &mut ChaCha8Rng) -> f64 {
    let m = h.ncols();
    // Not symmetric: the gradient must take the symmetric part itself.
    let w = gaussian(m, m, rng);
    let analytic = gradient(h.view(), &w, p);
    let mut numeric = Array2::zeros(h.dim());
    for index in ndarray::indices(h.dim()) {
        let at = |offset: f64| {
            let mut moved = h.clone();
            moved[index] += offset;
            loss(moved.view(), &w, p)
        };
        // Fourth order, so that a step well above rounding is accurate.
        numeric[index] = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
    }
    let size = numeric
        .iter()
        .fold(1e-3, |most: f64, entry: &f64| most.max(entry.abs()));
    (&analytic - &numeric)
        .iter()
        .fold(0.0, |most: f64, entry: &f64| most.max(entry.abs()))
        / size
}

#[test]
fn gradient_matches_differences_on_every_shape() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let cases: Vec<(&str, Array2<f64>, usize)> = vec![
        (
            "n > m",
            with_singular_values(9, 5, &[3.0, 2.5, 1.0, 0.7, 0.4], &mut rng),
            2,
        ),
        (
            "n > m, cut low",
            with_singular_values(9, 5, &[3.0, 2.5, 1.0, 0.7, 0.1], &mut rng),
            4,
        ),
        (
            "n = m",
            with_singular_values(5, 5, &[3.0, 2.5, 1.0, 0.7, 0.4], &mut rng),
            3,
        ),
        ("n < m", with_singular_values(3, 7, &[2.0, 1.2, 0.5], &mut rng), 2),
        (
            "n < m, p = n",
            with_singular_values(3, 7, &[2.0, 1.2, 0.5], &mut rng),
            3,
        ),
        ("n = 1", gaussian(1, 6, &mut rng), 1),
        ("m = 1", gaussian(4, 1, &mut rng), 1),
        ("p = m", gaussian(8, 4, &mut rng), 4),
        (
            "kept values repeated",
            with_singular_values(9, 5, &[2.0, 2.0, 2.0, 0.7, 0.4], &mut rng),
            3,
        ),
        (
            "kept values repeated, n < m",
            with_singular_values(4, 8, &[2.0, 2.0, 0.7, 0.4], &mut rng),
            2,
        ),
        (
            "dropped values repeated",
            with_singular_values(9, 5, &[2.0, 1.5, 0.5, 0.5, 0.5], &mut rng),
            2,
        ),
        (
            "dropped values repeated, n < m",
            with_singular_values(4, 8, &[2.0, 0.5, 0.5, 0.5], &mut rng),
            1,
        ),
    ];
    for (name, h, p) in cases {
        let error = error_against_differences(&h, p, 1e-3, &mut rng);
        assert!(error < 1e-6, "{name}: relative error {error:e}");
    }
}

#[test]
fn gradient_matches_differences_on_rank_deficient_matrices() {
    // p below the rank, and p = rank, where the dropped block is the null space:
    // a difference moves it off zero, but only to second order.
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for (n, m, sigma, p) in [
        (9, 5, vec![2.0, 1.4, 0.8], 2),
        (9, 5, vec![2.0, 1.4, 0.8], 3),
        (4, 8, vec![2.0, 1.0], 1),
        (4, 8, vec![2.0, 1.0], 2),
        (500, 4, vec![3.0], 1),
    ] {
        let h = with_singular_values(n, m, &sigma, &mut rng);
        let error = error_against_differences(&h, p, 1e-3, &mut rng);
        assert!(
            error < 1e-6,
            "{n} x {m} of rank {}, p = {p}: {error:e}",
            sigma.len()
        );
    }
}

#[test]
fn embedding_gradient_matches_projector_gradient() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let h = with_singular_values(7, 4, &[3.0, 2.0, 1.0, 0.5], &mut rng);
    let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    factors
        .compute(h.view(), RankRule::Fixed(2), &mut workspace)
        .unwrap();
    for flatten in [Flatten::Upper, Flatten::Isometric] {
        let upstream = Array1::from_shape_simple_fn(Flatten::length(4), || StandardNormal.sample(&mut rng));
        let mut out = Array2::zeros(h.dim());
        factors
            .gradient_of_embedding(h.view(), upstream.view(), flatten, out.view_mut(), &mut workspace)
            .unwrap();
        // L = upstream . flatten(P), by differences along a random direction.
        let direction = gaussian(7, 4, &mut rng);
        let at = |t: f64| {
            let mut factors = Factors::new();
            let moved = &h + &(&direction * t);
            factors
                .compute(moved.view(), RankRule::Fixed(2), &mut Workspace::new())
                .unwrap();
            flatten
                .flatten(factors.projector::<f64>().view())
                .unwrap()
                .dot(&upstream)
        };
        let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
        let analytic = (&out * &direction).sum();
        assert!(
            abs_diff_eq!(numeric, analytic, epsilon = 1e-7 * analytic.abs().max(1.0)),
            "{flatten:?}: {numeric} {analytic}"
        );
    }
}

#[test]
fn zero_matrix_has_zero_gradient() {
    for (n, m) in [(4, 3), (1, 5), (3, 8)] {
        let h = Array2::<f64>::zeros((n, m));
        let w = Array2::from_elem((m, m), 1.5);
        let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
        factors
            .compute(h.view(), RankRule::Fixed(2), &mut workspace)
            .unwrap();
        assert_eq!(factors.choice().p, 0);
        assert_eq!(factors.gradient(h.view(), w.view(), &mut workspace).unwrap(), h);
        assert_eq!(factors.projector::<f64>(), Array2::<f64>::zeros((m, m)));
    }
}

#[test]
fn gradient_is_equivariant_to_row_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let h = gaussian(6, 4, &mut rng);
    let w = gaussian(4, 4, &mut rng);
    let order = [3, 0, 5, 1, 4, 2];
    let straight = gradient(h.view(), &w, 2).select(ndarray::Axis(0), &order);
    let shuffled = gradient(h.select(ndarray::Axis(0), &order).view(), &w, 2);
    assert_abs_diff_eq!(straight, shuffled, epsilon = 1e-12);
}

#[test]
fn gradient_scales_inversely_with_h() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let h = gaussian(6, 4, &mut rng);
    let w = gaussian(4, 4, &mut rng);
    let plain = gradient(h.view(), &w, 2);
    for scale in [1e-30, 1e-3, 1e7, 1e30] {
        let scaled = gradient((&h * scale).view(), &w, 2);
        assert_abs_diff_eq!(scaled * scale, plain, epsilon = 1e-10);
    }
}
