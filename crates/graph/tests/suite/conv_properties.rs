//! What must hold of every layer on every graph: the order of nodes, the
//! storage of features and the company in a batch make no difference.

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_graph::conv::{GcnConv, GinConv, JumpingKnowledge, NodeInput, SparseMatrix, VirtualNode, spmm};
use egg_graph::{CsrMatrix, Features, Graph, GraphBatch, GraphDataset, Propagation, Result};
use egg_nn::{Pass, Tracked, relu};
use ndarray::Array2;
use proptest::prelude::*;

use crate::conv_tensors::{apart, assert_close, flat, normal, rng, scrambled};
use crate::small_graphs::{reordered, symmetric, weighted};

/// Sums run in another order, and batch normalisation may multiply by 300 what
/// that changes.
const TOLERANCE: f64 = 1e-10;

const WIDTH: usize = 3;

/// Which layers are run.
#[derive(Debug, Clone, Copy)]
enum Network {
    Gcn,
    GcnRelu,
    Gin,
    Jump(JumpingKnowledge),
    Virtual,
}

const NETWORKS: [Network; 7] = [
    Network::Gcn,
    Network::GcnRelu,
    Network::Gin,
    Network::Jump(JumpingKnowledge::Sum),
    Network::Jump(JumpingKnowledge::Concat),
    Network::Jump(JumpingKnowledge::Max),
    Network::Virtual,
];

impl Network {
    /// The network's output for these graphs of a data set.
    fn run(self, dataset: &GraphDataset, indices: &[usize], pass: &mut Pass<'_>) -> Result<Tracked> {
        let batch = GraphBatch::new(dataset, indices)?;
        let x = NodeInput::from_batch(&batch, DType::F64, &Device::Cpu)?;
        let gcn = Propagation::gcn(dataset).matrix(indices)?;
        let sum = Propagation::sum(dataset).matrix(indices)?;
        let gcn_layer = |pass: &mut Pass<'_>| {
            let (conv, _) = scrambled(DType::F64, 1, |scope| GcnConv::new(scope, WIDTH, 4));
            conv.clone().with_relu().forward(&x, &gcn, pass)
        };
        let gin_layer = |pass: &mut Pass<'_>| {
            let (conv, _) = scrambled(DType::F64, 2, |scope| GinConv::new(scope, WIDTH, 4));
            conv.forward(&x, &sum, pass)
        };
        match self {
            Self::Gcn => {
                let (conv, _) = scrambled(DType::F64, 3, |scope| GcnConv::new(scope, WIDTH, 17));
                conv.forward(&x, &gcn, pass)
            }
            Self::GcnRelu => gcn_layer(pass),
            Self::Gin => gin_layer(pass),
            Self::Jump(how) => how.join(&[gcn_layer(pass)?, gin_layer(pass)?]),
            Self::Virtual => {
                let h = gcn_layer(pass)?;
                let (node, _) = scrambled(DType::F64, 4, |scope| VirtualNode::new(scope, 4, 3));
                let mut state = node.begin(batch.offsets(), pass)?;
                let h = state.read(&h)?;
                node.update(0, &mut state, &h, pass)?;
                let h = relu(&state.read(&h)?)?;
                node.update(1, &mut state, &h, pass)?;
                state.read(&h)
            }
        }
    }
}

/// Numbers that are short, and often 0, so that sparse features are sparse.
fn features(nodes: usize, seed: usize) -> Array2<f32> {
    Array2::from_shape_fn((nodes, WIDTH), |(row, column)| {
        let number = (row * 37 + column * 11 + seed * 5) * 2_654_435_761 % 1013;
        if number.is_multiple_of(3) {
            0.0
        } else {
            number as f32 / 256.0 - 2.0
        }
    })
}

fn with_features(matrix: &Array2<f32>, features: Array2<f32>) -> Graph {
    let graph = weighted(matrix.view());
    graph.with_features(Features::dense(features).unwrap()).unwrap()
}

/// Several graphs with features.
fn several() -> impl Strategy<Value = Vec<(Array2<f32>, Array2<f32>)>> {
    prop::collection::vec((symmetric(0, 6), 0usize..100), 1..5).prop_map(|graphs| {
        let with = |(matrix, seed): (Array2<f32>, usize)| {
            let features = features(matrix.nrows(), seed);
            (matrix, features)
        };
        graphs.into_iter().map(with).collect()
    })
}

