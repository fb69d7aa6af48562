//! Finite input never gives NaN or infinity.

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_autodiff::{Filter, Flatten, RankRule, grassmann_embed, leverage, projector, soft_embed, svd};

use crate::differences::{flat, normal, weighted_gradient, with_singular_values};

fn ones(rows: usize, columns: usize) -> Tensor {
    Tensor::ones((rows, columns), DType::F64, &Device::Cpu).unwrap()
}

fn cases() -> Vec<(&'static str, Tensor)> {
    let scaled = |factor: f64| (normal(9, 5, 1) * factor).unwrap();
    vec![
        ("zeros", ones(7, 4).zeros_like().unwrap()),
        ("rank 1, n = 500", ones(500, 6)),
        (
            "identity: every value repeated",
            Tensor::eye(5, DType::F64, &Device::Cpu).unwrap(),
        ),
        (
            "repeated at the cut",
            with_singular_values(9, 5, &[2.0, 1.0, 1.0, 1.0, 0.5], 2),
        ),
        (
            "nearly repeated at the cut",
            with_singular_values(9, 5, &[2.0, 1.0, 1.0 - 1e-9, 0.7, 0.5], 3),
        ),
        ("1e-30", scaled(1e-30)),
        ("1e30", scaled(1e30)),
        (
            "wide apart",
            with_singular_values(9, 5, &[1e15, 1.0, 1e-10, 1e-15, 1e-30], 4),
        ),
        (
            "one zero row",
            Tensor::cat(&[normal(3, 4, 5), ones(1, 4).zeros_like().unwrap()], 0).unwrap(),
        ),
        ("one entry", {
            let mut entries = vec![0.0; 12];
            entries[5] = 1e-30;
            Tensor::from_vec(entries, (3, 4), &Device::Cpu).unwrap()
        }),
        ("n < m, repeated", with_singular_values(3, 7, &[1.0, 1.0, 1.0], 6)),
    ]
}

#[test]
fn adversarial_inputs_stay_finite() {
    let filters = [
        Filter::resolvent(0.5).unwrap(),
        Filter::resolvent(1e-12).unwrap(),
        Filter::resolvent(1e12).unwrap(),
        Filter::sqrt(),
        Filter::log1p(),
        Filter::custom(|lambda| lambda.tanh(), |lambda| 1.0 - lambda.tanh().powi(2)),
    ];
    for (what, h) in cases() {
        for dtype in [DType::F32, DType::F64] {
            let h = Var::from_tensor(&h.to_dtype(dtype).unwrap()).unwrap();
            let rows = h.dims()[0];
            // All of it as one graph, where the values are those of its name, and
            // cut up, with an empty graph and one of a single row.
            let (whole, parts) = ([0, rows], [0, 0, 1, rows]);
            let check = |name: &str, y: &dyn Fn(&Tensor) -> egg_autodiff::Result<Tensor>| {
                let values = flat(&y(&h).unwrap());
                assert!(
                    values.iter().all(|entry| entry.is_finite()),
                    "{what} {dtype:?}: {name} {values:?}"
                );
                let gradient = weighted_gradient(&h, y);
                assert!(
                    gradient.iter().all(|entry| entry.is_finite()),
                    "{what} {dtype:?}: d {name}"
                );
            };
            for rule in [
                RankRule::Fixed(2),
                RankRule::Relative(0.9),
                RankRule::Threshold(1.0),
                RankRule::Energy(1.0),
            ] {
                check("projector", &|h| projector(h, rule));
                for offsets in [&whole[..], &parts] {
                    check("embedding", &|h| {
                        grassmann_embed(h, offsets, rule, Flatten::Upper)
                    });
                    check("leverage", &|h| leverage(h, offsets, rule));
                }
            }
            for filter in &filters {
                for offsets in [&whole[..], &parts] {
                    check(&format!("{filter:?}"), &|h| {
                        soft_embed(h, offsets, filter, Flatten::Upper)
                    });
                }
            }
            check("U", &|h| Ok(svd(h)?.0));
            check("s", &|h| Ok(svd(h)?.1));
            check("V", &|h| Ok(svd(h)?.2));
        }
    }
}

#[test]
fn leverages_are_in_0_to_1_and_sum_to_the_rank() {
    for (n, m, p) in [(9, 5, 3), (3, 7, 2), (40, 4, 4)] {
        let shares = flat(&leverage(&normal(n, m, 7), &[0, n], RankRule::Fixed(p)).unwrap());
        assert!(shares.iter().all(|share| (-1e-15..=1.0 + 1e-14).contains(share)));
        assert_abs_diff_eq!(shares.iter().sum::<f64>(), p as f64, epsilon = 1e-12);
    }
}
