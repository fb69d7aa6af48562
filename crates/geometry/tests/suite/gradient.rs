//! The gradient of the projector against central differences, p held, and its
//! behaviour where the gradient of an SVD breaks down.

use approx::{abs_diff_eq, assert_abs_diff_eq, relative_eq};
use egg_geometry::{Factors, Flatten, RankRule, Scalar, Workspace};
use ndarray::{Array1, Array2, ArrayView2, array, s};
use rand::{RngExt, SeedableRng};
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
    // Threshold 0 keeps all there is; then p is held.
    factors
        .compute(h, RankRule::Threshold(0.0), &mut Workspace::new())
        .unwrap();
    factors.hold_rank(p);
    (factors.projector::<f64>() * w).sum()
}

fn gradient(h: ArrayView2<'_, f64>, w: &Array2<f64>, p: usize) -> Array2<f64> {
    let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    factors
        .compute(h, RankRule::Threshold(0.0), &mut workspace)
        .unwrap();
    factors.hold_rank(p);
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
fn matches_differences_on_every_shape() {
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
fn matches_differences_on_rank_deficient_matrices() {
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
fn the_embedding_gradient_is_the_projector_gradient() {
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
fn zero_has_exactly_no_gradient() {
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
fn rows_move_with_their_gradient() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let h = gaussian(6, 4, &mut rng);
    let w = gaussian(4, 4, &mut rng);
    let order = [3, 0, 5, 1, 4, 2];
    let straight = gradient(h.view(), &w, 2).select(ndarray::Axis(0), &order);
    let shuffled = gradient(h.select(ndarray::Axis(0), &order).view(), &w, 2);
    assert_abs_diff_eq!(straight, shuffled, epsilon = 1e-12);
}

#[test]
fn scaling_h_divides_the_gradient() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let h = gaussian(6, 4, &mut rng);
    let w = gaussian(4, 4, &mut rng);
    let plain = gradient(h.view(), &w, 2);
    for scale in [1e-30, 1e-3, 1e7, 1e30] {
        let scaled = gradient((&h * scale).view(), &w, 2);
        assert_abs_diff_eq!(scaled * scale, plain, epsilon = 1e-10);
    }
}

/// Random matrices with everything that can go wrong.
fn degenerate(rng: &mut ChaCha8Rng) -> Array2<f64> {
    let n = rng.random_range(1..12);
    let m = rng.random_range(1..12);
    let k = n.min(m);
    let mut h = match rng.random_range(0..8) {
        0 => Array2::zeros((n, m)),
        1 => Array2::from_elem((n, m), 1.0),
        // Entries 0 and 1: exact ties, repeated rows and columns.
        2 => Array2::from_shape_simple_fn((n, m), || f64::from(rng.random_range(0..2u8))),
        3 => Array2::eye(n.max(m)).slice_move(ndarray::s![..n, ..m]),
        // A value repeated several times, and near ties.
        4 => {
            let sigma: Vec<f64> = (0..k).map(|_| f64::from(rng.random_range(0..3u8))).collect();
            with_singular_values(n, m, &sigma, rng)
        }
        5 => {
            let wobble = 10f64.powi(-rng.random_range(1..17));
            let sigma: Vec<f64> = (0..k).map(|i| 1.0 + wobble * i as f64).collect();
            with_singular_values(n, m, &sigma, rng)
        }
        6 => {
            let sigma: Vec<f64> = (0..k).map(|_| 10f64.powi(-rng.random_range(0..20))).collect();
            with_singular_values(n, m, &sigma, rng)
        }
        _ => gaussian(n, m, rng),
    };
    if rng.random_bool(0.3) {
        // A repeated row.
        let row = h.row(0).to_owned();
        h.row_mut(n - 1).assign(&row);
    }
    h * 10f64.powi(rng.random_range(-30..31))
}

#[test]
fn finite_on_ten_thousand_degenerate_matrices() {
    let count = if std::env::var_os("EGG_TEST_FULL").is_some() {
        200_000
    } else {
        10_000
    };
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    let mut held_at_ties = 0;
    for case in 0..count {
        let h = degenerate(&mut rng);
        let m = h.ncols();
        let w = gaussian(m, m, &mut rng);
        let rule = match rng.random_range(0..5) {
            0 => RankRule::Fixed(rng.random_range(1..12)),
            1 => RankRule::Ratio(rng.random_range(0.1..1.0)),
            2 => RankRule::Threshold(rng.random_range(0.0..2.0)),
            3 => RankRule::Relative(rng.random_range(0.0..1.0)),
            _ => RankRule::Energy(rng.random_range(0.1..1.0)),
        };
        let single = h.mapv(|entry| entry as f32);
        let w_single = w.mapv(|entry| entry as f32);

        factors.compute(h.view(), rule, &mut workspace).unwrap();
        let by_rule = factors.choice();
        assert!(by_rule.p <= by_rule.numerical_rank);
        for p in 0..=by_rule.numerical_rank {
            // Every cut, inside ties too.
            factors.hold_rank(p);
            held_at_ties += usize::from(p > 0 && factors.choice().gap < 1e-14);
            let out = factors.gradient(h.view(), w.view(), &mut workspace).unwrap();
            assert!(
                out.iter().all(|entry| entry.is_finite()),
                "case {case}, p = {p}: {h:?}"
            );
            assert!(factors.projector::<f64>().iter().all(|entry| entry.is_finite()));
        }
        factors.compute(single.view(), rule, &mut workspace).unwrap();
        let out = factors
            .gradient(single.view(), w_single.view(), &mut workspace)
            .unwrap();
        assert!(
            out.iter().all(|entry| entry.is_finite()),
            "case {case}, f32: {h:?}"
        );
    }
    assert!(
        held_at_ties > count / 20,
        "only {held_at_ties} cuts were at a tie"
    );
}

/// `C = sum_k lambda_k E_k` by its distinct eigenvalues, and the projector that a cut
/// through one of the eigenspaces keeps.
struct HeldInATie {
    spaces: Vec<(f64, Array2<f64>)>,
    kept: Array2<f64>,
}

impl HeldInATie {
    /// `P_k` and `Q_k`: what is kept of the eigenspace and what is dropped of it.
    fn parts(&self) -> Vec<(f64, Array2<f64>, Array2<f64>)> {
        let part = |(lambda, space): &(f64, Array2<f64>)| {
            let kept = space.dot(&self.kept).dot(space);
            let dropped = space - &kept;
            (*lambda, kept, dropped)
        };
        self.spaces.iter().map(part).collect()
    }

    /// `G_C` by the formula, without pairs of the same eigenvalue:
    /// `sum_{k != l} (P_k G Q_l + Q_l G P_k) / (lambda_k - lambda_l)`. It does not
    /// matter which directions of the tied space were kept.
    fn coupling(&self, g: &Array2<f64>) -> Array2<f64> {
        let parts = self.parts();
        let mut sum = Array2::zeros(g.dim());
        for (of_kept, kept, _) in &parts {
            for (of_dropped, _, dropped) in &parts {
                if of_kept != of_dropped {
                    let pair = kept.dot(g).dot(dropped) / (of_kept - of_dropped);
                    sum = sum + &pair + pair.t();
                }
            }
        }
        sum
    }
}

/// A matrix of exact numbers whose Gram matrix is this diagonal, held at p.
fn check_exact_tie<T: Scalar>(h: &Array2<f64>, lambda: &[f64], p: usize, tolerance: f64) {
    let m = h.ncols();
    let what = format!("{} of {h}, p = {p}", std::any::type_name::<T>());
    assert_eq!(h.t().dot(h), Array2::from_diag(&Array1::from(lambda.to_vec())));
    let w = Array2::from_shape_fn((m, m), |(i, j)| (1 + i + j + i * j) as f64);
    let narrow = |x: &Array2<f64>| x.mapv(T::rounded);

    let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    let all = RankRule::Threshold(0.0);
    factors.compute(narrow(h).view(), all, &mut workspace).unwrap();
    factors.hold_rank(p);
    assert_eq!((factors.choice().p, factors.choice().gap), (p, 0.0), "{what}");
    let mut distinct = lambda.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let space = |value: f64| {
        let axes = lambda.iter().map(|of| f64::from(u8::from(*of == value)));
        Array2::from_diag(&Array1::from_iter(axes))
    };
    let held = HeldInATie {
        spaces: distinct.iter().map(|value| (*value, space(*value))).collect(),
        kept: factors.projector::<f64>(),
    };
    // Directions are axes, so that nothing below is a sum that happens to cancel.
    let axes = |((i, j), entry): ((usize, usize), &f64)| i == j || *entry == 0.0;
    assert!(held.kept.indexed_iter().all(axes), "{what}: {}", held.kept);

    let out = factors.gradient(narrow(h).view(), narrow(&w).view(), &mut workspace);
    let out = out.unwrap().mapv(T::as_f64);
    let expected = 2.0 * h.dot(&held.coupling(&w));
    assert!(expected.iter().any(|entry| *entry != 0.0), "{what}");
    for (found, wanted) in out.iter().zip(&expected) {
        // Most entries have no pair but the tied one: zero, and not only nearly.
        assert!(
            relative_eq!(*found, *wanted, epsilon = 0.0, max_relative = tolerance),
            "{what}: {out} for {expected}"
        );
    }
}

#[test]
fn a_tie_at_the_cut_gives_zero_coupling_not_infinity() {
    let cases: [(Array2<f64>, Vec<f64>, Vec<usize>); 6] = [
        (
            array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]],
            vec![1.0, 1.0, 0.25],
            vec![1],
        ),
        // Three tied below another, cut at either place.
        (
            Array2::from_diag(&array![0.5, 2.0, 0.5, 0.5]),
            vec![0.25, 4.0, 0.25, 0.25],
            vec![2, 3],
        ),
        // Columns of which none is a row.
        (
            array![[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.5]],
            vec![2.0, 2.0, 0.25],
            vec![1],
        ),
        // n < m: the rest is a null space.
        (
            array![[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]],
            vec![1.0, 1.0, 0.0, 0.0],
            vec![1],
        ),
        // n > m, and a null space.
        (
            array![[2.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
            vec![4.0, 0.0, 4.0],
            vec![1],
        ),
        // Every row twice, and two ties.
        (
            ndarray::concatenate![
                ndarray::Axis(0),
                Array2::from_diag(&array![1.0, 3.0, 3.0, 1.0]),
                Array2::from_diag(&array![1.0, 3.0, 3.0, 1.0])
            ],
            vec![2.0, 18.0, 18.0, 2.0],
            vec![1, 3],
        ),
    ];
    for (h, lambda, cuts) in cases {
        for p in cuts {
            check_exact_tie::<f64>(&h, &lambda, p, 1e-14);
            check_exact_tie::<f32>(&h, &lambda, p, 1e-6);
        }
    }
}

/// In random directions rounding breaks the tie, by x = a few eps. The guard then
/// couples the pair by `x / e^2` of some 1e8, where `1 / x` would be 1e16, and which
/// way is chance. All other pairs are as if the tie were exact.
#[test]
fn a_tie_that_rounding_breaks_is_guarded_and_moves_no_other_pair() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let mut broken = 0;
    for case in 0..200 {
        let (n, m) = [(5, 3), (3, 3), (9, 4), (4, 4)][case % 4];
        let sigma = &[2.0, 2.0, 1.0, 0.5][..m];
        let left = orthonormal(n, m, &mut rng);
        let right = orthonormal(m, m, &mut rng);
        let h = (&left * &Array1::from(sigma.to_vec())).dot(&right.t());
        let w = gaussian(m, m, &mut rng);
        let w = (&w + &w.t()) / 2.0;
        let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
        let all = RankRule::Threshold(0.0);
        factors.compute(h.view(), all, &mut workspace).unwrap();
        factors.hold_rank(1);
        let out = factors.gradient(h.view(), w.view(), &mut workspace).unwrap();
        // dL/dH = 2 H G_C, and H has an inverse from the left.
        let weights = Array1::from_iter(sigma.iter().map(|sigma| 0.5 / sigma));
        let found = (&right * &weights).dot(&left.t()).dot(&out);

        let plane = right.slice(s![.., ..2]);
        let mut spaces = vec![(4.0, plane.dot(&plane.t()))];
        for (at, sigma) in sigma.iter().enumerate().skip(2) {
            let direction = right.slice(s![.., at..=at]);
            spaces.push((sigma * sigma, direction.dot(&direction.t())));
        }
        let held = HeldInATie {
            spaces,
            kept: factors.projector::<f64>(),
        };
        let (_, kept, dropped) = &held.parts()[0];
        let size = |x: &Array2<f64>| x.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let tied = kept.dot(&found).dot(dropped);
        let of_g = kept.dot(&w).dot(dropped);
        // |x| <= 16 eps, and e = 1e-12.
        let most = 16.0 * f64::EPSILON / 1e-24 / 4.0 * size(&of_g);
        assert!(size(&tied) <= most, "{:e}, at most {most:e}", size(&tied));
        broken += usize::from(size(&tied) > 1.0);
        // What is left carries the rounding of the tied pair.
        let others = &found - &tied - tied.t();
        let tolerance = 1e-13 * (1.0 + size(&tied));
        assert_abs_diff_eq!(others, held.coupling(&w), epsilon = tolerance);
    }
    assert!(broken > 100, "rounding broke only {broken} ties of 200");
}
