//! Values are invariant, and gradients equivariant, to the order of the nodes.

use std::cell::RefCell;

use approx::abs_diff_eq;
use candle_core::{Device, Tensor, Var};
use egg_autodiff::{Filter, Flatten, GraphSpectrum, RankRule, grassmann_embed, leverage, soft_embed};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

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
    abs_diff_eq!(a, b, epsilon = tolerance * scale)
}

/// What the cases were.
#[derive(Debug, Default)]
struct Seen {
    graphs: usize,
    /// Graphs that lose a direction by the cut.
    cuts: usize,
    /// Graphs whose cut is too narrow to be compared.
    narrow: usize,
}

/// Soft EGG always, hard EGG and the leverage where no cut is narrow.
fn same_in_any_order(
    (entries, m, first, second, order): (Vec<f64>, usize, usize, usize, Vec<u32>),
    seen: &mut Seen,
) -> Result<(), TestCaseError> {
    let rows = first + second;
    let h = Tensor::from_vec(entries, (rows, m), &Device::Cpu).unwrap();
    let order = Tensor::new(order, &Device::Cpu).unwrap();
    let permute = |x: &Tensor| x.index_select(&order, 0).unwrap();
    let offsets = [0, first, rows];
    let (h, turned) = (
        Var::from_tensor(&h).unwrap(),
        Var::from_tensor(&permute(&h)).unwrap(),
    );
    let (_, spectra) = egg_autodiff::Embedder::new(RankRule::Relative(0.5), Flatten::Upper)
        .unwrap()
        .embed_with_spectra(&h, &offsets)
        .unwrap();
    let resolvent = Filter::resolvent(0.5).unwrap();
    let soft = |h: &Tensor| soft_embed(h, &offsets, &resolvent, Flatten::Upper);
    let hard = |h: &Tensor| grassmann_embed(h, &offsets, RankRule::Relative(0.5), Flatten::Upper);
    let mut cases: Vec<Operation<'_>> = vec![&soft];
    // A narrow gap at the cut magnifies rounding.
    let is_narrow = |graph: &GraphSpectrum| graph.choice.gap <= 1e-2;
    seen.graphs += spectra.len();
    seen.cuts += spectra
        .iter()
        .filter(|graph| graph.choice.p < graph.choice.numerical_rank)
        .count();
    seen.narrow += spectra.iter().filter(|graph| is_narrow(graph)).count();
    if !spectra.iter().any(is_narrow) {
        cases.push(&hard);
        let shares = |h: &Tensor| leverage(h, &offsets, RankRule::Relative(0.5)).unwrap();
        prop_assert!(near(&flat(&permute(&shares(&h))), &flat(&shares(&turned)), 1e-9));
    }
    for y in cases {
        prop_assert!(near(&flat(&y(&h).unwrap()), &flat(&y(&turned).unwrap()), 1e-10));
        let gradient = Tensor::from_vec(weighted_gradient(&h, y), (rows, m), &Device::Cpu).unwrap();
        prop_assert!(near(
            &flat(&permute(&gradient)),
            &weighted_gradient(&turned, y),
            1e-8
        ));
    }
    Ok(())
}

#[test]
fn values_are_invariant_and_gradients_equivariant_to_node_order() {
    let seen = RefCell::new(Seen::default());
    let mut runner = TestRunner::new(ProptestConfig {
        source_file: Some(file!()),
        ..ProptestConfig::default()
    });
    runner
        .run(&graphs(), |sample| {
            same_in_any_order(sample, &mut seen.borrow_mut())
        })
        .unwrap();
    let seen = seen.into_inner();
    assert!(3 * seen.cuts >= seen.graphs, "{seen:?}");
    assert!(100 * seen.narrow <= 3 * seen.graphs, "{seen:?}");
}
