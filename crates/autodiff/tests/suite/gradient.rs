//! Gradients of the hard operations against central differences.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use candle_core::{Device, Tensor, Var};
use egg_autodiff::{
    Filter, Flatten, RankRule, grassmann_embed, leverage, principal_angles, projector, soft_embed, svd,
};

use crate::differences::{agrees, flat, normal, weighted_gradient, with_singular_values};

/// Matrices with a clear cut after p, among them every degenerate kind.
fn cases() -> Vec<(&'static str, Tensor, usize)> {
    vec![
        (
            "generic",
            with_singular_values(9, 5, &[4.0, 3.0, 2.0, 0.7, 0.3], 1),
            3,
        ),
        (
            "repeated among the kept",
            with_singular_values(8, 5, &[3.0, 3.0, 3.0, 0.7, 0.3], 2),
            3,
        ),
        (
            "repeated among the dropped",
            with_singular_values(8, 5, &[4.0, 3.0, 0.5, 0.5, 0.5], 3),
            2,
        ),
        (
            "repeated in both",
            with_singular_values(8, 4, &[3.0, 3.0, 0.5, 0.5], 4),
            2,
        ),
        (
            "rank-deficient, cut at the rank",
            with_singular_values(8, 5, &[3.0, 2.0], 5),
            2,
        ),
        (
            "rank-deficient, cut above",
            with_singular_values(8, 6, &[3.0, 2.0, 0.5], 6),
            2,
        ),
        ("n < m", with_singular_values(3, 6, &[3.0, 2.0, 0.5], 7), 2),
        ("n < m, all kept", normal(3, 6, 8), 3),
        (
            "n < m, rank-deficient",
            with_singular_values(4, 6, &[3.0, 1.0], 9),
            1,
        ),
        ("n = 1", normal(1, 5, 10), 1),
        ("m = 1", normal(5, 1, 11), 1),
        (
            "small",
            (with_singular_values(9, 4, &[4.0, 3.0, 0.7, 0.3], 12) * 1e-30).unwrap(),
            2,
        ),
        (
            "large",
            (with_singular_values(9, 4, &[4.0, 3.0, 0.7, 0.3], 13) * 1e30).unwrap(),
            2,
        ),
    ]
}

#[test]
fn embedding_gradient_matches_differences() {
    for (what, h, p) in cases() {
        let rows = h.dims()[0];
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            agrees(what, &h, |h| {
                grassmann_embed(h, &[0, rows], RankRule::Fixed(p), flatten)
            });
        }
    }
}

#[test]
fn projector_gradient_matches_differences() {
    for (what, h, p) in cases() {
        agrees(what, &h, |h| projector(h, RankRule::Fixed(p)));
    }
}

#[test]
fn leverage_gradient_matches_differences() {
    for (what, h, p) in cases() {
        let rows = h.dims()[0];
        agrees(what, &h, |h| leverage(h, &[0, rows], RankRule::Fixed(p)));
    }
}

#[test]
fn mini_batch_gradient_matches_differences() {
    let h = normal(16, 4, 20);
    let offsets = [0, 0, 7, 9, 10, 10, 16];
    let rule = RankRule::Fixed(1);
    agrees("embedding", &h, |h| {
        grassmann_embed(h, &offsets, rule, Flatten::Upper)
    });
    agrees("leverage", &h, |h| leverage(h, &offsets, rule));
    // Not contiguous: the gradient goes through the transpose.
    let turned = normal(4, 16, 21);
    agrees("strided", &turned, |h| {
        grassmann_embed(&h.t()?, &offsets, rule, Flatten::Upper)
    });
}

#[test]
fn svd_gradient_matches_differences() {
    for (what, a) in [
        ("tall", with_singular_values(7, 4, &[4.0, 3.0, 2.0, 1.0], 30)),
        ("wide", with_singular_values(3, 6, &[4.0, 2.5, 1.0], 31)),
        ("square", with_singular_values(4, 4, &[4.0, 3.0, 2.0, 1.0], 32)),
        (
            "small",
            (with_singular_values(5, 3, &[4.0, 2.5, 1.0], 33) * 1e-20).unwrap(),
        ),
        ("one row", normal(1, 4, 34)),
    ] {
        agrees(what, &a, |a| Ok(svd(a)?.0));
        agrees(what, &a, |a| Ok(svd(a)?.1));
        agrees(what, &a, |a| Ok(svd(a)?.2));
        // All three in one loss.
        agrees(what, &a, |a| {
            let (u, s, v) = svd(a)?;
            Ok(Tensor::cat(
                &[u.broadcast_mul(&s)?.flatten_all()?, s, v.sqr()?.flatten_all()?],
                0,
            )?)
        });
    }
}

#[test]
fn batched_svd_gradient_matches_differences() {
    let stack: Vec<Tensor> = (0..3)
        .map(|k| with_singular_values(5, 3, &[4.0, 2.5, 1.0], 40 + k))
        .collect();
    let stack = Tensor::stack(&stack, 0).unwrap();
    agrees("batch", &stack, |a| Ok(svd(a)?.2));
    let (u, s, v) = svd(&stack).unwrap();
    assert_eq!(
        (u.dims(), s.dims(), v.dims()),
        (&[3, 5, 3][..], &[3, 3][..], &[3, 3, 3][..])
    );
    let (alone, ..) = svd(&stack.get(1).unwrap()).unwrap();
    assert_eq!(flat(&u.get(1).unwrap()), flat(&alone));
}

