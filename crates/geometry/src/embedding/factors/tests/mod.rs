//! What needs to see or to choose more than the crate's users can.

mod kept_only;
mod ties;

use ndarray::{Array1, Array2, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::GrassmannPoint;

fn gaussian(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(rng))
}

fn seeded_gaussian(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    gaussian(rows, columns, &mut ChaCha8Rng::seed_from_u64(seed))
}

fn orthonormal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let point = GrassmannPoint::<f64>::random(rows, columns, rng).unwrap();
    point.into_basis()
}

/// An n x m matrix with these singular values and random directions.
fn with_singular_values(n: usize, m: usize, sigma: &[f64], rng: &mut ChaCha8Rng) -> Array2<f64> {
    let left = orthonormal(n, sigma.len(), rng);
    let right = orthonormal(m, sigma.len(), rng);
    (&left * &Array1::from(sigma.to_vec())).dot(&right.t())
}

fn frobenius(a: ArrayView2<'_, f64>) -> f64 {
    a.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}
