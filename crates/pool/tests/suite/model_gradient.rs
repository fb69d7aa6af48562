//! Every model with every pooling: the gradients of all parameters are those of
//! differences, and evaluation builds no tape.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use candle_core::{DType, Tensor, Var};
use egg_graph::{Features, Graph, GraphDataset, Labels, Targets};
use egg_nn::{Pass, Reduction};
use egg_pool::PoolingConfig;
use egg_pool::data::{Batch, InputFeatures, PreparedGraphs};
use egg_pool::model::{HeadConfig, Model, ModelConfig};
use egg_pool::pooling::Sum;
use egg_pool::train::Objective;
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::samples::{build, flat, normal, random_graph, rng, structure};
use crate::small;

fn check(config: &ModelConfig, dataset: GraphDataset) {
    let what = format!(
        "{} {} {}",
        config.convolution,
        config.pooling.name(),
        config.virtual_node
    );
    let dataset = config.features.apply(dataset).unwrap();
    let graphs = PreparedGraphs::new(dataset, config.convolution.propagation(), DType::F32).unwrap();
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
    let subspaces = config.pooling.rank_rule().is_some() && config.convolution.has_layers();
    let poolings = match (subspaces, config.convolution.name()) {
        (false, _) => 0,
        (true, "gin") => config.layers,
        (true, _) => 1,
    };
    assert_eq!(output.ranks.len(), poolings, "{what}");
    let targets = batch.targets.as_ref().unwrap();
    let loss = Objective::CrossEntropy
        .loss(&output.scores, targets, Reduction::Sum)
        .unwrap();
    let gradients = loss.backward().unwrap();
    for (name, parameter) in model.parameters().trainable() {
        let gradient = gradients.get(parameter);
        let gradient = flat(gradient.unwrap_or_else(|| panic!("{what}: no gradient for {name}")));
        assert!(
            gradient.iter().all(|entry| entry.is_finite()),
            "{what}: gradient of {name}"
        );
    }
}

const GRAPHS: usize = 6;

/// Graphs with normal features, in which no two nodes are alike.
fn random_graphs() -> GraphDataset {
    let graphs: Vec<Graph> = (0..GRAPHS)
        .map(|index| {
            let (nodes, edges) = random_graph(6 + index % 4, 0.5, 40 + index as u64);
            let rows: Vec<f32> = flat(&normal(nodes, 3, 60 + index as u64))
                .into_iter()
                .map(|number| number as f32)
                .collect();
            let features = Features::dense(Array2::from_shape_vec((nodes, 3), rows).unwrap()).unwrap();
            Graph::from_edges(nodes, &edges)
                .unwrap()
                .with_features(features)
                .unwrap()
        })
        .collect();
    GraphDataset::from_graphs("random graphs", &graphs)
        .unwrap()
        .with_targets(Targets::Classes(Labels::from_values(&[0, 1, 1, 0, 1, 0])))
        .unwrap()
}

/// A training step's loss, with the same dropout every time, and the ranks of EGG.
fn loss(model: &Model, batch: &Batch) -> (Tensor, Vec<Vec<usize>>) {
    let mut rng = rng(9);
    let output = model
        .network()
        .forward(batch, &mut Pass::Training(&mut rng))
        .unwrap();
    let targets = batch.targets.as_ref().unwrap();
    let loss = Objective::CrossEntropy
        .loss(&output.scores, targets, Reduction::Sum)
        .unwrap();
    (loss, output.ranks)
}

/// Why a gradient is not that of differences, or is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exception {
    /// A shift of what a batch norm normalises: the loss can't depend on it.
    NormalisedAway,
    /// PAN's filter makes the weights of the coarser graph too, in which no gradient
    /// flows (see `PanPooling`).
    WeightsOfCoarserGraph,
}

/// Whether a readout of rows that are all shifted is shifted by the same in every graph.
fn goes_along(pooling: &PoolingConfig) -> bool {
    let structure = structure(&[
        random_graph(4, 0.5, 1),
        random_graph(5, 0.5, 2),
        random_graph(6, 0.5, 3),
    ]);
    let (layer, _) = build(pooling, 3, DType::F64, 0);
    let h = normal(15, 3, 4);
    let shift = Tensor::new(&[[0.3, -0.2, 0.5]], h.device()).unwrap();
    let read_out = |h: &Tensor| {
        let pooled = layer.pool(&h.clone().into(), &structure, &mut Pass::Training(&mut rng(5)));
        pooled.unwrap().readout.tensor().clone()
    };
    let moved = (read_out(&h.broadcast_add(&shift).unwrap()) - read_out(&h)).unwrap();
    let spread = moved.broadcast_sub(&moved.get(0).unwrap()).unwrap();
    largest(&flat(&spread)) < 1e-12
}

