//! Rows that are relayed give the results and gradients of rows on candle's tape.

use std::sync::Arc;

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_graph::conv::{GcnConv, NodeInput, SparseMatrix};
use egg_graph::{Features, Graph, GraphDataset, PropagatedFeatures, Propagation};
use egg_nn::{Parameters, Pass};
use egg_pool::model::{Head, HeadConfig};
use egg_pool::{Error, Pooled, Pooling, PoolingConfig, RelayedPooled, Structure};

use crate::samples::{build, flat, mixed, node_count, normal, rng, structure};

const WIDTH: usize = 5;

/// Three layers of a network, and what they work on.
struct Network {
    parameters: Parameters,
    convs: Vec<GcnConv>,
    input: NodeInput,
    propagation: SparseMatrix,
    structure: Structure,
}

impl Network {
    fn new(input: impl FnOnce(usize) -> NodeInput) -> Self {
        let graphs = mixed();
        let made: Vec<Graph> = graphs
            .iter()
            .map(|(nodes, edges)| Graph::from_edges(*nodes, edges).unwrap())
            .collect();
        let dataset = GraphDataset::from_graphs("mixed", &made).unwrap();
        let all: Vec<usize> = (0..graphs.len()).collect();
        let mut rng = rng(1);
        let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
        let mut scope = parameters.root(&mut rng);
        let convs = (0..3)
            .map(|layer| {
                let inputs = if layer == 0 { 3 } else { WIDTH };
                GcnConv::new(&mut scope.enter(layer), inputs, WIDTH).unwrap()
            })
            .collect();
        Self {
            parameters,
            convs,
            input: input(node_count(&graphs)),
            propagation: Propagation::gcn(&dataset).matrix(&all).unwrap(),
            structure: structure(&graphs),
        }
    }

    fn plain(&self, pooling: &dyn Pooling, rectify: bool) -> Pooled {
        let mut rng = rng(0);
        let mut pass = Pass::Training(&mut rng);
        let mut x = self.input.clone();
        for conv in &self.convs {
            let next = match rectify {
                true => conv.forward_relu(&x, &self.propagation, &mut pass),
                false => conv.forward(&x, &self.propagation, &mut pass),
            };
            x = next.unwrap().into();
        }
        let NodeInput::Dense(h) = x else {
            panic!("a layer gives a tensor")
        };
        pooling.pool(&h, &self.structure, &mut pass).unwrap()
    }

    fn relayed(&self, pooling: &dyn Pooling, rectify: bool) -> Option<RelayedPooled> {
        let mut rng = rng(0);
        let mut pass = Pass::Training(&mut rng);
        let mut h = self.convs[0]
            .relay(&self.input, &self.propagation, &mut pass, rectify)
            .unwrap();
        for conv in &self.convs[1..] {
            h = conv.relay_on(&h, &self.propagation, &mut pass, rectify).unwrap();
        }
        Some(pooling.relayed()?.pool_relayed(&h, &self.structure).unwrap())
    }
}

/// Results and gradients of every parameter, to the bit (0 and -0 are equal).
fn check(network: &Network, more: &[(&str, &Var)]) {
    let mut relayed_ones = Vec::new();
    for config in PoolingConfig::all() {
        let (pooling, _) = build(&config, WIDTH, DType::F64, 3);
        for rectify in [true, false] {
            let Some(relayed) = network.relayed(&*pooling, rectify) else {
                continue;
            };
            relayed_ones.push(config.name());
            let plain = network.plain(&*pooling, rectify);
            assert_eq!(flat(relayed.readout.values()), flat(&plain.readout), "{config}");
            assert_eq!(relayed.ranks, plain.ranks, "{config}");

            let (rows, columns) = plain.readout.dims2().unwrap();
            let loss = |readout: &Tensor| (readout * normal(rows, columns, 50)).unwrap().sum_all().unwrap();
            let expected = loss(&plain.readout).backward().unwrap();
            let found = loss(&relayed.readout.on_tape().unwrap()).backward().unwrap();
            for (name, parameter) in network.parameters.trainable().chain(more.iter().copied()) {
                let expected = flat(expected.get(parameter).unwrap());
                assert!(expected.iter().any(|number| *number != 0.0), "{config}: {name}");
                assert_eq!(
                    flat(found.get(parameter).unwrap()),
                    expected,
                    "{config}, rectify {rectify}: {name}"
                );
            }
        }
    }
    for name in ["egg", "sum", "avg", "max"] {
        assert!(relayed_ones.contains(&name), "{name} is not relayed");
    }
}

