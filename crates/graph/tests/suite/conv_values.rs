//! Outputs and gradients against PyTorch Geometric, and products of every width
//! against dense ones.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Tensor, Var};
use egg_graph::conv::{GcnConv, GinConv, JumpingKnowledge, SparseMatrix, VirtualNode, spmm};
use egg_graph::{Graph, GraphDataset, Propagation, Result};
use egg_nn::{Linear, MlpConfig, Parameters, Pass, Scope, Tracked, relu};
use ndarray::Array2;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::Deserialize;

use crate::conv_tensors::{assert_close, flat, normal, rng, scrambled};
use crate::small_graphs::{symmetric, unweighted, weighted};

#[derive(Deserialize)]
struct Stored {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Stored {
    fn tensor(&self, dtype: DType) -> Tensor {
        let tensor = Tensor::from_slice(&self.values, self.shape.as_slice(), &Device::Cpu).unwrap();
        tensor.to_dtype(dtype).unwrap()
    }

    fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |most, value| most.max(value.abs()))
    }
}

#[derive(Deserialize)]
struct StoredGraph {
    nodes: usize,
    edges: Vec<(usize, usize, f32)>,
}

impl StoredGraph {
    fn graph(&self) -> Graph {
        let mut matrix = Array2::zeros((self.nodes, self.nodes));
        for &(a, b, weight) in &self.edges {
            matrix[[a, b]] = weight;
            matrix[[b, a]] = weight;
        }
        weighted(matrix.view())
    }
}

#[derive(Deserialize)]
struct Expected {
    y: Stored,
    gradients: BTreeMap<String, Stored>,
}

#[derive(Deserialize)]
struct Case {
    graphs: Vec<StoredGraph>,
    x: Stored,
    g: Stored,
    state: BTreeMap<String, Stored>,
    buffers: BTreeMap<String, Stored>,
    #[serde(flatten)]
    expected: Expected,
    /// With a GCN's coefficients rounded to f32, as they are kept here.
    rounded: Option<Expected>,
}

fn case(name: &str) -> Case {
    #[derive(Deserialize)]
    struct File {
        cases: BTreeMap<String, Case>,
    }
    let mut file: File = serde_json::from_str(include_str!("../fixtures/conv.json")).unwrap();
    file.cases.remove(name).unwrap()
}

/// What a network sees of the graphs.
struct Batch {
    gcn: SparseMatrix,
    sum: SparseMatrix,
    offsets: Vec<usize>,
}

