//! Whole models (features, convolution, pooling, head) on graphs whose nodes are
//! numbered otherwise: same scores, classes and ranks.
//!
//! A rank may differ where a singular value lies within rounding of its bound, and a
//! projector where the gap at the cut is hardly more than rounding: such cases are
//! excused, counted, and must be rare. A cut that drops nothing shows little, so cuts
//! that drop something are counted too, and must not be rare.

use std::io::Write;

use approx::abs_diff_eq;
use candle_core::{DType, Tensor};
use egg_geometry::{RankRule, Rectified, rectify};
use egg_graph::{Features, Graph, GraphDataset, Labels, ReadOptions, Split, Targets, random_order, read_tu};
use egg_nn::Pass;
use egg_pool::PoolingConfig;
use egg_pool::convolution::Gcn;
use egg_pool::data::PreparedGraphs;
use egg_pool::model::{Model, ModelConfig};
use egg_pool::pooling::Egg;
use egg_pool::train::{Silent, TrainConfig, Trainer};
use ndarray::{Array2, Axis, s};

use crate::real_data::find;
use crate::samples::{flat, normal, random_graph, rng};
use crate::small;

const CLASSES: usize = 2;

/// What came of all cases of a kind.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    cases: usize,
    excused: usize,
    /// Decompositions, and those that dropped a direction above the noise.
    cuts: usize,
    real_cuts: usize,
}

impl Tally {
    fn report(self, what: &str) {
        let line = format!(
            "{what}: {} graphs, {} excused; {} decompositions, {} of them with a real cut\n",
            self.cases, self.excused, self.cuts, self.real_cuts
        );
        // Not by the macro, which the test harness would keep to itself.
        let _ = std::io::stdout().write_all(line.as_bytes());
    }
}

/// The same graphs, the nodes of each in another order.
fn renumbered(dataset: &GraphDataset, seed: u64) -> (GraphDataset, Vec<Vec<usize>>) {
    let mut rng = rng(seed);
    let mut orders = Vec::new();
    let graphs: Vec<Graph> = dataset
        .graphs()
        .map(|graph| {
            let order = random_order(graph.node_count(), &mut rng);
            let mut new_of_old = vec![0; order.len()];
            for (new, old) in order.iter().enumerate() {
                new_of_old[*old] = new;
            }
            let edges: Vec<_> = graph
                .edges()
                .map(|(a, b)| (new_of_old[a], new_of_old[b]))
                .collect();
            let rows = graph.to_graph().features().to_dense().select(Axis(0), &order);
            orders.push(order);
            let graph = Graph::from_edges(new_of_old.len(), &edges).unwrap();
            graph.with_features(Features::dense(rows).unwrap()).unwrap()
        })
        .collect();
    let mut other = GraphDataset::from_graphs(dataset.name(), &graphs).unwrap();
    if let Some(targets) = dataset.targets() {
        other = other.with_targets(targets.clone()).unwrap();
    }
    (other, orders)
}

/// Graphs of all sizes and densities, with normal features.
fn random_graphs(count: usize, least: usize, chance: impl Fn(usize) -> f64) -> GraphDataset {
    let graphs: Vec<Graph> = (0..count)
        .map(|index| {
            let (nodes, edges) = random_graph(least + index % 23, chance(index), index as u64);
            let rows: Vec<f32> = flat(&normal(nodes, 6, index as u64 + 500))
                .into_iter()
                .map(|number| number as f32)
                .collect();
            let features = Array2::from_shape_vec((nodes, 6), rows).unwrap();
            let graph = Graph::from_edges(nodes, &edges).unwrap();
            graph.with_features(Features::dense(features).unwrap()).unwrap()
        })
        .collect();
    let labels: Vec<i64> = (0..count).map(|index| (index % CLASSES) as i64).collect();
    GraphDataset::from_graphs("random graphs", &graphs)
        .unwrap()
        .with_targets(Targets::Classes(Labels::from_values(&labels)))
        .unwrap()
}