impl Exception {
    fn from_name(name: &str, config: &ModelConfig, model: &Model) -> Option<Self> {
        let is_there = |name: String| model.parameters().get(&name).is_some();
        if let Some(layer) = name.strip_suffix(".bias")
            && let Some((block, index)) = layer.rsplit_once("lins.")
            && is_there(format!("{block}norms.{index}.weight"))
        {
            return Some(Self::NormalisedAway);
        }
        if config.convolution.name() != "gin" {
            return None;
        }
        // A readout that goes along with a shift of all rows hands it to the head, which
        // begins with a linear layer and a batch norm.
        let last = config.layers - 1;
        if goes_along(&config.pooling) && name == format!("layers.{last}.conv.nn.lins.1.bias") {
            return Some(Self::NormalisedAway);
        }
        let is_filter = config.pooling.name() == "pan" && name.ends_with(".pool.conv.weight");
        (is_filter && !name.starts_with(&format!("layers.{last}."))).then_some(Self::WeightsOfCoarserGraph)
    }
}

fn largest(numbers: &[f64]) -> f64 {
    numbers
        .iter()
        .fold(0.0, |most: f64, number| most.max(number.abs()))
}

/// What was compared, over all models.
#[derive(Debug, Default)]
struct Compared {
    tensors: usize,
    entries: usize,
    /// Entries with a kink of a ReLU or of a maximum within the first step.
    with_smaller_step: usize,
    normalised_away: usize,
    weights_of_coarser_graphs: usize,
}

/// A model whose parameters are nothing special, with all graphs.
fn model_and_batch(config: &ModelConfig) -> (Model, Batch) {
    let graphs = PreparedGraphs::new(random_graphs(), config.convolution.propagation(), DType::F64).unwrap();
    let model: Model = config.model(graphs.inputs(), 2, DType::F64, &mut rng(1)).unwrap();
    // Zeros and ones, with which some begin, could hide that they are left out.
    for (index, (_, parameter)) in model.parameters().trainable().enumerate() {
        let noise = (normal(1, parameter.elem_count(), 80 + index as u64) * 0.3).unwrap();
        let noise = noise.reshape(parameter.shape()).unwrap();
        parameter.set(&(parameter.as_tensor() + noise).unwrap()).unwrap();
    }
    let batch = graphs.batch(&(0..GRAPHS).collect::<Vec<_>>()).unwrap();
    (model, batch)
}

