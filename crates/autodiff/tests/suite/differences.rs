//! Matrices to test with, and gradients by central differences.

use candle_core::{Device, Tensor, Var};
use egg_autodiff::Result;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Normal numbers, rows x columns, f64.
pub(crate) fn normal(rows: usize, columns: usize, seed: u64) -> Tensor {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let numbers: Vec<f64> = (0..rows * columns).map(|_| rng.sample(StandardNormal)).collect();
    Tensor::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap()
}

/// Orthonormal columns, rows x columns.
pub(crate) fn orthonormal(rows: usize, columns: usize, seed: u64) -> Tensor {
    egg_autodiff::svd(&normal(rows, columns, seed)).unwrap().0
}

/// An n x m matrix with these singular values.
pub(crate) fn with_singular_values(n: usize, m: usize, sigma: &[f64], seed: u64) -> Tensor {
    let s = Tensor::new(sigma, &Device::Cpu).unwrap();
    let (u, v) = (
        orthonormal(n, sigma.len(), seed),
        orthonormal(m, sigma.len(), seed + 1000),
    );
    u.broadcast_mul(&s).unwrap().matmul(&v.t().unwrap()).unwrap()
}

pub(crate) fn flat(tensor: &Tensor) -> Vec<f64> {
    let wide = tensor.to_dtype(candle_core::DType::F64).unwrap();
    wide.flatten_all().unwrap().to_vec1().unwrap()
}

/// The gradient of `sum(y * weights)` by `h`, for fixed weights.
pub(crate) fn weighted_gradient(h: &Var, y: impl Fn(&Tensor) -> Result<Tensor>) -> Vec<f64> {
    let y = y(h).unwrap();
    let weights = normal(1, y.elem_count(), 99)
        .reshape(y.shape())
        .unwrap()
        .to_dtype(y.dtype())
        .unwrap();
    let gradients = (y * weights).unwrap().sum_all().unwrap().backward().unwrap();
    flat(gradients.get(h).expect("the input is on the tape"))
}

/// The largest difference between the gradient and central differences (of
/// order 4), relative to the largest entry of the gradient.
pub(crate) fn error_by_differences(h: &Tensor, y: impl Fn(&Tensor) -> Result<Tensor>) -> f64 {
    let var = Var::from_tensor(h).unwrap();
    let gradient = weighted_gradient(&var, &y);
    let first = y(h).unwrap();
    let weights = normal(1, first.elem_count(), 99).reshape(first.shape()).unwrap();
    let start = flat(h);
    let scale = start.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let step = 2e-4 * if scale == 0.0 { 1.0 } else { scale };
    let at = |index: usize, shift: f64| {
        let mut entries = start.clone();
        entries[index] += shift;
        let h = Tensor::from_vec(entries, h.shape(), &Device::Cpu).unwrap();
        let difference = (y(&h).unwrap() - &first).unwrap();
        (difference * &weights)
            .unwrap()
            .sum_all()
            .unwrap()
            .to_scalar::<f64>()
            .unwrap()
    };
    let largest = gradient
        .iter()
        .fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let worst = (0..start.len())
        .map(|index| {
            let near = at(index, step) - at(index, -step);
            let far = at(index, 2.0 * step) - at(index, -2.0 * step);
            let difference = (8.0 * near - far) / (12.0 * step);
            (difference - gradient[index]).abs()
        })
        .fold(0.0, f64::max);
    if largest == 0.0 { worst } else { worst / largest }
}

/// Asserts agreement with differences to 1e-6.
pub(crate) fn agrees(what: &str, h: &Tensor, y: impl Fn(&Tensor) -> Result<Tensor>) {
    let error = error_by_differences(h, y);
    assert!(error <= 1e-6, "{what}: relative error {error:e}");
}