/// A benchmark, every so-many-th graph of it; `None` where there is no data.
fn benchmark(name: &str, every: usize) -> Option<GraphDataset> {
    let path = find(&format!("{name}.zip"))?;
    let dataset = read_tu(&path, &ReadOptions::default()).unwrap();
    let some: Vec<usize> = (0..dataset.len()).step_by(every).collect();
    Some(dataset.subset(&some).unwrap())
}

fn prepare(dataset: &GraphDataset, convolution: &str, dtype: DType) -> PreparedGraphs {
    PreparedGraphs::new(
        dataset.clone(),
        small::convolution(convolution).propagation(),
        dtype,
    )
    .unwrap()
}

/// A model with `layers` layers, of which the first are those of any other with more.
fn model(config: &ModelConfig, layers: usize, inputs: usize, dtype: DType) -> Model {
    let config = ModelConfig {
        layers,
        ..config.clone()
    };
    config.model(inputs, CLASSES, dtype, &mut rng(5)).unwrap()
}

/// Two epochs: weights and running means of a model that has seen its data.
fn train(model: &Model, graphs: &PreparedGraphs) {
    let split = Split::random(graphs.dataset().len(), &mut rng(1));
    // At a low rate: after large steps scores saturate (tanh), and saturated ones are ties.
    let config = TrainConfig {
        max_epochs: 2,
        learning_rate: 1e-3,
        ..TrainConfig::paper()
    };
    let trainer = Trainer::new(&config, graphs, &split).unwrap();
    trainer.run(model, rng(2), &mut Silent).unwrap();
}

struct Found {
    scores: Vec<Vec<f64>>,
    /// By layer, then by graph; none for other poolings than EGG.
    ranks: Vec<Vec<usize>>,
}

fn judge(model: &Model, graphs: &PreparedGraphs) -> Found {
    let all: Vec<usize> = (0..graphs.dataset().len()).collect();
    let batch = graphs.batch_without_targets(&all).unwrap();
    let output = model.network().forward(&batch, &mut Pass::Evaluation).unwrap();
    Found {
        scores: rows(&output.scores),
        ranks: output.ranks,
    }
}

/// The nodes that a layer's pooling sees.
fn nodes(model: &Model, graphs: &PreparedGraphs) -> Array2<f64> {
    let all: Vec<usize> = (0..graphs.dataset().len()).collect();
    let batch = graphs.batch_without_targets(&all).unwrap();
    let h = model.network().embed(&batch).unwrap().nodes.unwrap();
    let shape = h.dims2().unwrap();
    Array2::from_shape_vec(shape, flat(&h)).unwrap()
}

fn rows(tensor: &Tensor) -> Vec<Vec<f64>> {
    tensor.to_dtype(DType::F64).unwrap().to_vec2().unwrap()
}

fn eps(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// What a graph's H says about its cut.
struct Cut {
    is_real: bool,
    /// Nothing is dropped, not even a null space.
    is_whole_space: bool,
    /// What rounding, of the convolution too, can do to a singular value.
    rounding: f64,
    /// Between what is kept and what is dropped.
    gap: f64,
    /// From the nearest singular value to the bound of the rule.
    to_bound: f64,
}

impl Cut {
    fn from_rows(h: &Array2<f64>, rule: RankRule, dtype: DType) -> Option<Self> {
        if h.iter().all(|entry| *entry == 0.0) {
            return None;
        }
        // A few dozen roundings in a layer of a convolution.
        let norm = h.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let rounding = 32.0 * eps(dtype) * norm;
        // As the pooling decomposes it.
        let found = match dtype {
            DType::F32 => {
                let narrow = rectify(h.mapv(|entry| entry as f32).view(), rule).unwrap();
                Rectified {
                    basis: narrow.basis.mapv(f64::from),
                    singular_values: narrow.singular_values.mapv(f64::from),
                    choice: narrow.choice,
                }
            }
            _ => rectify(h.view(), rule).unwrap(),
        };
        let sigma = found.singular_values.to_vec();
        let total: f64 = sigma.iter().sum();
        let nearest = |bound: f64| {
            let distances = sigma.iter().map(|value| (value - bound).abs());
            distances.fold(f64::INFINITY, f64::min)
        };
        let to_bound = match rule {
            RankRule::Threshold(r) => nearest(r),
            RankRule::Relative(r) => nearest(r * sigma[0]),
            RankRule::Energy(r) => {
                let mut sum = 0.0;
                let distances = sigma.iter().map(|value| {
                    sum += value;
                    (sum - r * total).abs()
                });
                distances.fold(f64::INFINITY, f64::min)
            }
            _ => f64::INFINITY,
        };
        // Between a rank and one more, or fewer, lies noise.
        let to_noise = nearest(2.0 * eps(dtype) * norm);
        let to_bound = match found.choice.by_rule >= found.choice.numerical_rank {
            true => to_bound.min(to_noise),
            false => to_bound,
        };
        Some(Self {
            is_real: found.choice.p < found.choice.numerical_rank,
            is_whole_space: found.choice.p == h.ncols(),
            rounding,
            gap: found.choice.gap * sigma[0],
            to_bound,
        })
    }
}

fn tolerance(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e-4 } else { 1e-8 }
}