#[test]
fn zero_matrix_has_zero_gradient() {
    let h = Var::zeros((6, 4), candle_core::DType::F64, &Device::Cpu).unwrap();
    let rule = RankRule::Relative(0.5);
    for gradient in [
        weighted_gradient(&h, |h| grassmann_embed(h, &[0, 4, 4, 6], rule, Flatten::Upper)),
        weighted_gradient(&h, |h| projector(h, rule)),
        weighted_gradient(&h, |h| leverage(h, &[0, 4, 6], rule)),
    ] {
        assert!(gradient.iter().all(|entry| *entry == 0.0));
    }
}

#[test]
fn f32_embedding_gradient_is_the_rounded_f64_gradient() {
    let h = normal(12, 5, 50);
    let narrow = h.to_dtype(candle_core::DType::F32).unwrap();
    let wide = Var::from_tensor(&narrow.to_dtype(candle_core::DType::F64).unwrap()).unwrap();
    let narrow = Var::from_tensor(&narrow).unwrap();
    let run = |h: &Var| {
        weighted_gradient(h, |h| {
            grassmann_embed(h, &[0, 5, 12], RankRule::Fixed(2), Flatten::Upper)
        })
    };
    for (a, b) in run(&wide).iter().zip(run(&narrow)) {
        assert_abs_diff_eq!(*a, b, epsilon = 1e-5 * a.abs().max(1.0));
    }
}

#[test]
fn backward_can_run_twice() {
    let h = Var::from_tensor(&normal(6, 3, 60)).unwrap();
    let loss = grassmann_embed(&h, &[0, 6], RankRule::Fixed(2), Flatten::Upper)
        .unwrap()
        .get(0)
        .unwrap()
        .get(0)
        .unwrap();
    let once = flat(loss.backward().unwrap().get(&h).unwrap());
    assert_eq!(once, flat(loss.backward().unwrap().get(&h).unwrap()));
}

/// On a tie single vectors have no derivative, and the guard leaves the pair out;
/// the sum of the values has one.
#[test]
fn nuclear_norm_gradient_is_right_at_ties() {
    for (what, a) in [
        ("all equal", with_singular_values(6, 3, &[2.0, 2.0, 2.0], 70)),
        ("two equal", with_singular_values(6, 4, &[3.0, 2.0, 2.0, 1.0], 71)),
        (
            "wide, two equal",
            with_singular_values(3, 7, &[2.0, 2.0, 1.0], 72),
        ),
        (
            "small, two equal",
            (with_singular_values(5, 3, &[2.0, 2.0, 1.0], 73) * 1e-20).unwrap(),
        ),
    ] {
        agrees(what, &a, |a| Ok(svd(a)?.1.sum_all()?));
    }
}

#[test]
fn f32_gradients_are_rounded_f64_gradients_for_every_operation() {
    let h = with_singular_values(12, 5, &[4.0, 3.0, 2.0, 0.7, 0.3], 80);
    let b = normal(12, 2, 81);
    type Operation<'a> = &'a dyn Fn(&Tensor) -> egg_autodiff::Result<Tensor>;
    let filter = |filter: &Filter, h: &Tensor| soft_embed(h, &[0, 3, 12], filter, Flatten::Upper);
    let filters = [
        Filter::resolvent(0.5).unwrap(),
        Filter::resolvent(1e-3).unwrap(),
        Filter::sqrt(),
        Filter::log1p(),
    ];
    let operations: [(&str, Operation<'_>); 10] = [
        ("leverage", &|h| leverage(h, &[0, 12], RankRule::Fixed(3))),
        ("projector", &|h| projector(h, RankRule::Fixed(3))),
        ("U", &|h| Ok(svd(h)?.0)),
        ("s", &|h| Ok(svd(h)?.1)),
        ("V", &|h| Ok(svd(h)?.2)),
        ("angles", &|h| principal_angles(h, &b.to_dtype(h.dtype())?)),
        ("resolvent", &|h| filter(&filters[0], h)),
        ("small resolvent", &|h| filter(&filters[1], h)),
        ("sqrt", &|h| filter(&filters[2], h)),
        ("log1p", &|h| filter(&filters[3], h)),
    ];
    for (what, operation) in operations {
        let narrow = h.to_dtype(candle_core::DType::F32).unwrap();
        let wide = Var::from_tensor(&narrow.to_dtype(candle_core::DType::F64).unwrap()).unwrap();
        let narrow = Var::from_tensor(&narrow).unwrap();
        // The other operand and the weights are rounded too.
        let (wide, narrow) = (
            weighted_gradient(&wide, operation),
            weighted_gradient(&narrow, operation),
        );
        let largest = wide.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        for (a, b) in wide.iter().zip(narrow) {
            assert!(
                abs_diff_eq!(*a, b, epsilon = 1e-5 * largest),
                "{what}: {a} and {b} of {largest}"
            );
        }
    }
}
