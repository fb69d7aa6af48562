//! Tensors and graphs that tests share.

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor};
use egg_graph::synthetic::BlockModel;
use egg_graph::{Graph, GraphDataset};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Stored {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl Stored {
    pub(crate) fn tensor(&self, dtype: DType) -> Tensor {
        let tensor = Tensor::from_slice(&self.values, self.shape.as_slice(), &Device::Cpu).unwrap();
        tensor.to_dtype(dtype).unwrap()
    }
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn normal(shape: (usize, usize), dtype: DType, seed: u64) -> Tensor {
    let mut rng = rng(seed);
    let numbers: Vec<f64> = (0..shape.0 * shape.1)
        .map(|_| StandardNormal.sample(&mut rng))
        .collect();
    let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
    tensor.to_dtype(dtype).unwrap()
}

pub(crate) fn flat(tensor: &Tensor) -> Vec<f64> {
    let tensor = tensor.flatten_all().unwrap().to_dtype(DType::F64).unwrap();
    tensor.to_vec1().unwrap()
}

pub(crate) fn scalar(tensor: &Tensor) -> f64 {
    tensor.to_dtype(DType::F64).unwrap().to_scalar().unwrap()
}

/// Within `tolerance` of the largest entry.
pub(crate) fn assert_close(what: &str, found: &Tensor, expected: &Tensor, tolerance: f64) {
    assert_eq!(found.dims(), expected.dims(), "{what}");
    let (found, expected) = (flat(found), flat(expected));
    let largest = expected
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!(
            abs_diff_eq!(found, expected, epsilon = tolerance * largest),
            "{what}, entry {at}: {found} for {expected}, {}",
            (found - expected).abs() / largest
        );
    }
}

/// A graph of `nodes` nodes in which every pair is joined with the same chance.
pub(crate) fn random_graph(nodes: usize, chance: f64, seed: u64) -> Graph {
    use rand::RngExt;
    let mut rng = rng(seed);
    let mut edges = vec![(0, 1)];
    for a in 0..nodes {
        for b in 0..a {
            if rng.random::<f64>() < chance {
                edges.push((a, b));
            }
        }
    }
    Graph::from_edges(nodes, &edges).unwrap()
}

/// Communities that are easy to see.
pub(crate) fn communities(nodes: usize, seed: u64) -> GraphDataset {
    let model = BlockModel {
        nodes,
        blocks: 4,
        degree: 20.0,
        inside: 0.85,
        features: 16,
        separation: 1.5,
    };
    model.generate(&mut rng(seed)).unwrap()
}

/// Runs on so many threads.
pub(crate) fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(work)
}