/// Scores within the tolerance, and the same class unless it is a matter of less.
fn same_scores(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let largest = a.iter().fold(1.0, |most: f64, score| most.max(score.abs()));
    let apart = a
        .iter()
        .zip(b)
        .fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    let best = |scores: &[f64]| (0..CLASSES).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    apart <= tolerance * largest && (best(a) == best(b) || abs_diff_eq!(a[0], a[1], epsilon = 2.0 * apart))
}

/// Runs one model on both numberings.
fn compare(dataset: &GraphDataset, config: &ModelConfig, dtype: DType, tally: &mut Tally) {
    let what = format!(
        "{} {} {} {dtype:?}",
        dataset.name(),
        config.convolution,
        config.pooling
    );
    let graphs = prepare(dataset, config.convolution.name(), dtype);
    let (other, _) = renumbered(dataset, 77);
    let others = prepare(&other, config.convolution.name(), dtype);
    let whole = model(config, config.layers, graphs.inputs(), dtype);
    train(&whole, &graphs);
    let (found, again) = (judge(&whole, &graphs), judge(&whole, &others));
    let spectra = match config.pooling.rank_rule() {
        Some(rank) => cuts(&whole, config, &graphs, rank),
        None => Vec::new(),
    };
    for cut in spectra.iter().flatten().flatten() {
        tally.cuts += 1;
        tally.real_cuts += usize::from(cut.is_real);
    }

    let tolerance = tolerance(dtype);
    for graph in 0..dataset.len() {
        tally.cases += 1;
        let layers = || spectra.iter().filter_map(|layer| layer[graph].as_ref());
        let rank_hangs = layers().any(|cut| cut.to_bound <= cut.rounding);
        let same_ranks = found
            .ranks
            .iter()
            .zip(&again.ranks)
            .all(|(a, b)| a[graph] == b[graph]);
        assert!(same_ranks || rank_hangs, "{what}: ranks of graph {graph}");
        if !same_ranks {
            tally.excused += 1;
            continue;
        }
        let (a, b) = (&found.scores[graph], &again.scores[graph]);
        let is_same = same_scores(a, b, tolerance);
        // A projector moves by the rounding over the gap.
        let cut_is_thin = layers().any(|cut| !cut.is_whole_space && cut.rounding / cut.gap > tolerance);
        assert!(
            is_same || cut_is_thin,
            "{what}: graph {graph} has {a:?} and {b:?}"
        );
        tally.excused += usize::from(!is_same);
    }
}

/// By layer and graph; `None` for a graph whose H is zero.
fn cuts(
    whole: &Model,
    config: &ModelConfig,
    graphs: &PreparedGraphs,
    rule: RankRule,
) -> Vec<Vec<Option<Cut>>> {
    let layers = match config.convolution.name() {
        "gin" => 1..=config.layers,
        _ => config.layers..=config.layers,
    };
    layers
        .map(|count| {
            let part = model(config, count, graphs.inputs(), graphs.dtype());
            let parameters = part.parameters();
            for (name, variable) in parameters.trainable().chain(parameters.buffers()) {
                variable.set(whole.parameters().get(name).unwrap()).unwrap();
            }
            let h = nodes(&part, graphs);
            let offsets = graphs.dataset().node_offsets();
            let graph = |ends: &[usize]| h.slice(s![ends[0]..ends[1], ..]).to_owned();
            let cut = |ends: &[usize]| Cut::from_rows(&graph(ends), rule, graphs.dtype());
            offsets.windows(2).map(cut).collect()
        })
        .collect()
}

