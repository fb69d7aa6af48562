//! Whole models against PyTorch and PyTorch Geometric
//! (`tests/fixtures/models.py`).

use std::collections::BTreeMap;

use crate::small;
use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor};
use egg_graph::{Features, Graph, GraphDataset, Labels, Targets};
use egg_nn::{Pass, Reduction};
use egg_pool::data::PreparedGraphs;
use egg_pool::model::{HeadConfig, ModelConfig};
use egg_pool::train::Objective;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Fixture {
    sizes: Vec<usize>,
    edges: Vec<Vec<(usize, usize)>>,
    x: Vec<Vec<f32>>,
    classes: Vec<i64>,
    hidden: usize,
    widths: Vec<usize>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    architecture: String,
    pooling: String,
    output_norm: bool,
    layers: usize,
    state: BTreeMap<String, Value>,
    evaluated: Vec<Vec<f64>>,
    trained: Vec<Vec<f64>>,
    loss: f64,
    gradients: BTreeMap<String, Value>,
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn largest(numbers: &[f64]) -> f64 {
    numbers
        .iter()
        .fold(0.0, |most: f64, number| most.max(number.abs()))
}

fn dataset(fixture: &Fixture) -> GraphDataset {
    let mut at = 0;
    let graphs = fixture.sizes.iter().zip(&fixture.edges).map(|(&size, edges)| {
        let rows = fixture.x[at..at + size].concat();
        at += size;
        let features = ndarray::Array2::from_shape_vec((size, rows.len() / size), rows).unwrap();
        let graph = Graph::from_edges(size, edges).unwrap();
        graph.with_features(Features::dense(features).unwrap()).unwrap()
    });
    let graphs: Vec<Graph> = graphs.collect();
    GraphDataset::from_graphs("fixture", &graphs)
        .unwrap()
        .with_targets(Targets::Classes(Labels::from_values(&fixture.classes)))
        .unwrap()
}

#[test]
fn models_are_those_of_pytorch() {
    let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/models.json")).unwrap();
    assert_eq!(fixture.cases.len(), 8);
    for case in &fixture.cases {
        let convolution = case.architecture.as_str();
        let what = format!("{convolution} {} {}", case.pooling, case.output_norm);
        let mut config = ModelConfig::new(small::convolution(convolution), case.pooling.parse().unwrap());
        (config.layers, config.hidden) = (case.layers, fixture.hidden);
        config.head = HeadConfig {
            widths: fixture.widths.clone(),
            dropout: 0.0,
            output_norm: case.output_norm,
        };
        let graphs = PreparedGraphs::new(
            dataset(&fixture),
            small::convolution(convolution).propagation(),
            DType::F64,
        )
        .unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let model = config.model(graphs.inputs(), 2, DType::F64, &mut rng).unwrap();
        // The same names on both sides, and the same shapes.
        let state = case.state.iter().map(|(name, value)| {
            let shape = model.parameters().get(name).map(|var| var.shape().clone());
            let shape = shape.unwrap_or_else(|| panic!("{what}: {name}"));
            (
                name.clone(),
                Tensor::from_vec(numbers(value), shape, &Device::Cpu).unwrap(),
            )
        });
        model.parameters().load(&state.collect()).unwrap();

        // GCN's coefficients are f32; EGG's gradients are of finite differences.
        let exact = if convolution == "gcn" { 2e-5 } else { 1e-9 };
        let (by_differences, rounding) = if case.pooling == "egg" {
            (1e-6, 1e-10)
        } else {
            (0.0, 1e-14)
        };
        let close_to = |tolerance: f64, name: &str, ours: &[f64], theirs: &[f64]| {
            assert_eq!(ours.len(), theirs.len(), "{what} {name}");
            assert!(
                ours.iter()
                    .zip(theirs)
                    .all(|(a, b)| abs_diff_eq!(a, b, epsilon = tolerance)),
                "{what} {name}: {ours:?} {theirs:?}"
            );
        };
        let close = |name: &str, ours: &[f64], theirs: &[f64]| {
            close_to(exact * largest(theirs), name, ours, theirs);
        };
        let batch = graphs.batch(&[0, 1, 2]).unwrap();
        let output = model.network().forward(&batch, &mut Pass::Evaluation).unwrap();
        let flat = |scores: &Tensor| scores.to_vec2::<f64>().unwrap().concat();
        close("evaluation", &flat(&output.scores), &case.evaluated.concat());

        let output = model
            .network()
            .forward(&batch, &mut Pass::Training(&mut rng))
            .unwrap();
        close("training", &flat(&output.scores), &case.trained.concat());
        let loss = Objective::CrossEntropy
            .loss(&output.scores, batch.targets.as_ref().unwrap(), Reduction::Sum)
            .unwrap();
        close("loss", &[loss.to_scalar::<f64>().unwrap()], &[case.loss]);
        let gradients = loss.backward().unwrap();
        assert_eq!(model.parameters().trainable().count(), case.gradients.len());
        let largest_of_all = largest(&case.gradients.values().flat_map(numbers).collect::<Vec<_>>());
        for (name, parameter) in model.parameters().trainable() {
            let gradient = gradients.get(parameter).unwrap().flatten_all().unwrap();
            let theirs = numbers(&case.gradients[name]);
            // Relative to its own size, however small that is, but for rounding: a shift that a
            // batch norm takes away has a gradient of nothing else.
            let tolerance = (exact + by_differences) * largest(&theirs) + rounding * largest_of_all;
            close_to(tolerance, name, &gradient.to_vec1::<f64>().unwrap(), &theirs);
        }
    }
}
