//! The soft embedding: values, gradients, and its paths against each other.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use candle_core::{DType, Tensor, Var};
use egg_autodiff::{Filter, Flatten, soft_embed};

use crate::differences::{agrees, flat, normal, weighted_gradient, with_singular_values};

fn cases() -> Vec<(&'static str, Tensor)> {
    vec![
        (
            "generic",
            with_singular_values(9, 5, &[4.0, 3.0, 2.0, 0.7, 0.3], 1),
        ),
        (
            "repeated",
            with_singular_values(8, 5, &[3.0, 3.0, 3.0, 0.5, 0.5], 2),
        ),
        ("rank-deficient", with_singular_values(8, 5, &[3.0, 2.0], 5)),
        ("n < m", with_singular_values(3, 6, &[3.0, 2.0, 0.5], 7)),
        ("n < m, repeated", with_singular_values(3, 6, &[3.0, 3.0, 3.0], 7)),
        (
            "n < m, rank-deficient",
            with_singular_values(4, 6, &[3.0, 1.0], 9),
        ),
        ("n = 1", normal(1, 5, 10)),
        ("m = 1", normal(5, 1, 11)),
    ]
}

/// The resolvent the long way.
fn as_custom(r: f64) -> Filter {
    Filter::custom(
        move |lambda| lambda / (lambda + r * r),
        move |lambda| r * r / (lambda + r * r).powi(2),
    )
}

#[test]
fn soft_gradients_match_differences() {
    for (what, h) in cases() {
        let rows = h.dims()[0];
        let offsets = [0, 0, rows];
        let run = |filter: &Filter| {
            for flatten in [Flatten::Upper, Flatten::Isometric] {
                agrees(&format!("{what}, {filter:?}"), &h, |h| {
                    soft_embed(h, &offsets, filter, flatten)
                });
            }
        };
        for r in [0.5, 30.0, 0.02] {
            run(&Filter::resolvent(r).unwrap());
            if r > 0.1 {
                run(&as_custom(r));
            }
        }
        run(&Filter::log1p());
        run(&Filter::custom(
            |lambda| (-lambda).exp(),
            |lambda| -(-lambda).exp(),
        ));
    }
    for (what, h) in cases() {
        // The root has no derivative where a singular value is 0.
        if !what.contains("deficient") {
            let rows = h.dims()[0];
            agrees(what, &h, |h| {
                soft_embed(h, &[0, rows], &Filter::sqrt(), Flatten::Upper)
            });
        }
    }
}

