//! What does not depend on how nodes are numbered.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor};
use egg_autodiff::Flatten;
use egg_geometry::{RankRule, rectify};
use egg_nn::Pass;
use egg_pool::pooling::{Egg, Random};
use egg_pool::{Pooled, PoolingConfig, Structure};
use ndarray::{Array2, s};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::samples::{Edges, build, flat, normal, random_graph, rng, structure};

const FEATURES: usize = 4;
const CLASSES: usize = 3;

/// Every readout, and EGG by other rules.
fn readouts() -> Vec<PoolingConfig> {
    let all = PoolingConfig::all().into_iter();
    let rules = [RankRule::Relative(0.6), RankRule::Energy(0.7)];
    let by_other_rules = rules.map(|rank| {
        let flatten = Flatten::Isometric;
        Egg { rank, flatten }.into()
    });
    all.filter(|config| !config.coarsens())
        .chain(by_other_rules)
        .collect()
}

/// A batch of graphs with their rows, and a renumbering of each graph's nodes.
#[derive(Debug, Clone)]
struct Sample {
    graphs: Vec<Edges>,
    rows: Vec<[f64; FEATURES]>,
    /// New number -> old, through the batch.
    order: Vec<usize>,
}

impl Sample {
    fn new(sizes: &[usize], chance: f64, kinds: usize, seed: u64) -> Self {
        let graphs: Vec<Edges> = (0..)
            .zip(sizes)
            .map(|(index, nodes)| random_graph(*nodes, chance, seed + index))
            .collect();
        let nodes: usize = sizes.iter().sum();
        // With few kinds of rows most are equal to others.
        let numbers = flat(&normal(kinds.max(1), FEATURES, seed));
        let row = |node: usize| {
            let kind = (node * 7 + node / 3) % kinds.max(1);
            std::array::from_fn(|column| numbers[kind * FEATURES + column])
        };
        let mut rng = rng(seed + 99);
        let mut order = Vec::new();
        for size in sizes {
            let first = order.len();
            let renumbered = egg_graph::random_order(*size, &mut rng);
            order.extend(renumbered.iter().map(|node| first + node));
        }
        Self {
            graphs,
            rows: (0..nodes).map(row).collect(),
            order,
        }
    }

    /// Each graph's rows times `spread / sqrt(n)`: the singular values of n normal rows
    /// lie around `sqrt(n)`, so that these lie around `spread`.
    fn with_singular_values_around(mut self, spread: f64) -> Self {
        for ends in structure(&self.graphs).offsets().windows(2) {
            let scale = spread / ((ends[1] - ends[0]) as f64).sqrt();
            let rows = self.rows[ends[0]..ends[1]].iter_mut();
            rows.flatten().for_each(|entry| *entry *= scale);
        }
        self
    }

    fn h(&self, dtype: DType) -> Tensor {
        tensor(&self.rows, dtype)
    }

    /// By graph, the rank by the rule and whether a direction above the noise is dropped.
    fn cuts(&self, rule: RankRule) -> Vec<(usize, bool)> {
        let rows: Vec<f32> = self.rows.iter().flatten().map(|entry| *entry as f32).collect();
        let h = Array2::from_shape_vec((self.rows.len(), FEATURES), rows).unwrap();
        let cut = |ends: &[usize]| {
            if ends[0] == ends[1] {
                return (0, false);
            }
            let choice = rectify(h.slice(s![ends[0]..ends[1], ..]), rule).unwrap().choice;
            (choice.p, choice.p < choice.numerical_rank)
        };
        structure(&self.graphs).offsets().windows(2).map(cut).collect()
    }

    /// The same graphs with other numbers.
    fn renumbered(&self, dtype: DType) -> (Tensor, Structure) {
        let rows: Vec<[f64; FEATURES]> = self.order.iter().map(|old| self.rows[*old]).collect();
        let mut new_of_old = vec![0; self.order.len()];
        for (new, old) in self.order.iter().enumerate() {
            new_of_old[*old] = new;
        }
        let mut first = 0;
        let mut graphs = Vec::new();
        for (nodes, edges) in &self.graphs {
            let number = |node: usize| new_of_old[first + node] - first;
            graphs.push((
                *nodes,
                edges.iter().map(|(a, b)| (number(*a), number(*b))).collect(),
            ));
            first += nodes;
        }
        (tensor(&rows, dtype), structure(&graphs))
    }
}

