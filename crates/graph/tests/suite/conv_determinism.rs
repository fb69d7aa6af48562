//! The same bits on any number of threads.

use candle_core::{DType, Device, Tensor, Var};
use egg_graph::conv::{GcnConv, GinConv, JumpingKnowledge, NodeInput, VirtualNode, spmm};
use egg_graph::{Features, Graph, GraphBatch, GraphDataset, Propagation, Result, random_order};
use egg_nn::{Parameters, Pass, Tracked};

use crate::conv_tensors::{flat, normal, rng, scrambled};

/// 3,000 nodes in three graphs with some 12,000 edges, some nodes with very
/// many: with 64 columns, far more than is done on one thread.
fn dataset() -> GraphDataset {
    let order = random_order(1000, &mut rng(1));
    let mut edges = Vec::new();
    for (node, other) in order.into_iter().enumerate() {
        edges.extend([(node, other), (node, (node * 7 + 1) % 1000)]);
        edges.extend([(node, other % 10), (node, other % 3)]);
    }
    let columns = (0..1000u32).map(|node| node * 31 % 400).collect();
    let graph = Graph::from_edges(1000, &edges).unwrap();
    let graph = graph
        .with_features(Features::one_hot(columns, 400).unwrap())
        .unwrap();
    GraphDataset::from_graphs("large", &vec![graph; 3]).unwrap()
}

/// Runs `work` in pools of 1, 2 and 4 threads and compares every bit.
fn assert_same_bits(work: impl Fn() -> Vec<Tensor> + Sync) {
    let in_pool = |threads: usize| -> Vec<Vec<u64>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let tensors = pool.build().unwrap().install(&work);
        let bits = |tensor: &Tensor| flat(tensor).iter().map(|value| value.to_bits()).collect();
        tensors.iter().map(bits).collect()
    };
    let one = in_pool(1);
    let zero = 0f64.to_bits();
    assert!(one.iter().all(|values| values.iter().any(|bits| *bits != zero)));
    for threads in [2, 4, 4] {
        assert!(in_pool(threads) == one, "{threads} threads differ from 1");
    }
}

/// The output and the gradients of everything.
fn pulled_back(y: &Tensor, x: Option<&Var>, parameters: &Parameters) -> Vec<Tensor> {
    let gradients = y.sqr().unwrap().sum_all().unwrap().backward().unwrap();
    let vars = parameters.trainable().map(|(_, var)| var).chain(x);
    let gradients = vars.map(|var| gradients.get(var).unwrap().clone());
    [y.detach()].into_iter().chain(gradients).collect()
}

#[test]
fn products_and_layers_are_bit_identical_on_any_number_of_threads() {
    let dataset = dataset();
    let all = [0, 1, 2];
    let gcn = Propagation::gcn(&dataset).matrix(&all).unwrap();
    let sum = Propagation::sum(&dataset).matrix(&all).unwrap();
    for dtype in [DType::F32, DType::F64] {
        let x = Var::from_tensor(&normal((3000, 64), dtype, 2)).unwrap();
        assert_same_bits(|| {
            let y = spmm(&gcn, &x).unwrap();
            pulled_back(&y, Some(&x), &Parameters::new(dtype, &Device::Cpu).unwrap())
        });
        assert_same_bits(|| {
            let (conv, parameters) = scrambled(dtype, 3, |scope| GcnConv::new(scope, 64, 81));
            let pass = &mut Pass::Training(&mut rng(4));
            let y = conv
                .clone()
                .with_relu()
                .forward(&x.as_tensor().clone().into(), &gcn, pass)
                .unwrap();
            pulled_back(&y, Some(&x), &parameters)
        });
        assert_same_bits(|| {
            let (conv, parameters) = scrambled(dtype, 5, |scope| GinConv::new(scope, 64, 64));
            let pass = &mut Pass::Training(&mut rng(4));
            let y = conv.forward(&x.as_tensor().clone().into(), &sum, pass).unwrap();
            pulled_back(&y, Some(&x), &parameters)
        });
    }
}

#[test]
fn network_on_sparse_features_is_bit_identical_on_any_number_of_threads() {
    let dataset = dataset();
    for dtype in [DType::F32, DType::F64] {
        assert_same_bits(|| {
            // Batch and coefficients are made within the pool as well.
            let batch = GraphBatch::all(&dataset).unwrap();
            let sum = Propagation::sum(&dataset).matrix(batch.indices()).unwrap();
            let input = NodeInput::from_batch(&batch, dtype, &Device::Cpu).unwrap();
            assert!(matches!(input, NodeInput::Sparse(_)));
            let (network, parameters) = scrambled(dtype, 6, |scope| {
                Ok((
                    GinConv::new(&mut scope.enter("first"), 400, 32)?,
                    GinConv::new(&mut scope.enter("second"), 32, 32)?,
                    VirtualNode::new(&mut scope.enter("virtual"), 32, 2)?,
                ))
            });
            let (first, second, virtual_node) = network;
            let pass = &mut Pass::Training(&mut rng(7));
            let mut run = || -> Result<Tracked> {
                let h = first.forward(&input, &sum, pass)?;
                let mut state = virtual_node.begin(batch.offsets(), pass)?;
                let h1 = state.read(&h)?;
                virtual_node.update(0, &mut state, &h1, pass)?;
                let h2 = state.read(&second.forward(&h1.clone().into(), &sum, pass)?)?;
                JumpingKnowledge::Max.join(&[h1, h2])
            };
            pulled_back(&run().unwrap(), None, &parameters)
        });
    }
}
