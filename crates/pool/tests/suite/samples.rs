//! Graphs and rows to test with.

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor};
use egg_graph::{CsrMatrix, Graph, GraphBatch, GraphDataset};
use egg_nn::{Init, Parameters};
use egg_pool::{Pooling, PoolingConfig, Structure};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A graph: how many nodes, and its undirected edges.
pub(crate) type Edges = (usize, Vec<(usize, usize)>);

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Normal numbers, rows x columns, f64.
pub(crate) fn normal(rows: usize, columns: usize, seed: u64) -> Tensor {
    let init = Init::Normal {
        mean: 0.0,
        deviation: 1.0,
    };
    init.tensor((rows, columns), DType::F64, &Device::Cpu, &mut rng(seed))
        .unwrap()
}

pub(crate) fn flat(tensor: &Tensor) -> Vec<f64> {
    let wide = tensor.to_dtype(DType::F64).unwrap();
    wide.flatten_all().unwrap().to_vec1().unwrap()
}

pub(crate) fn batch(graphs: &[Edges]) -> GraphBatch {
    let graphs: Vec<Graph> = graphs
        .iter()
        .map(|(nodes, edges)| Graph::from_edges(*nodes, edges).unwrap())
        .collect();
    GraphBatch::all(&GraphDataset::from_graphs("samples", &graphs).unwrap()).unwrap()
}

pub(crate) fn structure(graphs: &[Edges]) -> Structure {
    Structure::from_batch(&batch(graphs)).unwrap()
}

/// A random graph, each edge with this chance.
pub(crate) fn random_graph(nodes: usize, chance: f64, seed: u64) -> Edges {
    let mut rng = rng(seed);
    let mut edges = Vec::new();
    for a in 0..nodes {
        for b in 0..a {
            if (rng.next_u32() as f64) < chance * f64::from(u32::MAX) {
                edges.push((a, b));
            }
        }
    }
    (nodes, edges)
}

/// A path, a node alone, no nodes, a star, two cycles, no edges, and random ones.
pub(crate) fn mixed() -> Vec<Edges> {
    vec![
        (4, vec![(0, 1), (1, 2), (2, 3)]),
        (1, vec![]),
        (0, vec![]),
        (6, (1..6).map(|leaf| (0, leaf)).collect()),
        (6, vec![(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]),
        (3, vec![]),
        random_graph(12, 0.3, 1),
        random_graph(9, 0.6, 2),
        (0, vec![]),
    ]
}

pub(crate) fn node_count(graphs: &[Edges]) -> usize {
    graphs.iter().map(|(nodes, _)| nodes).sum()
}

/// A pooling with its parameters.
pub(crate) fn build(
    config: &PoolingConfig,
    features: usize,
    dtype: DType,
    seed: u64,
) -> (Box<dyn Pooling>, Parameters) {
    let mut rng = rng(seed);
    let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
    let pooling = config.build(&mut parameters.root(&mut rng), features).unwrap();
    (pooling, parameters)
}

/// The entries of a structure's adjacency.
pub(crate) fn entries(matrix: &CsrMatrix) -> Vec<(usize, usize, f64)> {
    let rows = 0..matrix.shape().0;
    rows.flat_map(|row| {
        let entries = matrix.row(row);
        entries.map(move |(column, value)| (row, column, f64::from(value)))
    })
    .collect()
}

pub(crate) fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: length");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            abs_diff_eq!(found, expected, epsilon = tolerance),
            "{what}: {found} at {at}, expected {expected}"
        );
    }
}