/// Every readout, and EGG by several rules.
fn readouts() -> Vec<PoolingConfig> {
    let all = PoolingConfig::all().into_iter();
    let mut readouts: Vec<PoolingConfig> = all.filter(|config| !config.coarsens()).collect();
    readouts.extend(
        [
            RankRule::Relative(0.1),
            RankRule::Energy(0.9),
            RankRule::Ratio(0.1),
        ]
        .map(|rank| {
            let flatten = egg_autodiff::Flatten::Isometric;
            Egg { rank, flatten }.into()
        }),
    );
    readouts
}

fn whole_models_do_not_see_the_order_of_nodes(dataset: &GraphDataset) {
    for dtype in [DType::F32, DType::F64] {
        for convolution in ["gcn", "gin"] {
            let mut tally = Tally::default();
            for pooling in readouts() {
                let config = ModelConfig::new(small::convolution(convolution), pooling);
                compare(dataset, &config, dtype, &mut tally);
            }
            tally.report(&format!("{} {convolution} {dtype:?}", dataset.name()));
            assert!(100 * tally.excused <= tally.cases, "{tally:?}");
            assert!(3 * tally.real_cuts >= tally.cuts, "{tally:?}");
        }
    }
}

#[test]
fn scores_and_ranks_of_random_graphs_do_not_depend_on_node_order() {
    let chance = |index: usize| 0.1 + 0.1 * (index % 7) as f64;
    whole_models_do_not_see_the_order_of_nodes(&random_graphs(60, 1, chance));
}

#[test]
fn scores_and_ranks_of_mutag_do_not_depend_on_node_order() {
    let Some(dataset) = benchmark("MUTAG", 1) else {
        return;
    };
    whole_models_do_not_see_the_order_of_nodes(&dataset);
}

#[test]
fn scores_and_ranks_of_proteins_do_not_depend_on_node_order() {
    let Some(dataset) = benchmark("PROTEINS", 9) else {
        return;
    };
    whole_models_do_not_see_the_order_of_nodes(&dataset);
}

/// Whether all rows differ, by far more than rounding: then so do scores made of them.
fn has_distinct_rows(h: &Array2<f64>) -> bool {
    let largest = h.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let close = |a: ndarray::ArrayView1<'_, f64>, b: ndarray::ArrayView1<'_, f64>| {
        a.iter()
            .zip(b)
            .all(|(a, b)| abs_diff_eq!(a, b, epsilon = 1e-4 * largest))
    };
    (0..h.nrows()).all(|row| (0..row).all(|other| !close(h.row(row), h.row(other))))
}

/// Edge pooling scores an edge among those into the same node: one into a node of
/// degree 1 has the score of any other such, and so have edges between nodes whose
/// neighbours are the same.
fn has_distinct_edges(graph: egg_graph::GraphView<'_>) -> bool {
    let neighbours: Vec<&[u32]> = (0..graph.node_count())
        .map(|node| graph.neighbours(node))
        .collect();
    let mut distinct = neighbours.clone();
    distinct.sort();
    distinct.dedup();
    distinct.len() == neighbours.len() && neighbours.iter().all(|others| others.len() > 1)
}