#[test]
fn there_is_no_tape_in_evaluation() {
    let network = Network::new(|rows| normal(rows, 3, 7).into());
    let mut rng = rng(0);
    let mut training = Pass::Training(&mut rng);
    let relay = |pass: &mut Pass<'_>| {
        network.convs[0]
            .relay(&network.input, &network.propagation, pass, true)
            .unwrap()
    };
    assert!(!relay(&mut Pass::Evaluation).track_op());
    let on_a_tape = relay(&mut training);
    assert!(on_a_tape.track_op());
    let next = network.convs[1].relay_on(&on_a_tape, &network.propagation, &mut Pass::Evaluation, true);
    assert!(!next.unwrap().track_op());
}

#[test]
fn layers_without_a_bias_are_relayed_too() {
    let network = Network::new(|rows| normal(rows, 3, 7).into());
    let mut rng = rng(2);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let conv = GcnConv::without_bias(&mut parameters.root(&mut rng), 3, WIDTH).unwrap();
    let mut pass = Pass::Training(&mut rng);
    let plain = conv
        .forward_relu(&network.input, &network.propagation, &mut pass)
        .unwrap();
    let relayed = conv
        .relay(&network.input, &network.propagation, &mut pass, true)
        .unwrap();
    assert_eq!(flat(relayed.values()), flat(&plain));
    let plain = network.structure.segments().sum(&plain).unwrap();
    let relayed = network.structure.segments().sum_relayed(&relayed).unwrap();
    let relayed = relayed.on_tape().unwrap();
    let gradient = |sums: &Tensor| {
        let gradients = sums.sqr().unwrap().sum_all().unwrap().backward().unwrap();
        let (_, weight) = parameters.trainable().next().unwrap();
        flat(gradients.get(weight).unwrap())
    };
    assert_eq!(gradient(&relayed), gradient(&plain));
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let network = Network::new(|rows| normal(rows, 3, 7).into());
    let h = network.convs[0]
        .relay(&network.input, &network.propagation, &mut Pass::Evaluation, true)
        .unwrap();
    let fewer = structure(&mixed()[..3]);
    for config in PoolingConfig::all() {
        for (width, structure) in [(WIDTH + 1, &network.structure), (WIDTH, &fewer)] {
            let (pooling, _) = build(&config, width, DType::F64, 3);
            if let Some(pooling) = pooling.relayed() {
                let error = pooling.pool_relayed(&h, structure).unwrap_err();
                assert!(matches!(error, Error::PoolingInput { .. }), "{config}: {error}");
            }
        }
    }
}

#[test]
fn gradients_are_the_same_from_sparse_features() {
    let features = |rows: usize| {
        let classes = (0u32..).take(rows).map(|row| row % 3).collect();
        let one_hot = Features::one_hot(classes, 3).unwrap();
        NodeInput::from_features(&one_hot, DType::F64, &Device::Cpu).unwrap()
    };
    let network = Network::new(features);
    assert!(matches!(network.input, NodeInput::Sparse(_)));
    check(&network, &[]);
}

#[test]
fn gradients_are_the_same_from_dense_ones_and_reach_them() {
    let x = Var::from_tensor(&normal(node_count(&mixed()), 3, 7)).unwrap();
    let network = Network::new(|_| NodeInput::Dense(x.as_tensor().clone()));
    check(&network, &[("x", &x)]);
}