fn dataset(graphs: &[(Array2<f32>, Array2<f32>)]) -> GraphDataset {
    let graphs: Vec<Graph> = graphs.iter().map(|(a, x)| with_features(a, x.clone())).collect();
    GraphDataset::from_graphs("drawn", &graphs).unwrap()
}

/// Rows in another order: row i of the result is row `order[i]`.
fn rows(tensor: &Tensor, order: &[usize]) -> Tensor {
    let order: Vec<u32> = order.iter().map(|row| u32::try_from(*row).unwrap()).collect();
    let order = Tensor::from_vec(order.clone(), order.len(), &Device::Cpu).unwrap();
    tensor.index_select(&order, 0).unwrap()
}

fn all(dataset: &GraphDataset) -> Vec<usize> {
    (0..dataset.len()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// conv(QX, QAQ^T) = Q conv(X, A), in every graph of a batch.
    #[test]
    fn nodes_in_another_order_give_rows_in_that_order(graphs in several(), seed in any::<u64>()) {
        let mut order = Vec::new();
        let mut changed = Vec::new();
        for (index, (matrix, x)) in (seed..).zip(&graphs) {
            let own = egg_graph::random_order(matrix.nrows(), &mut rng(index));
            changed.push((
                reordered(matrix.view(), &own),
                x.select(ndarray::Axis(0), &own),
            ));
            let first = order.len();
            order.extend(own.iter().map(|node| node + first));
        }
        let (before, after) = (dataset(&graphs), dataset(&changed));
        for network in NETWORKS {
            for training in [false, true] {
                let run = |dataset: &GraphDataset| {
                    let mut rng = rng(1);
                    let mut pass = if training { Pass::Training(&mut rng) } else { Pass::Evaluation };
                    network.run(dataset, &all(dataset), &mut pass).unwrap()
                };
                let off = apart(&run(&after), &rows(&run(&before), &order));
                prop_assert!(off <= TOLERANCE, "{network:?}, training {training}: {off:e}");
            }
        }
    }

    #[test]
    fn batched_output_equals_single_graph_outputs(graphs in several()) {
        let dataset = dataset(&graphs);
        // Backwards, and one twice.
        let mut indices: Vec<usize> = all(&dataset).into_iter().rev().collect();
        indices.push(indices[0]);
        for network in NETWORKS {
            let together = network.run(&dataset, &indices, &mut Pass::Evaluation).unwrap();
            let mut first = 0;
            for index in &indices {
                let alone = network.run(&dataset, &[*index], &mut Pass::Evaluation).unwrap();
                let count = alone.dims()[0];
                let part = together.narrow(0, first, count).unwrap();
                prop_assert!(apart(&part, &alone) <= 1e-13, "{:?}, graph {}", network, index);
                first += count;
            }
            prop_assert_eq!(first, together.dims()[0]);
        }
    }

    #[test]
    fn sparse_features_give_the_same_as_dense_ones(matrix in symmetric(1, 8), seed in 0usize..100) {
        let x = features(matrix.nrows(), seed);
        let dense = dataset(&[(matrix, x.clone())]);
        let sparse = Features::sparse(CsrMatrix::from_dense(x.view()).unwrap());
        let sparse = dense.clone().with_features(sparse).unwrap();
        for network in NETWORKS {
            let run = |dataset: &GraphDataset| network.run(dataset, &[0], &mut Pass::Evaluation).unwrap();
            prop_assert!(apart(&run(&sparse), &run(&dense)) <= 1e-13, "{:?}", network);
        }
        // So do the gradients of the parameters.
        let gcn = Propagation::gcn(&dense).matrix(&[0]).unwrap();
        let (layer, parameters) = scrambled(DType::F64, 5, |scope| GcnConv::new(scope, WIDTH, 17));
        let gradients = [&sparse, &dense].map(|dataset| {
            let input = NodeInput::from_features(dataset.features(), DType::F64, &Device::Cpu).unwrap();
            let y = layer.forward(&input, &gcn, &mut Pass::Training(&mut rng(1))).unwrap();
            y.sqr().unwrap().sum_all().unwrap().backward().unwrap()
        });
        for (name, var) in parameters.trainable() {
            let [sparse, dense] = gradients.each_ref().map(|gradients| gradients.get(var).unwrap());
            prop_assert!(apart(sparse, dense) <= 1e-13, "{}", name);
        }
    }

    #[test]
    fn products_are_linear(
        entries in prop::collection::vec(prop_oneof![2 => Just(0.0f32), 1 => -4.0f32..4.0], 35),
        a in -3.0f64..3.0,
        b in -3.0f64..3.0,
    ) {
        let entries = Array2::from_shape_vec((5, 7), entries).unwrap();
        let matrix = SparseMatrix::new(CsrMatrix::from_dense(entries.view()).unwrap());
        let (x, y) = (normal((7, 17), DType::F64, 6), normal((7, 17), DType::F64, 7));
        let times = |x: &Tensor| spmm(&matrix, x).unwrap();
        let mixed = |x: &Tensor, y: &Tensor| -> Tensor {
            (x.affine(a, 0.0).unwrap() + y.affine(b, 0.0).unwrap()).unwrap()
        };
        prop_assert!(apart(&times(&mixed(&x, &y)), &mixed(&times(&x), &times(&y))) <= 1e-13);
        // <A x, z> = <x, A^T z>.
        let z = normal((5, 17), DType::F64, 8);
        let inner = |a: &Tensor, b: &Tensor| flat(&(a * b).unwrap()).iter().sum::<f64>();
        let forth = inner(&times(&x), &z);
        let back = inner(&x, &spmm(&matrix.transposed(), &z).unwrap());
        prop_assert!(abs_diff_eq!(forth, back, epsilon = 1e-11 * forth.abs().max(1.0)));
    }

    #[test]
    fn transposing_twice_changes_nothing(
        shape in (0usize..6, 0usize..6),
        entries in prop::collection::vec(prop_oneof![2 => Just(0.0f32), 1 => -4.0f32..4.0], 25),
    ) {
        let entries = Array2::from_shape_fn(shape, |(row, column)| entries[row * 5 + column]);
        let matrix = SparseMatrix::new(CsrMatrix::from_dense(entries.view()).unwrap());
        let (once, twice) = (matrix.transposed(), matrix.transposed().transposed());
        prop_assert_eq!(once.shape(), (shape.1, shape.0));
        prop_assert_eq!(once.csr().to_dense(), entries.t());
        prop_assert_eq!(once.csr(), matrix.transposed_csr());
        prop_assert_eq!(once.transposed_csr(), matrix.csr());
        prop_assert_eq!(twice.csr(), matrix.csr());
    }

    /// No transpose is made of these: each must be its own, to the bit.
    #[test]
    fn propagation_matrices_are_symmetric(graphs in several()) {
        let dataset = dataset(&graphs);
        for propagation in [Propagation::gcn(&dataset), Propagation::sum(&dataset)] {
            let matrix = propagation.matrix(&all(&dataset)).unwrap();
            prop_assert_eq!(&matrix.csr().transposed(), matrix.csr());
            prop_assert_eq!(matrix.transposed_csr(), matrix.csr());
        }
    }
}

/// Runs a network in training, and pulls a gradient back.
fn train(network: Network, dataset: &GraphDataset, indices: &[usize]) -> Tracked {
    let y = network.run(dataset, indices, &mut Pass::Training(&mut rng(1)));
    let y = y.unwrap();
    y.sqr().unwrap().sum_all().unwrap().backward().unwrap();
    assert!(flat(&y).iter().all(|value| value.is_finite()), "{network:?}");
    y
}

/// Both products of an edge's weight with the scales of its ends round to f64,
/// in one order to one side of the middle between two f32 and in the other to
/// the other.
#[test]
fn rounding_does_not_depend_on_the_direction_of_an_edge() {
    let matrix = ndarray::array![[89.0, 6.125], [6.125, 249.5]];
    let dataset = GraphDataset::single("pair", weighted(matrix.view()));
    let gcn = Propagation::gcn(&dataset).matrix(&[0]).unwrap();
    assert_eq!(&gcn.csr().transposed(), gcn.csr());
}

#[test]
fn graphs_without_nodes_or_edges_are_supported() {
    let nodes = |count: usize| (Array2::zeros((count, count)), features(count, 1));
    let dataset = dataset(&[nodes(0), nodes(1), nodes(4)]);
    for network in NETWORKS {
        for (indices, expected) in [
            (&[][..], 0),
            (&[0], 0),
            (&[0, 0], 0),
            (&[1], 1),
            (&[2], 4),
            (&[0, 1, 0, 2, 0], 5),
        ] {
            let width = train(network, &dataset, indices).dims2().unwrap();
            assert_eq!(width.0, expected, "{network:?} on {indices:?}");
            let evaluated = network.run(&dataset, indices, &mut Pass::Evaluation).unwrap();
            assert_eq!(evaluated.dims2().unwrap(), width);
        }
    }
}

#[test]
fn no_rows_give_zero_gradients() {
    let none = SparseMatrix::membership(&[0]).unwrap();
    assert_eq!(none.shape(), (0, 0));
    let x = Var::zeros((0, 3), DType::F32, &Device::Cpu).unwrap();
    let (gcn, of_gcn) = scrambled(DType::F32, 9, |scope| GcnConv::new(scope, 3, 17));
    let (gin, of_gin) = scrambled(DType::F32, 10, |scope| GinConv::new(scope, 3, 17));
    let (node, of_node) = scrambled(DType::F32, 11, |scope| VirtualNode::new(scope, 3, 2));
    let pass = &mut Pass::Training(&mut rng(1));
    let input = NodeInput::from(x.as_tensor().clone());
    let mut state = node.begin(&[0], pass).unwrap();
    node.update(0, &mut state, &x, pass).unwrap();
    assert_eq!(state.vectors().dims(), [0, 3]);
    for (y, parameters) in [
        (gcn.forward(&input, &none, pass).unwrap(), of_gcn),
        (gin.forward(&input, &none, pass).unwrap(), of_gin),
    ] {
        let gradients = y.sum_all().unwrap().backward().unwrap();
        assert_eq!(gradients.get(&x).unwrap().dims(), [0, 3]);
        for (name, var) in parameters.trainable() {
            let gradient = gradients.get(var);
            let gradient = gradient.unwrap_or_else(|| panic!("{name} has no gradient"));
            assert!(flat(gradient).iter().all(|g| *g == 0.0), "{name}");
        }
    }
    // candle leaves sums of nothing out of its tape.
    let read = state.read(&x).unwrap();
    let gradients = read.sum_all().unwrap().backward().unwrap();
    for (name, var) in of_node.trainable() {
        let zero = |g: &Tensor| flat(g).iter().all(|g| *g == 0.0);
        assert!(gradients.get(var).is_none_or(zero), "{name}");
    }
}

#[test]
fn layers_without_edges_equal_their_dense_layers() {
    let dataset = dataset(&[(Array2::zeros((4, 4)), features(4, 2))]);
    let gcn = Propagation::gcn(&dataset).matrix(&[0]).unwrap();
    let sum = Propagation::sum(&dataset).matrix(&[0]).unwrap();
    assert_eq!(gcn.csr().to_dense(), Array2::<f32>::eye(4));
    assert_eq!(sum.csr().nonzeros(), 0);
    let x = normal((4, 3), DType::F64, 12);
    let (conv, parameters) = scrambled(DType::F64, 13, |scope| GcnConv::new(scope, 3, 5));
    let y = conv
        .forward(&x.clone().into(), &gcn, &mut Pass::Evaluation)
        .unwrap();
    let value = |name: &str| parameters.get(name).unwrap().as_detached_tensor();
    let expected = x.matmul(&value("lin.weight").t().unwrap()).unwrap();
    let expected = expected.broadcast_add(&value("bias")).unwrap();
    assert_close("GCN", &y, &expected, 1e-14);
}

#[test]
fn membership_copies_and_sums() {
    let membership = SparseMatrix::membership(&[0, 2, 2, 5]).unwrap();
    let vectors = Tensor::new(&[[1.0], [2.0], [3.0]], &Device::Cpu).unwrap();
    let nodes = spmm(&membership, &vectors).unwrap();
    assert_eq!(flat(&nodes), [1.0, 1.0, 3.0, 3.0, 3.0]);
    let sums = spmm(&membership.transposed(), &nodes).unwrap();
    assert_eq!(flat(&sums), [2.0, 0.0, 9.0]);
}
