//! Factors with only the kept directions against those with all.

use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::{Factors, Stored};
use super::{frobenius, seeded_gaussian};
use crate::{Flatten, RankRule, Workspace};

fn decompose_all(factors: &mut Factors, h: ArrayView2<'_, f32>, rule: RankRule, workspace: &mut Workspace) {
    factors
        .decompose(h, rule, h.ncols(), Stored::All, workspace)
        .unwrap();
}

/// Matrices of graphs and others, in f32: generic, falling singular values, few distinct
/// rows, rectified, one direction above all, pairs that are nearly tied.
fn specimens(n: usize, m: usize, seed: u64) -> Vec<Array2<f32>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let generic = seeded_gaussian(n, m, seed);
    let falls = |decades: f64| {
        let columns = m as f64;
        let scales: Array1<f64> = (0..m)
            .map(|j| 10f64.powf(-decades * j as f64 / columns))
            .collect();
        (&generic * &scales).dot(&seeded_gaussian(m, m, seed + 1))
    };
    let few = Array1::from_shape_simple_fn(n, || rng.random_range(0..5usize)).to_vec();
    let repeated = generic.slice(s![..5, ..]).select(Axis(0), &few);
    let rectified = generic.mapv(|entry| entry.max(0.0));
    let one = &generic + &(&seeded_gaussian(n, 1, seed + 2) * &seeded_gaussian(1, m, seed + 3) * 100.0);
    let mut pairs = Array2::<f64>::zeros((n, m));
    for (at, entry) in pairs.diag_mut().iter_mut().enumerate() {
        *entry = 2f64.powi(-(at as i32) / 2) * (1.0 + 1e-4 * (at % 2) as f64);
    }
    [
        generic.clone(),
        falls(3.0),
        falls(12.0),
        repeated,
        rectified,
        one,
        pairs,
    ]
    .into_iter()
    .map(|h| h.mapv(|entry| entry as f32))
    .collect()
}

const SHAPES: [(usize, usize); 6] = [(40, 40), (41, 70), (90, 41), (64, 64), (45, 64), (300, 64)];

#[test]
fn kept_only_projectors_and_gradients_match_full_decomposition() {
    let mut workspace = Workspace::new();
    let (mut all, mut kept) = (Factors::new(), Factors::new());
    let mut fewer = 0;
    for (seed, (n, m)) in (0u64..).zip(SHAPES) {
        for scale in [1f32, 1e-30, 1e30] {
            for (kind, h) in specimens(n, m, seed).into_iter().enumerate() {
                let h = h * scale;
                for rule in [
                    RankRule::Fixed(1),
                    RankRule::Fixed(2),
                    RankRule::Fixed(5),
                    RankRule::Fixed(8),
                    RankRule::Relative(0.5),
                ] {
                    decompose_all(&mut all, h.view(), rule, &mut workspace);
                    kept.compute(h.view(), rule, &mut workspace).unwrap();
                    let about = format!("{n} x {m}, kind {kind}, {rule:?}, {:?}", all.choice());
                    assert_eq!(all.choice(), kept.choice(), "{about}");
                    assert!(all.singular_values().eq(kept.singular_values()), "{about}");

                    let squares: Vec<f64> = all.singular_values().map(|value| value * value).collect();
                    let p = all.choice().p;
                    // The nearest two of the kept and the first that is not.
                    let nearest = squares[..(p + 1).min(squares.len())]
                        .windows(2)
                        .map(|pair| (pair[0] - pair[1]) / squares[0])
                        .fold(1.0, f64::min);
                    let cut = 1.0 - squares.get(p).copied().unwrap_or(0.0) / squares[p - 1];
                    let apart = frobenius((all.projector::<f64>() - kept.projector::<f64>()).view());
                    let unit = f64::EPSILON * (n.max(m) as f64);
                    assert!(apart <= unit / nearest.min(cut), "{apart:e}: {about}");

                    let (h, g) = (h.mapv(f64::from), seeded_gaussian(m, m, seed + 7));
                    let whole = all.gradient(h.view(), g.view(), &mut workspace).unwrap();
                    let solved = kept.gradient(h.view(), g.view(), &mut workspace).unwrap();
                    let size = frobenius(whole.view());
                    let apart = frobenius((&whole - &solved).view()) / size;
                    // All directions are those above the noise of f32; what is below counts as
                    // null there, and is solved for here.
                    let noise = f64::from(f32::EPSILON) * n.max(m) as f64;
                    let null = noise * noise * squares[0] / squares[p - 1];
                    assert!(
                        apart <= 8.0 * unit / nearest.min(cut) + null,
                        "{apart:e}, {nearest:e}, {cut:e}: {about}"
                    );
                    fewer += usize::from(kept.stored < all.stored);
                }
            }
        }
    }
    assert!(
        fewer > 300,
        "only {fewer} were decomposed for the kept directions only"
    );
}

/// As training does it, in f32 all along.
#[test]
fn kept_only_f32_embeddings_match_full_decomposition() {
    let mut workspace = Workspace::new();
    let (mut all, mut kept) = (Factors::new(), Factors::new());
    for (seed, (n, m)) in (20u64..).zip(SHAPES) {
        for h in specimens(n, m, seed).iter().take(5) {
            for (flatten, p) in [(Flatten::Upper, 2), (Flatten::Isometric, 3), (Flatten::Upper, 6)] {
                decompose_all(&mut all, h.view(), RankRule::Fixed(p), &mut workspace);
                kept.compute(h.view(), RankRule::Fixed(p), &mut workspace)
                    .unwrap();
                let length = Flatten::length(m);
                let (mut first, mut second) = (Array1::<f32>::zeros(length), Array1::<f32>::zeros(length));
                all.embed_into(flatten, first.as_slice_mut().unwrap(), &mut workspace)
                    .unwrap();
                kept.embed_into(flatten, second.as_slice_mut().unwrap(), &mut workspace)
                    .unwrap();
                let square = flatten.flatten(all.projector::<f32>().view()).unwrap();
                let steep = (all.choice().gap as f32).recip();
                for found in [&first, &second] {
                    let apart = (found - &square).fold(0f32, |most, entry| most.max(entry.abs()));
                    assert!(
                        apart <= 4.0 * f32::EPSILON + 1e-12 * steep,
                        "{apart:e} for {n} x {m}"
                    );
                }
                let g = seeded_gaussian(1, length, seed + 3)
                    .row(0)
                    .mapv(|entry| entry as f32);
                let gradient = |factors: &Factors, workspace: &mut Workspace| {
                    let mut out = Array2::zeros((n, m));
                    factors
                        .gradient_of_embedding(h.view(), g.view(), flatten, out.view_mut(), workspace)
                        .unwrap();
                    out
                };
                let (whole, solved) = (gradient(&all, &mut workspace), gradient(&kept, &mut workspace));
                // The square of the flat gradient is another way to the same.
                let wide = flatten.gradient(g.mapv(f64::from).view()).unwrap();
                let square = all
                    .gradient(h.mapv(f64::from).view(), wide.view(), &mut workspace)
                    .unwrap();
                let size = frobenius(square.view());
                for found in [whole, solved] {
                    let apart = frobenius((&found.mapv(f64::from) - &square).view()) / size;
                    assert!(apart < 1e-6, "{apart:e} for {n} x {m}, p = {p}");
                }
            }
        }
    }
}