/// A model's head takes the readout relayed, and parameters get their gradients without
/// candle's sums.
#[test]
fn a_head_behind_a_relayed_readout_is_the_same() {
    let network = Network::new(|rows| normal(rows, 3, 7).into());
    let config = HeadConfig::default();
    let none = HeadConfig {
        widths: Vec::new(),
        ..HeadConfig::default()
    };
    for (pooling, config) in [("egg", &config), ("sum", &config), ("egg", &none)] {
        let (pooling, _) = build(&pooling.parse().unwrap(), WIDTH, DType::F64, 3);
        let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
        let head = Head::new(&mut parameters.root(&mut rng(5)), pooling.width(), 2, config).unwrap();
        // Dropout draws the same from the same generator.
        let plain = network.plain(&*pooling, true).readout;
        let plain = head.forward(&plain, &mut Pass::Training(&mut rng(6))).unwrap();
        let relayed = network.relayed(&*pooling, true).unwrap().readout;
        let relayed = head
            .forward_relayed(&relayed, &mut Pass::Training(&mut rng(6)))
            .unwrap();
        assert_eq!(flat(&relayed), flat(&plain));

        let (rows, columns) = plain.dims2().unwrap();
        let loss = |scores: &Tensor| (scores * normal(rows, columns, 50)).unwrap().sum_all().unwrap();
        let expected = loss(&plain).backward().unwrap();
        for found in [
            loss(&relayed).backward().unwrap(),
            egg_nn::backward(&loss(&relayed)).unwrap(),
        ] {
            for (name, parameter) in network.parameters.trainable().chain(parameters.trainable()) {
                let expected = flat(expected.get(parameter).unwrap());
                assert_eq!(flat(found.get(parameter).unwrap()), expected, "{name}");
            }
        }
    }
}

/// The first layer on features that were propagated beforehand: the same to rounding, in
/// results and gradients.
#[test]
fn propagated_features_give_the_same() {
    let graphs = mixed();
    let mut class = 0u32..;
    let made: Vec<Graph> = graphs
        .iter()
        .map(|(nodes, edges)| {
            let classes = class.by_ref().take(*nodes).map(|class| class % 3).collect();
            let features = Features::one_hot(classes, 3).unwrap();
            Graph::from_edges(*nodes, edges)
                .unwrap()
                .with_features(features)
                .unwrap()
        })
        .collect();
    let dataset = GraphDataset::from_graphs("mixed", &made).unwrap();
    let propagation = Propagation::gcn(&dataset);
    let all: Vec<usize> = (0..graphs.len()).collect();
    let propagated = PropagatedFeatures::new(&propagation, dataset.features()).unwrap();
    let propagated = Arc::new(propagated.batch(&all).unwrap());
    let input = NodeInput::from_features(dataset.features(), DType::F32, &Device::Cpu).unwrap();
    let matrix = propagation.matrix(&all).unwrap();

    let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let mut generator = rng(4);
    let mut scope = parameters.root(&mut generator);
    let convs = [
        GcnConv::new(&mut scope.enter("with"), 3, 83).unwrap(),
        GcnConv::without_bias(&mut scope.enter("without"), 3, 64).unwrap(),
    ];
    let mut pass = Pass::Training(&mut generator);
    for conv in convs {
        for rectify in [true, false] {
            let plain = conv.relay(&input, &matrix, &mut pass, rectify).unwrap();
            let found = conv.relay_propagated(&propagated, &mut pass, rectify).unwrap();
            let near = |found: &Tensor, expected: &Tensor| {
                for (found, expected) in flat(found).iter().zip(flat(expected)) {
                    assert_abs_diff_eq!(*found, expected, epsilon = 1e-4 * expected.abs().max(1.0));
                }
            };
            near(found.values(), plain.values());
            let gradients = |h: &egg_nn::Relayed| {
                let sums = structure(&graphs).segments().sum_relayed(h).unwrap();
                let loss = sums.on_tape().unwrap().sqr().unwrap().sum_all().unwrap();
                egg_nn::backward(&loss).unwrap()
            };
            let (found, plain) = (gradients(&found), gradients(&plain));
            let mut compared = 0;
            for (_, parameter) in parameters.trainable() {
                if let Some(expected) = plain.get(parameter) {
                    near(found.get(parameter).unwrap(), expected);
                    compared += 1;
                }
            }
            assert!(compared > 0);
        }
        let narrow = Arc::new(propagation.batch(&all).unwrap());
        assert!(conv.relay_propagated(&narrow, &mut pass, true).is_err());
    }
}
