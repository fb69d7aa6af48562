//! Every model with every pooling: all parameters are trained, and evaluation
//! builds no tape.

use candle_core::DType;
use egg_graph::{Features, GraphDataset};
use egg_nn::{Pass, Reduction};
use egg_pool::PoolingConfig;
use egg_pool::data::{InputFeatures, PreparedGraphs};
use egg_pool::model::{Architecture, Model, ModelConfig};
use egg_pool::train::Objective;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::small;

fn check(config: &ModelConfig, dataset: GraphDataset) {
    let what = format!(
        "{} {} {}",
        config.architecture,
        config.pooling.name(),
        config.virtual_node
    );
    let dataset = config.features.apply(dataset).unwrap();
    let graphs = PreparedGraphs::new(dataset, config.architecture.convolved(), DType::F32).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let model: Model = config.model(graphs.inputs(), 2, DType::F32, &mut rng).unwrap();
    let batch = graphs.batch(&(0..16).collect::<Vec<_>>()).unwrap();

    let output = model.network().forward(&batch, &mut Pass::Evaluation).unwrap();
    assert!(!output.scores.track_op(), "{what}");
    assert_eq!(output.scores.dims(), [16, 2]);
    let finite = |scores: &candle_core::Tensor| {
        let scores = scores.to_vec2::<f32>().unwrap();
        scores.iter().flatten().all(|score| score.is_finite())
    };
    assert!(finite(&output.scores), "{what}");

    let output = model
        .network()
        .forward(&batch, &mut Pass::Training(&mut rng))
        .unwrap();
    assert!(finite(&output.scores), "{what}");
    let subspaces = matches!(config.pooling, PoolingConfig::Egg { .. }) && !config.is_blind();
    let poolings = match (subspaces, config.architecture) {
        (false, _) => 0,
        (true, Architecture::Gin) => config.layers,
        (true, _) => 1,
    };
    assert_eq!(output.ranks.len(), poolings, "{what}");
    let targets = batch.targets.as_ref().unwrap();
    let loss = Objective::CrossEntropy
        .loss(&output.scores, targets, Reduction::Sum)
        .unwrap();
    let gradients = loss.backward().unwrap();
    for (name, parameter) in model.parameters().trainable() {
        assert!(
            gradients.get(parameter).is_some(),
            "{what}: no gradient for {name}"
        );
    }
}

#[test]
fn every_parameter_gets_a_gradient() {
    for architecture in Architecture::ALL {
        for pooling in PoolingConfig::all() {
            let mut config = ModelConfig::new(architecture, pooling);
            (config.hidden, config.layers) = (6, 3);
            check(&config, small::dataset(20));
            config.virtual_node = true;
            check(&config, small::dataset(20));
        }
    }
}

#[test]
fn sparse_features_do_as_well() {
    for architecture in Architecture::ALL {
        for virtual_node in [false, true] {
            let mut config = ModelConfig::new(architecture, PoolingConfig::Sum);
            config.hidden = 6;
            config.virtual_node = virtual_node;
            config.features = InputFeatures::Degree { most: 50 };
            check(&config, small::dataset(20));
        }
    }
}

/// A sum of embeddings, one for each column, is one sparse product.
#[test]
fn one_hot_columns_are_embeddings() {
    let dataset = small::dataset(20);
    let nodes = dataset.node_count();
    let columns = |at: usize| (0..nodes).map(move |node| ((node * 7 + at) % 3) as f32);
    let numbers = columns(0).zip(columns(1)).flat_map(|(a, b)| [a, b]).collect();
    let features = Features::dense(ndarray::Array2::from_shape_vec((nodes, 2), numbers).unwrap()).unwrap();
    let dataset = dataset
        .with_features(features)
        .unwrap()
        .one_hot_columns(&[3, 3])
        .unwrap();
    let sparse = dataset.features().clone();
    let dense = dataset
        .clone()
        .with_features(Features::dense(sparse.to_dense()).unwrap())
        .unwrap();
    for architecture in Architecture::ALL {
        let mut config = ModelConfig::new(architecture, PoolingConfig::Sum);
        config.virtual_node = true;
        let scores = |dataset: GraphDataset| {
            let graphs = PreparedGraphs::new(dataset, architecture.convolved(), DType::F64).unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let model = config.model(6, 2, DType::F64, &mut rng).unwrap();
            let batch = graphs.batch(&[0, 3, 5]).unwrap();
            let output = model.network().forward(&batch, &mut Pass::Evaluation).unwrap();
            output.scores.to_vec2::<f64>().unwrap().concat()
        };
        for (a, b) in scores(dataset.clone()).iter().zip(scores(dense.clone())) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}