/// Graphs whose scores can't be equal are compared; how many there are is reported.
fn coarsenings_do_not_see_the_order_of_nodes(dataset: &GraphDataset, least: &[(&str, usize)]) {
    for (name, least_compared) in least {
        let (mut compared, mut apart, mut all) = (0, 0, 0);
        for dtype in [DType::F32, DType::F64] {
            for convolution in ["gcn", "gin"] {
                let mut config = ModelConfig::new(small::convolution(convolution), name.parse().unwrap());
                if *name == "edge" && convolution == "gin" {
                    // A contracted graph may have nodes of degree 1 again.
                    config.layers = 1;
                }
                let graphs = prepare(dataset, convolution, dtype);
                let others = prepare(&renumbered(dataset, 78).0, convolution, dtype);
                let whole = model(&config, config.layers, graphs.inputs(), dtype);
                train(&whole, &graphs);
                let (found, again) = (judge(&whole, &graphs), judge(&whole, &others));
                let h = nodes(&whole, &graphs);
                for (graph, ends) in dataset.node_offsets().windows(2).enumerate() {
                    all += 1;
                    let rows = h.slice(s![ends[0]..ends[1], ..]).to_owned();
                    let view = dataset.graph(graph).unwrap();
                    if !has_distinct_rows(&rows) || (*name == "edge" && !has_distinct_edges(view)) {
                        continue;
                    }
                    compared += 1;
                    let (a, b) = (&found.scores[graph], &again.scores[graph]);
                    if !same_scores(a, b, tolerance(dtype)) {
                        apart += 1;
                    }
                }
            }
        }
        let line = format!(
            "{} {name}: {compared} of {all} graphs have distinct rows, {apart} of them excused\n",
            dataset.name()
        );
        let _ = std::io::stdout().write_all(line.as_bytes());
        assert!(100 * apart <= compared, "{line}");
        assert!(compared >= *least_compared, "{line}");
    }
}

#[test]
fn coarsenings_of_random_graphs_do_not_depend_on_node_order() {
    let dense = random_graphs(60, 8, |index| 0.4 + 0.05 * (index % 7) as f64);
    let least = [("topk", 150), ("sag", 150), ("edge", 150), ("pan", 150)];
    coarsenings_do_not_see_the_order_of_nodes(&dense, &least);
}

/// A benchmark's features are one-hot, and each of its graphs has nodes that no
/// convolution can distinguish: no graph would be left to compare. So they get noise.
#[test]
fn coarsenings_of_benchmarks_do_not_depend_on_node_order() {
    // Every molecule has an atom of degree 1.
    for (name, every, most, edge) in [("MUTAG", 1, 700, 0), ("PROTEINS", 9, 240, 60)] {
        let Some(dataset) = benchmark(name, every) else {
            return;
        };
        let one_hot = dataset.features().to_dense();
        let noise = flat(&normal(one_hot.nrows(), one_hot.ncols(), 3));
        let noise = Array2::from_shape_vec(one_hot.dim(), noise).unwrap();
        let noisy = one_hot + noise.mapv(|number| 0.3 * number as f32);
        let dataset = dataset.with_features(Features::dense(noisy).unwrap()).unwrap();
        let least = [("topk", most), ("sag", most), ("edge", edge), ("pan", most)];
        coarsenings_do_not_see_the_order_of_nodes(&dataset, &least);
    }
}

/// Every node has the same feature: whatever a GCN without bias makes of it has rank 1
/// but for rounding, which must not count.
#[test]
fn constant_features_through_a_gcn_have_rank_1_in_every_order() {
    let pooling = PoolingConfig::from(Egg {
        rank: RankRule::Fixed(5),
        flatten: egg_autodiff::Flatten::Upper,
    });
    let mut datasets = vec![random_graphs(120, 6, |index| 0.02 + 0.07 * (index % 13) as f64)];
    datasets.extend(benchmark("PROTEINS", 3));
    for dataset in datasets {
        let nodes = dataset.node_count();
        for feature in [1.0, 0.1, 7e-3] {
            let ones = Features::dense(Array2::from_elem((nodes, 1), feature)).unwrap();
            let dataset = dataset.clone().with_features(ones).unwrap();
            for (layers, hidden, seed) in [(1, 8, 1), (2, 32, 2), (2, 64, 3), (4, 16, 4)] {
                let config = ModelConfig {
                    layers,
                    hidden,
                    ..ModelConfig::new(Gcn, pooling.clone())
                };
                let model = config.model(1, CLASSES, DType::F32, &mut rng(seed)).unwrap();
                for order in 0..3 {
                    let (other, _) = renumbered(&dataset, order);
                    let found = judge(&model, &prepare(&other, "gcn", DType::F32));
                    for (graph, p) in found.ranks[0].iter().enumerate() {
                        assert_eq!(*p, 1, "graph {graph} of {}, {layers} layers", dataset.name());
                    }
                }
            }
        }
    }
}