type Forward = Box<dyn Fn(&Tensor, &Batch, &mut Pass<'_>) -> Result<Tracked>>;

/// Builds the network, loads PyTorch's state, and compares everything it computes.
fn check(name: &str, training: bool, build: impl Fn(&mut Scope<'_>) -> Result<Forward>) {
    let case = case(name);
    let graphs: Vec<Graph> = case.graphs.iter().map(StoredGraph::graph).collect();
    let dataset = GraphDataset::from_graphs(name, &graphs).unwrap();
    let all: Vec<usize> = (0..dataset.len()).collect();
    let batch = Batch {
        gcn: Propagation::gcn(&dataset).matrix(&all).unwrap(),
        sum: Propagation::sum(&dataset).matrix(&all).unwrap(),
        offsets: dataset.node_offsets().to_vec(),
    };
    for dtype in [DType::F32, DType::F64] {
        let mut rng = rng(1);
        let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
        let forward = build(&mut parameters.root(&mut rng)).unwrap();
        let state = case.state.iter();
        let state = state.map(|(name, value)| (name.clone(), value.tensor(dtype)));
        parameters.load(&state.collect()).unwrap();

        let x = Var::from_tensor(&case.x.tensor(dtype)).unwrap();
        let mut pass = match training {
            true => Pass::Training(&mut rng),
            false => Pass::Evaluation,
        };
        let y = forward(&x, &batch, &mut pass).unwrap();
        assert_eq!(y.track_op(), training, "{name}: whether there is a tape");
        let gradients = training.then(|| {
            let loss = (&y * case.g.tensor(dtype)).unwrap().sum_all().unwrap();
            loss.backward().unwrap()
        });
        let compare = |expected: &Expected, tolerance: f64| {
            let what = |part: &str| format!("{part} of {name} in {dtype:?}");
            assert_close(&what("y"), &y, &expected.y.tensor(DType::F64), tolerance);
            let Some(gradients) = &gradients else {
                return;
            };
            assert_eq!(expected.gradients.len(), parameters.trainable().count() + 1);
            for (part, expected_gradient) in &expected.gradients {
                let var = match part.as_str() {
                    "x" => &x,
                    _ => parameters.get(part).unwrap(),
                };
                let found = gradients.get(var);
                let found = found.unwrap_or_else(|| panic!("no gradient: {}", what(part)));
                // A bias before batch normalisation has gradient 0: what is
                // left are cancelled terms, as large as the weight's.
                let weight = part.strip_suffix("bias").map(|layer| format!("{layer}weight"));
                let weight = weight.and_then(|weight| expected.gradients.get(&weight));
                let scale = weight.map_or(1.0, Stored::largest);
                let slack = (scale / expected_gradient.largest().max(1.0)).max(1.0);
                let expected_gradient = expected_gradient.tensor(DType::F64);
                assert_close(&what(part), found, &expected_gradient, tolerance * slack);
            }
        };
        match (&case.rounded, dtype) {
            (_, DType::F32) => compare(&case.expected, 1e-5),
            (None, _) => compare(&case.expected, 1e-11),
            (Some(rounded), _) => {
                compare(rounded, 1e-11);
                // f32 coefficients are off by 6e-8.
                compare(&case.expected, 1e-6);
            }
        }
        let tolerance = if dtype == DType::F32 { 1e-5 } else { 1e-11 };
        for (name, after) in &case.buffers {
            let found = parameters.get(name).unwrap();
            assert_close(name, found, &after.tensor(DType::F64), tolerance);
        }
    }
}

#[test]
fn gcn_matches_pytorch_geometric() {
    for (name, from, to) in [
        ("gcn", 5, 7),
        ("gcn_self_loops", 3, 16),
        ("gcn_weighted", 4, 17),
        ("gcn_batch", 4, 6),
    ] {
        check(name, true, |scope| {
            let layer = GcnConv::new(&mut scope.enter("conv1"), from, to)?;
            Ok(Box::new(move |x, batch, pass| {
                layer.forward(&x.clone().into(), &batch.gcn, pass)
            }))
        });
    }
}

#[test]
fn gcn_without_bias_matches_pytorch_geometric() {
    check("gcn_without_bias", true, |scope| {
        let layer = GcnConv::without_bias(&mut scope.enter("conv1"), 6, 3)?;
        Ok(Box::new(move |x, batch, pass| {
            layer.forward(&x.clone().into(), &batch.gcn, pass)
        }))
    });
}

#[test]
fn two_gcn_layers_match_pytorch_geometric() {
    check("gcn_stacked", true, |scope| {
        let first = GcnConv::new(&mut scope.enter("conv1"), 3, 20)?;
        let second = GcnConv::new(&mut scope.enter("conv2"), 20, 4)?;
        Ok(Box::new(move |x, batch, pass| {
            let h = first
                .clone()
                .with_relu()
                .forward(&x.clone().into(), &batch.gcn, pass)?;
            second.forward(&h.into(), &batch.gcn, pass)
        }))
    });
}

#[test]
fn gin_matches_pytorch_geometric() {
    for (name, training, from, to) in [
        ("gin", true, 5, 18),
        ("gin_self_loops", true, 3, 4),
        ("gin_eval", false, 5, 18),
    ] {
        check(name, training, |scope| {
            let layer = GinConv::new(&mut scope.enter("conv1"), from, to)?;
            Ok(Box::new(move |x, batch, pass| {
                layer.forward(&x.clone().into(), &batch.sum, pass)
            }))
        });
    }
}

#[test]
fn two_gin_layers_match_pytorch_geometric() {
    check("gin_stacked", true, |scope| {
        let first = GinConv::new(&mut scope.enter("conv1"), 3, 8)?;
        let second = GinConv::new(&mut scope.enter("conv2"), 8, 5)?;
        Ok(Box::new(move |x, batch, pass| {
            let h = relu(&first.forward(&x.clone().into(), &batch.sum, pass)?)?;
            second.forward(&h.into(), &batch.sum, pass)
        }))
    });
}

#[test]
fn virtual_node_matches_pytorch_geometric() {
    for (name, training, width, layers) in [
        ("virtual_node", true, 3, 3),
        ("virtual_node_zero", true, 4, 2),
        ("virtual_node_eval", false, 3, 3),
    ] {
        check(name, training, |scope| {
            let virtual_node = VirtualNode::new(scope, width, layers)?;
            let config = MlpConfig::new(&[width, 2 * width, width]);
            let convs: Vec<GinConv> = (0..layers)
                .map(|layer| GinConv::with_mlp(&mut scope.enter("convs").enter(layer), &config))
                .collect::<Result<_>>()?;
            Ok(Box::new(move |x, batch, pass| {
                let mut state = virtual_node.begin(&batch.offsets, pass)?;
                let mut h = pass.input(x);
                for (layer, conv) in convs.iter().enumerate() {
                    let nodes = state.read(&h)?;
                    h = conv.forward(&nodes.clone().into(), &batch.sum, pass)?;
                    if layer + 1 < layers {
                        h = relu(&h)?;
                        virtual_node.update(layer, &mut state, &nodes, pass)?;
                    }
                }
                Ok(h)
            }))
        });
    }
}

/// The thirds of the rows.
fn thirds(x: &Tensor) -> Result<Vec<Tensor>> {
    Ok(x.chunk(3, 0)?)
}

#[test]
fn jumping_knowledge_matches_pytorch_geometric() {
    for (name, how) in [
        ("jump_cat", JumpingKnowledge::Concat),
        ("jump_max", JumpingKnowledge::Max),
    ] {
        check(name, true, |_| Ok(Box::new(move |x, _, _| how.join(&thirds(x)?))));
    }
    check("jump_scores", true, |scope| {
        let heads: Vec<Linear> = (0..3)
            .map(|layer| Linear::new(&mut scope.enter("heads").enter(layer), 5, 3))
            .collect::<egg_nn::Result<_>>()?;
        Ok(Box::new(move |x, _, pass| {
            let layers = thirds(x)?;
            let scores = heads.iter().zip(&layers).map(|(head, h)| head.forward(h, pass));
            JumpingKnowledge::Sum.join(&scores.collect::<egg_nn::Result<Vec<_>>>()?)
        }))
    });
}

/// On both sides of one, two and four vectors, of 2 to 16 numbers, which are the widths at
/// which the kernel changes its blocks.
const WIDTHS: [usize; 18] = [1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 130];

fn tolerance(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e-5 } else { 1e-13 }
}

/// A matrix as a tensor.
fn dense(matrix: &SparseMatrix, dtype: DType) -> Tensor {
    let numbers: Vec<f32> = matrix.csr().to_dense().iter().copied().collect();
    let tensor = Tensor::from_vec(numbers, matrix.shape(), &Device::Cpu).unwrap();
    tensor.to_dtype(dtype).unwrap()
}

#[test]
fn products_of_every_width_equal_dense_ones() {
    let mut runner = TestRunner::deterministic();
    // 150 rows: more than one task takes.
    for (rows, columns) in [(11, 7), (7, 11), (150, 40)] {
        let entry = prop_oneof![3 => Just(0.0f32), 1 => -3.0f32..3.0];
        let entries = prop::collection::vec(entry, rows * columns);
        let entries = entries.new_tree(&mut runner).unwrap().current();
        let entries = Array2::from_shape_vec((rows, columns), entries).unwrap();
        let matrix = SparseMatrix::new(egg_graph::CsrMatrix::from_dense(entries.view()).unwrap());
        for (width, dtype) in WIDTHS
            .iter()
            .flat_map(|width| [(*width, DType::F32), (*width, DType::F64)])
        {
            let x = Var::from_tensor(&normal((columns, width), dtype, 3)).unwrap();
            let g = normal((rows, width), dtype, 4);
            let y = spmm(&matrix, &x).unwrap();
            let written_out = dense(&matrix, dtype);
            let expected = written_out.matmul(&x).unwrap();
            assert_close("A x", &y, &expected, tolerance(dtype));
            let gradients = (y * &g).unwrap().sum_all().unwrap().backward().unwrap();
            let expected = written_out.t().unwrap().matmul(&g).unwrap();
            assert_close("A^T g", gradients.get(&x).unwrap(), &expected, tolerance(dtype));
            let transposed = spmm(&matrix.transposed(), &g).unwrap();
            assert_close("A^T g", &transposed, &expected, tolerance(dtype));
        }
    }
}

#[test]
fn layers_of_every_width_equal_dense_ones() {
    let adjacency = symmetric(9, 9).new_tree(&mut TestRunner::deterministic());
    let adjacency = adjacency.unwrap().current();
    let dataset = GraphDataset::single("drawn", weighted(adjacency.view()));
    let gcn = Propagation::gcn(&dataset).matrix(&[0]).unwrap();
    let sum = Propagation::sum(&dataset).matrix(&[0]).unwrap();
    for (width, dtype) in WIDTHS
        .iter()
        .flat_map(|width| [(*width, DType::F32), (*width, DType::F64)])
    {
        let x = normal((9, 3), dtype, 5);
        let pass = &mut Pass::Evaluation;
        let (layer, parameters) = scrambled(dtype, 6, |scope| GcnConv::new(scope, 3, width));
        let value = |name: &str| parameters.get(name).unwrap().as_detached_tensor();
        let product = x.matmul(&value("lin.weight").t().unwrap()).unwrap();
        let expected = dense(&gcn, dtype).matmul(&product).unwrap();
        let expected = expected.broadcast_add(&value("bias")).unwrap();
        let input = x.clone().into();
        let y = layer.forward(&input, &gcn, pass).unwrap();
        assert_close("GCN", &y, &expected, tolerance(dtype));
        let y = layer.clone().with_relu().forward(&input, &gcn, pass).unwrap();
        assert_close("GCN with ReLU", &y, &expected.relu().unwrap(), tolerance(dtype));

        // An MLP of one layer is a linear layer: what the kernel did is all.
        let config = MlpConfig::new(&[3, width]);
        let (layer, parameters) = scrambled(dtype, 7, |scope| GinConv::with_mlp(scope, &config));
        let value = |name: &str| parameters.get(name).unwrap().as_detached_tensor();
        let eps = flat(&value("eps"))[0];
        let mixed = (dense(&sum, dtype).matmul(&x).unwrap() + (&x * (1.0 + eps)).unwrap()).unwrap();
        let expected = mixed.matmul(&value("nn.lins.0.weight").t().unwrap()).unwrap();
        let expected = expected.broadcast_add(&value("nn.lins.0.bias")).unwrap();
        let y = layer.forward(&input, &sum, pass).unwrap();
        assert_close("GIN", &y, &expected, tolerance(dtype));
    }
}

#[test]
fn weights_of_one_equal_no_weights() {
    let ones = case("gcn_self_loops").graphs[0].graph();
    let mut matrix = Array2::zeros((9, 9));
    for (a, b) in ones.view().edges() {
        matrix[[a, b]] = 1.0;
        matrix[[b, a]] = 1.0;
    }
    let bare = GraphDataset::single("bare", unweighted(matrix.view()));
    let ones = GraphDataset::single("ones", ones);
    assert_eq!(Propagation::gcn(&bare), Propagation::gcn(&ones));
    assert_eq!(Propagation::sum(&bare), Propagation::sum(&ones));
}

#[test]
fn nan_propagates_through_layers() {
    // Training must be able to notice that it diverged.
    let layer = |value: f64| Tensor::new(&[[value, 0.0]], &Device::Cpu).unwrap();
    for layers in [[layer(f64::NAN), layer(1.0)], [layer(1.0), layer(f64::NAN)]] {
        let joined = JumpingKnowledge::Max.join(&layers).unwrap();
        assert!(flat(&joined)[0].is_nan() && flat(&joined)[1] == 0.0);
    }
    let matrix = SparseMatrix::membership(&[0, 1]).unwrap();
    assert!(flat(&spmm(&matrix, layer(f64::NAN)).unwrap())[0].is_nan());
    // Whole vectors of every length, and what is left of them.
    for (dtype, width) in [(DType::F64, 2), (DType::F64, 61), (DType::F32, 125)] {
        let (conv, _) = scrambled(dtype, 8, |scope| GcnConv::new(scope, 2, width));
        let x = layer(f64::NAN).to_dtype(dtype).unwrap();
        let y = conv
            .clone()
            .with_relu()
            .forward(&x.into(), &matrix, &mut Pass::Evaluation);
        assert!(flat(&y.unwrap()).iter().all(|value| value.is_nan()));
    }
}
