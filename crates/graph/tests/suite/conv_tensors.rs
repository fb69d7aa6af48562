//! Tensors and layers with known numbers in them, and how far two tensors are apart.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Shape, Tensor};
use egg_graph::Result;
use egg_nn::{Init, Parameters, Scope};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Normal numbers.
pub(crate) fn normal(shape: impl Into<Shape>, dtype: DType, seed: u64) -> Tensor {
    let init = Init::Normal {
        mean: 0.0,
        deviation: 1.0,
    };
    init.tensor(shape, dtype, &Device::Cpu, &mut rng(seed)).unwrap()
}

/// The numbers in row-major order.
pub(crate) fn flat(tensor: &Tensor) -> Vec<f64> {
    let tensor = tensor.detach().to_dtype(DType::F64).unwrap();
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// A layer whose parameters and buffers are all far from 0 and from each other:
/// biases, eps and embeddings begin as zeros, which would hide their terms.
pub(crate) fn scrambled<L>(
    dtype: DType,
    seed: u64,
    build: impl FnOnce(&mut Scope<'_>) -> Result<L>,
) -> (L, Parameters) {
    let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
    let layer = build(&mut parameters.root(&mut rng(seed))).unwrap();
    let values: BTreeMap<String, Tensor> = (seed..)
        .zip(parameters.snapshot().unwrap())
        .map(|(seed, (name, value))| {
            let numbers = normal(value.shape(), dtype, seed);
            let variance = name.ends_with("running_var");
            let numbers = if variance { numbers.exp() } else { numbers * 0.7 };
            (name, numbers.unwrap())
        })
        .collect();
    parameters.load(&values).unwrap();
    (layer, parameters)
}

/// The largest distance between two entries, relative to the largest entry (at
/// least 1): sums round in proportion to their largest term. NaN is infinitely
/// far from everything.
#[track_caller]
pub(crate) fn apart(found: &Tensor, expected: &Tensor) -> f64 {
    assert_eq!(found.dims(), expected.dims(), "shapes");
    let (found, expected) = (flat(found), flat(expected));
    let largest = expected
        .iter()
        .fold(1.0, |most: f64, value| most.max(value.abs()));
    let distances = found.iter().zip(&expected).map(|(a, b)| (a - b).abs() / largest);
    let distances = distances.map(|apart| if apart.is_nan() { f64::INFINITY } else { apart });
    distances.fold(0.0, f64::max)
}

#[track_caller]
pub(crate) fn assert_close(what: &str, found: &Tensor, expected: &Tensor, tolerance: f64) {
    let apart = apart(found, expected);
    assert!(apart <= tolerance, "{what} is off by {apart:e}");
}

#[test]
fn relative_distance_sees_every_entry_and_nan() {
    let one = Tensor::new(&[1.0, 2.0], &Device::Cpu).unwrap();
    for (other, distance) in [([1.0, 2.0], 0.0), ([1.0, 4.0], 0.5), ([0.0, 2.0], 0.5)] {
        let other = Tensor::new(&other, &Device::Cpu).unwrap();
        assert_eq!(apart(&one, &other), distance);
    }
    let nan = Tensor::new(&[f64::NAN, 2.0], &Device::Cpu).unwrap();
    assert_eq!(apart(&nan, &one), f64::INFINITY);
}
