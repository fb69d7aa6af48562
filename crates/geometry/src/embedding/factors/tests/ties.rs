//! Cuts that no rule makes: inside a group of tied singular values.

use approx::{assert_abs_diff_eq, relative_eq};
use ndarray::{Array1, Array2, array, s};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{gaussian, orthonormal, with_singular_values};
use crate::{Factors, RankRule, Scalar, Workspace};

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
fn gradients_of_degenerate_matrices_are_finite() {
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
            factors.fix_rank(p);
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
    factors.fix_rank(p);
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
fn tie_at_the_cut_has_zero_coupling() {
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
fn tie_broken_by_rounding_is_guarded_without_affecting_other_pairs() {
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
        factors.fix_rank(1);
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
