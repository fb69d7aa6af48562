//! No nodes, no graphs, one node, zeros, extreme numbers.

use candle_core::{DType, Device, Tensor, Var};
use egg_nn::Pass;
use egg_pool::PoolingConfig;

use crate::samples::{Edges, build, flat, normal, rng, structure};
use crate::small;

/// Pools, and pulls back a gradient; everything must be finite.
fn run(config: &PoolingConfig, h: &Tensor, graphs: &[Edges]) -> Vec<f64> {
    let structure = structure(graphs);
    let (pooling, _) = build(config, h.dims()[1], h.dtype(), 1);
    let h = Var::from_tensor(h).unwrap();
    let mut rng = rng(1);
    let pooled = pooling
        .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
        .unwrap();
    assert_eq!(pooled.readout.dims(), [graphs.len(), pooling.width()], "{config}");
    if let Some(ranks) = &pooled.ranks {
        assert_eq!(ranks.len(), graphs.len());
    }
    let gradients = pooled.readout.sum_all().unwrap().backward().unwrap();
    let gradient = gradients.get(&h).map(flat).unwrap_or_default();
    let readout = flat(&pooled.readout);
    for number in gradient.iter().chain(&readout) {
        assert!(number.is_finite(), "{config}");
    }
    readout
}

#[test]
fn graphs_without_nodes_give_zeros() {
    for config in PoolingConfig::all() {
        for dtype in [DType::F32, DType::F64] {
            let empty = Tensor::zeros((0, 3), dtype, &Device::Cpu).unwrap();
            let readout = run(&config, &empty, &[(0, vec![]), (0, vec![])]);
            assert!(readout.iter().all(|number| *number == 0.0), "{config}");
            assert_eq!(run(&config, &empty, &[]), Vec::<f64>::new());
            let rows = normal(2, 3, 1).to_dtype(dtype).unwrap();
            let readout = run(&config, &rows, &[(0, vec![]), (2, vec![(0, 1)]), (0, vec![])]);
            let width = readout.len() / 3;
            assert!(readout[..width].iter().all(|number| *number == 0.0), "{config}");
            assert!(readout[width..2 * width].iter().any(|number| *number != 0.0));
            assert!(readout[2 * width..].iter().all(|number| *number == 0.0));
        }
    }
}

#[test]
fn zeros_and_extremes_stay_finite() {
    for config in PoolingConfig::all() {
        let graphs = [(3, vec![(0, 1), (1, 2)]), (1, vec![])];
        for scale in [0.0, 1e-30, 1e15] {
            let h = (normal(4, 3, 2) * scale).unwrap().to_dtype(DType::F32).unwrap();
            run(&config, &h, &graphs);
        }
    }
}

#[test]
fn topk_with_zero_weights_is_finite() {
    let structure = structure(&[(3, vec![(0, 1)])]);
    let (pooling, parameters) = build(&"topk".parse().unwrap(), 3, DType::F32, 1);
    let weight = parameters.get("select.weight").unwrap();
    weight
        .set(&Tensor::zeros((1, 3), DType::F32, &Device::Cpu).unwrap())
        .unwrap();
    let h = normal(3, 3, 2).to_dtype(DType::F32).unwrap();
    let mut rng = rng(1);
    let pooled = pooling
        .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
        .unwrap();
    let gradients = pooled.readout.sum_all().unwrap().backward().unwrap();
    assert!(
        flat(gradients.get(weight).unwrap())
            .iter()
            .all(|number| number.is_finite())
    );
}

#[test]
fn nan_does_not_panic() {
    let structure = structure(&[(3, vec![(0, 1), (1, 2)])]);
    for config in PoolingConfig::all() {
        let (pooling, _) = build(&config, 2, DType::F64, 1);
        let h = Tensor::new(&[[1.0, f64::NAN], [0.0, 2.0], [f64::INFINITY, 0.0]], &Device::Cpu).unwrap();
        let pooled = pooling.pool(&(&h).into(), &structure, &mut Pass::Evaluation);
        // EGG refuses them, by themselves and with others; all else passes them on.
        let refuses = ["egg", "soft-egg", "concat"].contains(&config.name());
        assert_eq!(pooled.is_err(), refuses, "{config}");
    }
}

/// Features so small that f32 has hardly a digit left for them: a whole model is trained
/// on them, and nothing becomes NaN.
#[test]
fn denormal_features_are_trained_on_without_nan() {
    use egg_graph::{Features, Graph, GraphDataset, Labels, Split, Targets};
    use egg_pool::data::PreparedGraphs;
    use egg_pool::model::ModelConfig;
    use egg_pool::train::{Silent, TrainConfig, Trainer};

    for scale in [1e-38f32, 1e-41, 1e-44] {
        let graphs: Vec<Graph> = (0..24)
            .map(|index| {
                let nodes = 3 + index % 4;
                let rows = flat(&normal(nodes, 3, index as u64));
                let rows = rows.into_iter().map(|number| number as f32 * scale).collect();
                let features = ndarray::Array2::from_shape_vec((nodes, 3), rows).unwrap();
                let edges: Vec<_> = (1..nodes).map(|node| (0, node)).collect();
                let graph = Graph::from_edges(nodes, &edges).unwrap();
                graph.with_features(Features::dense(features).unwrap()).unwrap()
            })
            .collect();
        let labels: Vec<i64> = (0..24).map(|graph| graph % 2).collect();
        let dataset = GraphDataset::from_graphs("denormal", &graphs)
            .unwrap()
            .with_targets(Targets::Classes(Labels::from_values(&labels)))
            .unwrap();
        let split = Split::random(24, &mut rng(1));
        let config = TrainConfig {
            max_epochs: 3,
            ..TrainConfig::paper()
        };
        for convolution in ["gcn", "gin"] {
            let graphs = PreparedGraphs::new(
                dataset.clone(),
                small::convolution(convolution).propagation(),
                DType::F32,
            )
            .unwrap();
            for pooling in PoolingConfig::all() {
                let what = format!("{convolution} {pooling}, {scale:e}");
                let model = ModelConfig::new(small::convolution(convolution), pooling);
                let model = model.model(3, 2, DType::F32, &mut rng(2)).unwrap();
                let trainer = Trainer::new(&config, &graphs, &split).unwrap();
                let outcome = trainer.run(&model, rng(3), &mut Silent);
                let outcome = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(
                    outcome.history.iter().all(|epoch| epoch.train_loss.is_finite()),
                    "{what}"
                );
                for (name, tensor) in model.parameters().snapshot().unwrap() {
                    assert!(
                        flat(&tensor).iter().all(|number| number.is_finite()),
                        "{what}: {name}"
                    );
                }
            }
        }
    }
}