/// Every entry of every gradient, in f64, against central differences of the loss.
fn compare(config: &ModelConfig, compared: &mut Compared) {
    let what = format!(
        "{} {} {}",
        config.convolution,
        config.pooling.name(),
        config.virtual_node
    );
    let (model, batch) = model_and_batch(config);
    let (start, ranks) = loss(&model, &batch);
    // Where a rank is full, the projector is constant and its gradient nothing.
    assert!(
        ranks.iter().flatten().all(|p| *p < config.hidden),
        "{what}: {ranks:?}"
    );
    let gradients = start.backward().unwrap();
    let start = start.to_scalar::<f64>().unwrap();
    let gradient = |parameter: &Var| flat(gradients.get(parameter).unwrap());
    let largest_of_all = model
        .parameters()
        .trainable()
        .map(|(_, parameter)| largest(&gradient(parameter)))
        .fold(0.0, f64::max);

    for (name, parameter) in model.parameters().trainable() {
        let found = gradient(parameter);
        let size = largest(&found);
        match Exception::from_name(name, config, &model) {
            // Sums of as many terms of either sign, as large as other gradients.
            Some(Exception::NormalisedAway) => {
                compared.normalised_away += 1;
                assert!(size <= 1e-12 * largest_of_all, "{what}: {name} has {size:e}");
                continue;
            }
            Some(Exception::WeightsOfCoarserGraph) => {
                compared.weights_of_coarser_graphs += 1;
                continue;
            }
            None => {}
        }
        // Far more than the differences' rounding.
        assert!(size > 1e-4, "{what}: the gradient of {name} is at most {size:e}");
        compared.tensors += 1;
        compared.entries += found.len();

        let numbers = flat(parameter);
        let set = |numbers: Vec<f64>| {
            let moved = Tensor::from_vec(numbers, parameter.shape(), parameter.device()).unwrap();
            parameter.set(&moved).unwrap();
        };
        let at = |index: usize, shift: f64| {
            let mut numbers = numbers.clone();
            numbers[index] += shift;
            set(numbers);
            let (loss, there) = loss(&model, &batch);
            assert_eq!(there, ranks, "{what}: {name} moves a rank");
            loss.to_scalar::<f64>().unwrap()
        };
        for (index, found) in found.iter().enumerate() {
            let off = |step: f64| {
                let difference = (at(index, step) - at(index, -step)) / (2.0 * step);
                let rounding = 16.0 * f64::EPSILON * start / step;
                let is_same = abs_diff_eq!(*found, difference, epsilon = 2e-7 * size + rounding);
                (!is_same).then_some(difference)
            };
            if off(1e-5).is_none() {
                continue;
            }
            compared.with_smaller_step += 1;
            if let Some(difference) = off(1e-6) {
                panic!("{what}: {name} has {found} at {index}, differences {difference}");
            }
        }
        set(numbers);
    }
}

/// Dropout and batch norm are part of the loss; ranks stay what they are, and so must the
/// choices of the other poolings, or differences would be far off.
#[test]
fn gradients_of_every_parameter_equal_finite_differences() {
    let mut compared = Compared::default();
    for convolution in ["gcn", "gin", "blind"] {
        for pooling in PoolingConfig::all() {
            // Without convolutions nothing is pooled but the sum.
            if convolution == "blind" && pooling != Sum.into() {
                continue;
            }
            for virtual_node in [false, true] {
                let mut config = ModelConfig::new(small::convolution(convolution), pooling.clone());
                (config.hidden, config.layers) = (5, 3);
                config.virtual_node = virtual_node;
                config.head = HeadConfig {
                    widths: vec![4],
                    dropout: 0.2,
                    output_norm: true,
                };
                compare(&config, &mut compared);
            }
        }
    }
    // Whoever leaves out more must say why.
    assert!(
        compared.tensors > 1500 && compared.entries > 17_000,
        "{compared:?}"
    );
    assert!(
        1000 * compared.with_smaller_step < compared.entries,
        "{compared:?}"
    );
    assert!(4 * compared.normalised_away < compared.tensors, "{compared:?}");
    assert_eq!(compared.weights_of_coarser_graphs, 4, "{compared:?}");
}

#[test]
fn every_parameter_gets_a_gradient() {
    for convolution in ["gcn", "gin", "blind"] {
        for pooling in PoolingConfig::all() {
            let mut config = ModelConfig::new(small::convolution(convolution), pooling);
            (config.hidden, config.layers) = (6, 3);
            check(&config, small::dataset(20));
            config.virtual_node = true;
            check(&config, small::dataset(20));
        }
    }
}

#[test]
fn sparse_features_train_like_dense_ones() {
    for convolution in ["gcn", "gin", "blind"] {
        for virtual_node in [false, true] {
            let mut config = ModelConfig::new(small::convolution(convolution), Sum.into());
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
    for convolution in ["gcn", "gin", "blind"] {
        let mut config = ModelConfig::new(small::convolution(convolution), Sum.into());
        config.virtual_node = true;
        let scores = |dataset: GraphDataset| {
            let graphs =
                PreparedGraphs::new(dataset, small::convolution(convolution).propagation(), DType::F64)
                    .unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let model = config.model(6, 2, DType::F64, &mut rng).unwrap();
            let batch = graphs.batch(&[0, 3, 5]).unwrap();
            let output = model.network().forward(&batch, &mut Pass::Evaluation).unwrap();
            output.scores.to_vec2::<f64>().unwrap().concat()
        };
        for (a, b) in scores(dataset.clone()).iter().zip(scores(dense.clone())) {
            assert_abs_diff_eq!(*a, b, epsilon = 1e-12);
        }
    }
}
