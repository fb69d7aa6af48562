//! Gradients that are handed from operation to operation are those that go over candle's tape.

use std::sync::Arc;

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_graph::conv::{GcnConv, GinConv, NodeInput, SparseMatrix};
use egg_graph::{Features, Graph, GraphDataset, PropagatedFeatures, Propagation};
use egg_nn::{Parameters, Pass, Tracked};
use egg_pool::model::{Head, HeadConfig};
use egg_pool::{Pooled, Pooling, PoolingConfig, Structure};

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

    /// What is pooled, and whatever is between two operations taken as it is, or from
    /// candle's tape.
    fn pooled(&self, pooling: &dyn Pooling, relu: bool, between: fn(Tracked) -> Tracked) -> Pooled {
        let mut rng = rng(0);
        let mut pass = Pass::Training(&mut rng);
        let mut x = self.input.clone();
        for conv in &self.convs {
            let conv = if relu {
                conv.clone().with_relu()
            } else {
                conv.clone()
            };
            x = between(conv.forward(&x, &self.propagation, &mut pass).unwrap()).into();
        }
        let NodeInput::Dense(h) = x else {
            panic!("a layer gives a tensor")
        };
        let pooled = pooling.pool(&h, &self.structure, &mut pass).unwrap();
        Pooled {
            readout: between(pooled.readout),
            ..pooled
        }
    }
}

fn with_handoff(tracked: Tracked) -> Tracked {
    tracked
}

fn on_the_tape(tracked: Tracked) -> Tracked {
    tracked.tensor().into()
}

/// Results and gradients of every parameter, to the bit (0 and -0 are equal).
fn check(network: &Network, more: &[(&str, &Var)]) {
    for config in PoolingConfig::all() {
        let (pooling, _) = build(&config, WIDTH, DType::F64, 3);
        for relu in [true, false] {
            let handed = network.pooled(&*pooling, relu, with_handoff);
            let plain = network.pooled(&*pooling, relu, on_the_tape);
            assert_eq!(flat(handed.readout.values()), flat(&plain.readout), "{config}");
            assert_eq!(handed.ranks, plain.ranks, "{config}");

            let (rows, columns) = plain.readout.dims2().unwrap();
            let loss = |readout: &Tensor| (readout * normal(rows, columns, 50)).unwrap().sum_all().unwrap();
            let expected = loss(&plain.readout).backward().unwrap();
            for found in [
                loss(&handed.readout).backward().unwrap(),
                egg_nn::backward(&loss(&handed.readout)).unwrap(),
            ] {
                for (name, parameter) in network.parameters.trainable().chain(more.iter().copied()) {
                    let expected = flat(expected.get(parameter).unwrap());
                    assert!(expected.iter().any(|number| *number != 0.0), "{config}: {name}");
                    assert_eq!(
                        flat(found.get(parameter).unwrap()),
                        expected,
                        "{config}, ReLU {relu}: {name}"
                    );
                }
            }
        }
    }
}

#[test]
fn evaluation_records_no_tape() {
    let network = Network::new(|rows| normal(rows, 3, 7).into());
    let mut rng = rng(0);
    let mut training = Pass::Training(&mut rng);
    let first = |pass: &mut Pass<'_>| {
        network.convs[0]
            .forward(&network.input, &network.propagation, pass)
            .unwrap()
    };
    assert!(!first(&mut Pass::Evaluation).is_tracked());
    let tracked = first(&mut training);
    assert!(tracked.is_tracked());
    let next = network.convs[1].forward(&tracked.into(), &network.propagation, &mut Pass::Evaluation);
    assert!(!next.unwrap().is_tracked());
}

#[test]
fn gradients_equal_those_of_candles_tape_for_sparse_features() {
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
fn gradients_equal_those_of_candles_tape_for_dense_features() {
    let x = Var::from_tensor(&normal(node_count(&mixed()), 3, 7)).unwrap();
    let network = Network::new(|_| (&x).into());
    check(&network, &[("x", &x)]);
}

/// A model's head behind a readout.
#[test]
fn gradients_equal_those_of_candles_tape_through_a_head() {
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
        let scores = |between: fn(Tracked) -> Tracked| {
            let readout = network.pooled(&*pooling, true, between).readout;
            head.forward(readout, &mut Pass::Training(&mut rng(6))).unwrap()
        };
        let (handed, plain) = (scores(with_handoff), scores(on_the_tape));
        assert_eq!(flat(&handed), flat(&plain));

        let (rows, columns) = plain.dims2().unwrap();
        let loss = |scores: &Tensor| (scores * normal(rows, columns, 50)).unwrap().sum_all().unwrap();
        let expected = loss(&plain).backward().unwrap();
        for found in [
            loss(&handed).backward().unwrap(),
            egg_nn::backward(&loss(&handed)).unwrap(),
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
        for conv in [conv.clone(), conv.clone().with_relu()] {
            let plain = conv.forward(&input, &matrix, &mut pass).unwrap();
            let beforehand = NodeInput::Propagated(propagated.clone());
            let found = conv.forward(&beforehand, &matrix, &mut pass).unwrap();
            let near = |found: &Tensor, expected: &Tensor| {
                for (found, expected) in flat(found).iter().zip(flat(expected)) {
                    assert_abs_diff_eq!(*found, expected, epsilon = 1e-4 * expected.abs().max(1.0));
                }
            };
            near(found.values(), plain.values());
            let gradients = |h: &Tracked| {
                let sums = structure(&graphs).segments().sum(h).unwrap();
                let loss = sums.sqr().unwrap().sum_all().unwrap();
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
        let other = NodeInput::Propagated(Arc::new(propagation.batch(&all).unwrap()));
        assert!(conv.forward(&other, &matrix, &mut pass).is_err());
    }
}

#[test]
fn only_a_gcn_takes_propagated_features() {
    let graphs = [(2, vec![(0, 1)])];
    let made = Graph::from_edges(2, &graphs[0].1)
        .unwrap()
        .with_features(Features::one_hot(vec![0, 1], 2).unwrap())
        .unwrap();
    let dataset = GraphDataset::single("pair", made);
    let propagation = Propagation::gcn(&dataset);
    let features = PropagatedFeatures::new(&propagation, dataset.features()).unwrap();
    let input = NodeInput::Propagated(Arc::new(features.batch(&[0]).unwrap()));
    let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let gin = GinConv::new(&mut parameters.root(&mut rng(1)), 2, 3).unwrap();
    let error = gin.forward(&input, &propagation.matrix(&[0]).unwrap(), &mut Pass::Evaluation);
    assert!(matches!(error, Err(egg_graph::Error::Propagated)));
}