fn tensor(rows: &[[f64; FEATURES]], dtype: DType) -> Tensor {
    let numbers: Vec<f64> = rows.iter().flatten().copied().collect();
    let tensor = Tensor::from_vec(numbers, (rows.len(), FEATURES), &Device::Cpu).unwrap();
    tensor.to_dtype(dtype).unwrap()
}

/// Graphs whose singular values lie on both sides of the threshold, 0.5; fewer without
/// nodes, with one, or with equal rows, which have one direction or none to drop.
fn samples() -> impl Strategy<Value = Sample> {
    (
        prop::collection::vec(prop_oneof![1 => 0usize..2, 9 => 2usize..14], 1..6),
        prop_oneof![Just(0.0), 0.1..0.9],
        prop_oneof![1 => Just(1usize), 1 => Just(2), 14 => Just(1000)],
        0.3..0.9,
        0u64..1 << 32,
    )
        .prop_map(|(sizes, chance, kinds, spread, seed)| {
            Sample::new(&sizes, chance, kinds, seed).with_singular_values_around(spread)
        })
}

/// The scores of a head with fixed weights, row by row.
fn scores(readout: &Tensor) -> Vec<Vec<f64>> {
    let width = readout.dims2().unwrap().1;
    let head = normal(width, CLASSES, 8);
    let wide = readout.to_dtype(DType::F64).unwrap();
    wide.matmul(&head).unwrap().to_vec2().unwrap()
}

fn decision(scores: &[f64]) -> (usize, f64) {
    let mut order: Vec<usize> = (0..CLASSES).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    (order[0], scores[order[0]] - scores[order[1]])
}

fn pool(config: &PoolingConfig, h: &Tensor, structure: &Structure) -> Pooled {
    let (pooling, _) = build(config, FEATURES, h.dtype(), 21);
    pooling.pool(&h.into(), structure, &mut Pass::Evaluation).unwrap()
}

/// Whether a node has degree 1, or two nodes the same neighbours.
fn ties_edges((nodes, edges): &Edges) -> bool {
    let mut neighbours = vec![BTreeSet::new(); *nodes];
    for (a, b) in edges {
        neighbours[*a].insert(*b);
        neighbours[*b].insert(*a);
    }
    let distinct: BTreeSet<_> = neighbours.iter().collect();
    distinct.len() < *nodes || neighbours.iter().any(|others| others.len() < 2)
}

/// Graphs, and those of them that have a real cut, by the rule of an EGG.
type Cuts = BTreeMap<String, (usize, usize)>;

fn readouts_are_the_same(sample: &Sample, cuts: &mut Cuts) -> Result<(), TestCaseError> {
    for config in readouts() {
        let h = sample.h(DType::F32);
        let found = pool(&config, &h, &structure(&sample.graphs));
        let rows_reach = flat(&h)
            .iter()
            .fold(0.0, |most: f64, entry| most.max(entry.abs()));
        let (h, renumbered) = sample.renumbered(DType::F32);
        let again = pool(&config, &h, &renumbered);
        prop_assert_eq!(&found.ranks, &again.ranks);
        if let Some(rank) = config.rank_rule() {
            let graphs = sample.cuts(rank);
            let ranks = graphs.iter().map(|(p, _)| *p).collect();
            prop_assert_eq!(&found.ranks, &Some(ranks));
            let count = cuts.entry(format!("{rank:?}")).or_default();
            count.0 += graphs.len();
            count.1 += graphs.iter().filter(|(_, is_real)| *is_real).count();
        }
        let (found, again) = (found.readout, again.readout);
        // Rows are small, and so is a sum of few of them.
        let reach = flat(&found)
            .iter()
            .fold(rows_reach, |most: f64, entry| most.max(entry.abs()))
            .min(1.0);
        for (a, b) in flat(&found).into_iter().zip(flat(&again)) {
            let tolerance = 1e-5 * a.abs().max(reach);
            prop_assert!(
                abs_diff_eq!(a, b, epsilon = tolerance),
                "{}: {} and {}",
                config,
                a,
                b
            );
        }
        for (a, b) in scores(&found).iter().zip(scores(&again)) {
            let ((class, margin), (other, _)) = (decision(a), decision(&b));
            prop_assert!(class == other || margin < 1e-4, "{}: {:?} and {:?}", config, a, b);
        }
    }
    Ok(())
}