#[test]
fn cholesky_and_spectral_paths_agree() {
    for (what, h) in cases() {
        let rows = h.dims()[0];
        let var = Var::from_tensor(&h).unwrap();
        for r in [10.0, 1.0, 0.2] {
            let by = |filter: Filter| move |h: &Tensor| soft_embed(h, &[0, rows], &filter, Flatten::Upper);
            let (direct, custom) = (by(Filter::resolvent(r).unwrap()), by(as_custom(r)));
            for (a, b) in flat(&direct(&h).unwrap()).iter().zip(flat(&custom(&h).unwrap())) {
                assert!(
                    abs_diff_eq!(*a, b, epsilon = 1e-12),
                    "{what}, r = {r}: {a} and {b}"
                );
            }
            let gradients = (weighted_gradient(&var, direct), weighted_gradient(&var, custom));
            for (a, b) in gradients.0.iter().zip(&gradients.1) {
                assert!(
                    abs_diff_eq!(a, b, epsilon = 1e-10 * (1.0 + a.abs())),
                    "{what}, r = {r}: {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn spectral_path_keeps_its_digits() {
    // P's eigenvalues are known; far beyond where Cholesky would lose them.
    for (n, m, scale) in [(9, 4, 1e6), (3, 6, 1e6), (9, 4, 1e9), (9, 4, 1e30)] {
        let sigma = [3.0 * scale, 2.0 * scale, 1.0 * scale];
        let h = with_singular_values(n, m, &sigma, 3);
        let p = soft_embed(&h, &[0, n], &Filter::resolvent(1.0).unwrap(), Flatten::Isometric).unwrap();
        let square: f64 = flat(&p).iter().map(|entry| entry * entry).sum();
        assert!(
            abs_diff_eq!(square, 3.0, epsilon = 1e-11),
            "{square} at scale {scale:e}"
        );
    }
    // On either side of the switch, too.
    let sigma = [1.0, 0.5, 0.02, 0.01];
    let h = with_singular_values(9, 4, &sigma, 4);
    for r in [1.0e-2, 1.1e-2, 1.12e-2, 1.15e-2, 1.2e-2] {
        let p = soft_embed(&h, &[0, 9], &Filter::resolvent(r).unwrap(), Flatten::Isometric).unwrap();
        let square: f64 = flat(&p).iter().map(|entry| entry * entry).sum();
        let share = |sigma: f64| sigma * sigma / (sigma * sigma + r * r);
        let expected: f64 = sigma.iter().map(|sigma| share(*sigma).powi(2)).sum();
        assert!(
            abs_diff_eq!(square, expected, epsilon = 1e-11),
            "{square} for {expected} at {r}"
        );
    }
}

#[test]
fn small_r_approaches_the_projector_and_large_r_the_gram_matrix() {
    let h = with_singular_values(7, 5, &[3.0, 2.0], 6);
    let soft = soft_embed(&h, &[0, 7], &Filter::resolvent(1e-5).unwrap(), Flatten::Upper).unwrap();
    let hard =
        egg_autodiff::grassmann_embed(&h, &[0, 7], egg_autodiff::RankRule::Fixed(2), Flatten::Upper).unwrap();
    for (a, b) in flat(&soft).iter().zip(flat(&hard)) {
        assert_abs_diff_eq!(*a, b, epsilon = 1e-9);
    }
    for shape in [(7, 5), (3, 5)] {
        let h = normal(shape.0, shape.1, 8);
        let soft = soft_embed(
            &h,
            &[0, shape.0],
            &Filter::resolvent(1e6).unwrap(),
            Flatten::Upper,
        )
        .unwrap();
        let gram = soft_embed(&h, &[0, shape.0], &Filter::custom(|x| x, |_| 1.0), Flatten::Upper).unwrap();
        for (a, b) in flat(&soft).iter().zip(flat(&gram)) {
            assert_abs_diff_eq!(a * 1e12, b, epsilon = 1e-9 * b.abs().max(1.0));
        }
    }
}

#[test]
fn f32_matches_f64() {
    for (what, h) in cases() {
        let rows = h.dims()[0];
        let narrow = h.to_dtype(DType::F32).unwrap();
        let wide = narrow.to_dtype(DType::F64).unwrap();
        for filter in [Filter::resolvent(0.5).unwrap(), Filter::log1p(), Filter::sqrt()] {
            let run = |h: &Tensor| flat(&soft_embed(h, &[0, rows], &filter, Flatten::Upper).unwrap());
            for (a, b) in run(&narrow).iter().zip(run(&wide)) {
                assert!(
                    abs_diff_eq!(*a, b, epsilon = 1e-6 * b.abs().max(1.0)),
                    "{what}, {filter:?}: {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn empty_graphs_give_the_filter_at_zero() {
    let h = normal(2, 2, 9);
    let rows = soft_embed(&h, &[0, 2, 2], &Filter::resolvent(1.0).unwrap(), Flatten::Upper).unwrap();
    assert_eq!(flat(&rows)[3..], [0.0; 3]);
    let heat = Filter::custom(|lambda| (-lambda).exp(), |lambda| -(-lambda).exp());
    let rows = soft_embed(&h, &[0, 2, 2], &heat, Flatten::Upper).unwrap();
    assert_eq!(flat(&rows)[3..], [1.0, 0.0, 1.0]);
}

#[test]
fn soft_gradients_match_differences_at_any_scale() {
    for (scale, seed) in [(1e-30, 30), (1e30, 31)] {
        let h = (normal(6, 4, seed) * scale).unwrap();
        let filter = Filter::resolvent(0.5 * scale).unwrap();
        agrees(&format!("{scale:e}"), &h, |h| {
            soft_embed(h, &[0, 2, 6], &filter, Flatten::Upper)
        });
    }
    // Even in H, so flat at 0.
    let zero = normal(5, 3, 32).zeros_like().unwrap();
    agrees("zero", &zero, |h| {
        soft_embed(h, &[0, 5], &Filter::resolvent(0.5)?, Flatten::Upper)
    });
}

/// Found by torture: slopes of `1 / r^2` left the range of f64 where neither r nor
/// the gradient did, and gave NaN below 1e-154 and a gradient a thousand times too
/// small above 1e154. Powers of two change no digit.
#[test]
fn soft_gradients_scale_inversely_with_h() {
    let h = normal(6, 4, 1);
    // By Cholesky, and by an SVD.
    for r in [0.5, 1e-3] {
        let gradient = |power: i32| {
            let scale = 2f64.powi(power);
            let h = Var::from_tensor(&(&h * scale).unwrap()).unwrap();
            let filter = Filter::resolvent(r * scale).unwrap();
            weighted_gradient(&h, |h| soft_embed(h, &[0, 6], &filter, Flatten::Upper))
        };
        let plain = gradient(0);
        let largest = plain.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        for power in [-990, -700, -300, 300, 700, 990] {
            let scale = 2f64.powi(power);
            for (found, plain) in gradient(power).iter().zip(&plain) {
                let off = (found * scale - plain).abs() / largest;
                assert!(off <= 1e-14, "r = {r} times 2^{power}: {off:e}");
            }
        }
    }
}

/// The derivative of a root has no scale: entries that are not normal numbers any
/// more lose digits, and nothing else.
#[test]
fn sqrt_filter_has_a_gradient_at_subnormal_input() {
    let h = normal(6, 4, 1);
    let gradient = |power: i32| {
        // In two steps: 2^-1060 has no digits to spare.
        let scaled = ((&h * 2f64.powi(power / 2)).unwrap() * 2f64.powi(power / 2)).unwrap();
        let h = Var::from_tensor(&scaled).unwrap();
        weighted_gradient(&h, |h| soft_embed(h, &[0, 6], &Filter::sqrt(), Flatten::Upper))
    };
    let plain = gradient(0);
    for (power, tolerance) in [(1000, 1e-14), (-1000, 1e-14), (-1040, 1e-8), (-1060, 1e-2)] {
        for (found, plain) in gradient(power).iter().zip(&plain) {
            assert!(
                abs_diff_eq!(found, plain, epsilon = tolerance),
                "2^{power}: {found} for {plain}"
            );
        }
    }
}
