//! The largest eigenvalues of a sparse symmetric matrix: subspace iteration
//! with a Chebyshev filter (Zhou, Saad, Tiago and Chelikowsky, 2006).
//!
//! A block of vectors is multiplied by a polynomial of the matrix that is small
//! on the unwanted part of the spectrum, [-1, lowest Ritz value], and grows
//! fast above it; then the best approximations within the block are found by a
//! small dense eigenproblem. Only products with the sparse matrix are needed.

use ndarray::{Array2, s};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::error::Result;
use crate::normalised::Normalised;
use crate::tall;

/// How much one filter may amplify one direction over another: with more, the
/// weaker ones are lost in rounding.
const GROWTH: f64 = 1e6;

/// Products of one filter at most.
const MOST_PRODUCTS: f64 = 60.0;

/// Graphs up to this size are solved by a dense decomposition.
const SMALL: usize = 64;

/// Eigenvectors and how good they are.
#[derive(Debug)]
pub(super) struct Leading {
    /// Descending.
    pub(super) values: Vec<f64>,
    /// n x k
    pub(super) vectors: Array2<f64>,
    pub(super) iterations: usize,
    /// The largest `||M x - theta x||`.
    pub(super) residual: f64,
}

/// The k largest eigenvalues of `matrix`, 1 <= k <= n.
pub(super) fn leading<R: Rng + ?Sized>(
    matrix: &Normalised<'_>,
    wanted: usize,
    tolerance: f64,
    max_iterations: usize,
    rng: &mut R,
) -> Result<Leading> {
    let nodes = matrix.nodes();
    let width = if nodes <= SMALL {
        nodes
    } else {
        (wanted + (wanted / 2).max(8)).min(nodes)
    };
    let mut block = full_block(Array2::zeros((nodes, 0)), nodes, width, rng)?;
    let mut iterations = 0;
    loop {
        let (values, vectors, residual) = ritz(matrix, &block, wanted)?;
        if residual <= tolerance || iterations >= max_iterations || width == nodes {
            return Ok(Leading {
                values: values[..wanted].to_vec(),
                vectors: vectors.slice(s![.., ..wanted]).to_owned(),
                iterations,
                residual,
            });
        }
        iterations += 1;
        let lowest = values.last().copied().unwrap_or(0.0);
        let filtered = filter(matrix, vectors, lowest, values[0]);
        block = full_block(filtered, nodes, width, rng)?;
    }
}

/// The best eigenvectors within a block: values (descending) and vectors of all
/// of it, and the residual of the first few.
fn ritz(matrix: &Normalised<'_>, block: &Array2<f64>, wanted: usize) -> Result<(Vec<f64>, Array2<f64>, f64)> {
    let width = block.ncols();
    let numbers = block.as_standard_layout();
    let product = matrix.combine(width, numbers.as_slice().unwrap_or(&[]), (1.0, 0.0, 0.0), None);
    let product = tall::matrix(product, block.nrows(), width);
    let (values, rotation) = tall::symmetric(tall::cross(block, &product)?)?;
    let vectors = tall::times(block, rotation.t())?;
    let moved = tall::times(&product, rotation.t())?;
    let residual = (0..wanted)
        .map(|at| {
            let pairs = vectors.column(at).into_iter().zip(moved.column(at));
            pairs
                .map(|(x, y)| (y - values[at] * x).powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .fold(0.0, f64::max);
    Ok((values, vectors, residual))
}

/// The block times a Chebyshev polynomial of the matrix that stays within 1 on
/// [-1, lowest].
fn filter(matrix: &Normalised<'_>, block: Array2<f64>, lowest: f64, highest: f64) -> Array2<f64> {
    let width = block.ncols();
    // Never empty, and never all of the spectrum.
    let cut = lowest.clamp(-0.9, 1.0 - 1e-6);
    let (middle, half) = ((cut - 1.0) / 2.0, (cut + 1.0) / 2.0);
    let top = ((highest.max(cut) - middle) / half).max(1.0 + 1e-9);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 3 and 60"
    )]
    let degree = (GROWTH.ln() / top.acosh()).clamp(3.0, MOST_PRODUCTS) as usize;
    let mut before = block
        .as_standard_layout()
        .into_owned()
        .into_raw_vec_and_offset()
        .0;
    let mut now = matrix.combine(width, &before, (1.0 / half, -middle / half, 0.0), None);
    for _ in 1..degree {
        let next = matrix.combine(
            width,
            &now,
            (2.0 / half, -2.0 * middle / half, -1.0),
            Some(&before),
        );
        before = std::mem::replace(&mut now, next);
    }
    tall::matrix(now, matrix.nodes(), width)
}

/// An orthonormal block that spans these vectors, filled up with random ones
/// where they are too few or depend on each other.
fn full_block<R: Rng + ?Sized>(
    mut vectors: Array2<f64>,
    nodes: usize,
    width: usize,
    rng: &mut R,
) -> Result<Array2<f64>> {
    for mut column in vectors.columns_mut() {
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            column /= length;
        }
    }
    let mut block = tall::orthonormal(&vectors)?;
    while block.ncols() < width {
        let mut all = Array2::from_shape_simple_fn((nodes, width), || StandardNormal.sample(rng));
        all.slice_mut(s![.., ..block.ncols()]).assign(&block);
        for mut column in all.columns_mut() {
            let length = column.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
            column /= length;
        }
        block = tall::orthonormal(&all)?;
    }
    Ok(block)
}