/// A cut that drops nothing shows little: the projector is that of all rows, in any
/// order. So most graphs must have a cut that drops something; three in four do.
#[test]
fn readouts_are_invariant_to_node_order() {
    let cuts = RefCell::new(Cuts::new());
    let mut runner = TestRunner::new(ProptestConfig {
        source_file: Some(file!()),
        ..ProptestConfig::with_cases(512)
    });
    runner
        .run(&samples(), |sample| {
            readouts_are_the_same(&sample, &mut cuts.borrow_mut())
        })
        .unwrap();
    let cuts = cuts.into_inner();
    assert_eq!(cuts.len(), 3);
    for (rule, (graphs, real)) in &cuts {
        assert!(2 * real > *graphs, "{rule}: {real} of {graphs} cuts are real");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// In f64 random rows have distinct scores, and so have edges, but for those into
    /// nodes of degree 1 and into nodes with the same neighbours.
    #[test]
    fn coarsenings_are_invariant_to_node_order_where_scores_are_distinct(
        sizes in prop::collection::vec(8usize..15, 1..4),
        chance in 0.5..0.9,
        seed in 0u64..1 << 32,
    ) {
        let sample = Sample::new(&sizes, chance, 1000, seed);
        prop_assume!(!sample.graphs.iter().any(ties_edges));
        for name in ["topk", "sag", "edge", "pan"] {
            let config: PoolingConfig = name.parse().unwrap();
            let found = pool(&config, &sample.h(DType::F64), &structure(&sample.graphs));
            let (h, renumbered) = sample.renumbered(DType::F64);
            let again = pool(&config, &h, &renumbered);
            let close = |a: &Tensor, b: &Tensor| {
                let pairs = flat(a).into_iter().zip(flat(b));
                pairs.into_iter().all(|(a, b)| abs_diff_eq!(a, b, epsilon = 1e-9 * a.abs().max(1.0)))
            };
            prop_assert!(close(&found.readout, &again.readout), "{}", config);
            // New nodes are in the order of their scores, not of their numbers; but those that
            // edge pooling left alone are in that of theirs.
            let (found, again) = (found.coarser.unwrap(), again.coarser.unwrap());
            prop_assert_eq!(found.structure.offsets(), again.structure.offsets());
            if name != "edge" {
                prop_assert!(close(&found.h, &again.h), "{}", config);
                prop_assert_eq!(found.structure.adjacency().columns(), again.structure.adjacency().columns());
            }
        }
    }
}

#[test]
fn random_pooling_depends_on_node_counts_only() {
    let config: PoolingConfig = "random".parse().unwrap();
    let sample = Sample::new(&[9, 9, 4], 0.5, 1000, 3);
    let other = Sample::new(&[9, 4, 9], 0.1, 1000, 8);
    let kept = |sample: &Sample| {
        let pooled = pool(&config, &sample.h(DType::F64), &structure(&sample.graphs));
        let coarser = pooled.coarser.unwrap();
        let row_number = |row: &[f64]| sample.rows.iter().position(|other| other == row).unwrap();
        let rows: Vec<usize> = coarser
            .h
            .to_vec2::<f64>()
            .unwrap()
            .iter()
            .map(|row| row_number(row))
            .collect();
        (rows, coarser.structure.offsets().to_vec())
    };
    let (rows, offsets) = kept(&sample);
    let (others, other_offsets) = kept(&other);
    assert_eq!(offsets, [0, 5, 10, 12]);
    assert_eq!(other_offsets, [0, 5, 7, 12]);
    let shifted = |rows: &[usize], by: usize| rows.iter().map(|row| row - by).collect::<Vec<_>>();
    assert_eq!(rows[..5], shifted(&rows[5..10], 9));
    assert_eq!(rows[..5], others[..5]);
    assert_eq!(shifted(&rows[10..], 18), shifted(&others[5..7], 9));
    // Another seed, another choice.
    let again = Random { ratio: 0.5, seed: 1 }.into();
    let structure = structure(&sample.graphs);
    let a = pool(&config, &sample.h(DType::F64), &structure).readout;
    let b = pool(&again, &sample.h(DType::F64), &structure).readout;
    assert_ne!(flat(&a), flat(&b));
}
