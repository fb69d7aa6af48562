//! The fused operation against `svd -> narrow -> matmul -> triu`.

use approx::assert_abs_diff_eq;
use candle_core::{Tensor, Var};
use egg_autodiff::{Flatten, RankRule, grassmann_embed, leverage, svd};

use crate::differences::{flat, normal, weighted_gradient, with_singular_values};

fn upper(p: &Tensor) -> egg_autodiff::Result<Tensor> {
    let m = p.dims()[0];
    let places: Vec<u32> = (0..m)
        .flat_map(|row| (row..m).map(move |column| (row * m + column) as u32))
        .collect();
    let places = Tensor::new(places, p.device())?;
    Ok(p.flatten_all()?.index_select(&places, 0)?.unsqueeze(0)?)
}

#[test]
fn fused_embedding_matches_composed_operations() {
    for (h, p) in [
        (with_singular_values(9, 5, &[4.0, 3.0, 2.0, 0.7, 0.3], 1), 3),
        (with_singular_values(3, 6, &[4.0, 2.0, 1.0], 2), 2),
        (with_singular_values(6, 6, &[6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 3), 1),
        (normal(1, 4, 4), 1),
    ] {
        let rows = h.dims()[0];
        let h = Var::from_tensor(&h).unwrap();
        let fused = |h: &Tensor| grassmann_embed(h, &[0, rows], RankRule::Fixed(p), Flatten::Upper);
        let composed = |h: &Tensor| {
            let v = svd(h)?.2.narrow(1, 0, p)?;
            upper(&v.matmul(&v.t()?)?)
        };
        let close = |a: &[f64], b: &[f64], tolerance: f64| {
            for (a, b) in a.iter().zip(b) {
                assert_abs_diff_eq!(a, b, epsilon = tolerance);
            }
        };
        close(&flat(&fused(&h).unwrap()), &flat(&composed(&h).unwrap()), 1e-13);
        close(
            &weighted_gradient(&h, fused),
            &weighted_gradient(&h, composed),
            1e-11,
        );

        let direct = |h: &Tensor| leverage(h, &[0, rows], RankRule::Fixed(p));
        let composed = |h: &Tensor| Ok(svd(h)?.0.narrow(1, 0, p)?.sqr()?.sum(1)?);
        close(&flat(&direct(&h).unwrap()), &flat(&composed(&h).unwrap()), 1e-13);
        close(
            &weighted_gradient(&h, direct),
            &weighted_gradient(&h, composed),
            1e-11,
        );
    }
}
