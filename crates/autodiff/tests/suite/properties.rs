//! The order of the nodes does not matter to the value, and goes through to the
//! gradient.

use candle_core::{Device, Tensor, Var};
use egg_autodiff::{Filter, Flatten, RankRule, grassmann_embed, leverage, soft_embed};
use proptest::prelude::*;

use crate::differences::{flat, weighted_gradient};

type Operation<'a> = &'a dyn Fn(&Tensor) -> egg_autodiff::Result<Tensor>;

/// Two graphs' rows, and an order for the rows of each.
fn graphs() -> impl Strategy<Value = (Vec<f64>, usize, usize, usize, Vec<u32>)> {
    (1..7usize, 1..9usize, 1..9usize).prop_flat_map(|(m, first, second)| {
        let entries = prop::collection::vec(-1.0..1.0f64, (first + second) * m);
        let (first_rows, second_rows): (Vec<u32>, Vec<u32>) = (
            (0..first as u32).collect(),
            (first as u32..(first + second) as u32).collect(),
        );
        let order = (Just(first_rows).prop_shuffle(), Just(second_rows).prop_shuffle());
        (entries, order).prop_map(move |(entries, (a, b))| (entries, m, first, second, [a, b].concat()))
    })
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let scale = a.iter().fold(1.0, |most: f64, entry| most.max(entry.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance * scale)
}

proptest! {
    #[test]
    fn invariant_values_and_equivariant_gradients((entries, m, first, second, order) in graphs()) {
        let rows = first + second;
        let h = Tensor::from_vec(entries, (rows, m), &Device::Cpu).unwrap();
        let order = Tensor::new(order, &Device::Cpu).unwrap();
        let permute = |x: &Tensor| x.index_select(&order, 0).unwrap();
        let offsets = [0, first, rows];
        let (h, turned) = (Var::from_tensor(&h).unwrap(), Var::from_tensor(&permute(&h)).unwrap());
        let (_, spectra) = egg_autodiff::Embedder::new(RankRule::Relative(0.5), Flatten::Upper)
            .unwrap()
            .embed_with_spectra(&h, &offsets)
            .unwrap();
        let resolvent = Filter::resolvent(0.5).unwrap();
        let soft = |h: &Tensor| soft_embed(h, &offsets, &resolvent, Flatten::Upper);
        let hard = |h: &Tensor| grassmann_embed(h, &offsets, RankRule::Relative(0.5), Flatten::Upper);
        let mut cases: Vec<Operation<'_>> = vec![&soft];
        // A narrow gap at the cut magnifies rounding.
        if spectra.iter().all(|graph| graph.choice.gap > 1e-2) {
            cases.push(&hard);
            let shares = |h: &Tensor| leverage(h, &offsets, RankRule::Relative(0.5)).unwrap();
            prop_assert!(near(&flat(&permute(&shares(&h))), &flat(&shares(&turned)), 1e-9));
        }
        for y in cases {
            prop_assert!(near(&flat(&y(&h).unwrap()), &flat(&y(&turned).unwrap()), 1e-10));
            let gradient = Tensor::from_vec(weighted_gradient(&h, y), (rows, m), &Device::Cpu).unwrap();
            prop_assert!(near(&flat(&permute(&gradient)), &weighted_gradient(&turned, y), 1e-8));
        }
    }
}
