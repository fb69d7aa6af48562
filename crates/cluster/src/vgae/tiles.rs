//! The sum of softplus over all pairs of nodes, and its gradient, tile by tile.
//!
//! `S = sum_ij softplus(z_i . z_j)` over all n^2 ordered pairs, the n diagonal
//! ones among them, and `dS/dz_i = 2 sum_j sigmoid(z_i . z_j) z_j`. A tile of
//! logits is made by a product, turned into sigmoids in place, and
//! multiplied with both of its sides' rows: half the tiles do, since the matrix
//! is symmetric. Nothing larger than a tile per thread is ever stored.
//!
//! Tiles are scheduled like the matches of a tournament (the circle method): in a
//! round no two tiles share a block of nodes, so they can run in parallel and
//! add to their blocks' gradients in place, and rounds run one after another. Each
//! block's sum is therefore added in the same order on any number of threads.

use std::sync::{Mutex, PoisonError};

use egg_tensor::product::{Matrix, multiply_over};
use rayon::prelude::*;

use super::logistic::Logistic;

/// Nodes per block. 256 x 256 numbers stay in a core's own cache; with few nodes
/// smaller blocks give every thread something to do.
fn block_size(nodes: usize) -> usize {
    if nodes < 8192 { 128 } else { 256 }
}

/// The sum and its gradient by `z` (n x d, row by row).
pub(super) fn all_pairs<T: Logistic>(z: &[T], width: usize) -> (f64, Vec<T>) {
    if width == 0 || z.is_empty() {
        return (0.0, Vec::new());
    }
    let nodes = z.len() / width;
    let size = block_size(nodes);
    let blocks: Vec<Block<'_, T>> = z
        .chunks(size * width)
        .map(|z| Block {
            z,
            rows: z.len() / width,
            gradient: Mutex::new(vec![0.0; z.len()]),
        })
        .collect();
    let idle = Idle(Mutex::new(Vec::new()));
    // Into the pool once, not once per round.
    let sum = rayon::scope(|_| {
        let mut sum = 0.0;
        for round in 0..rounds(blocks.len()) {
            let matches: Vec<(usize, usize)> = matches(blocks.len(), round).collect();
            let tiles = matches.par_iter().with_max_len(1).map(|&(left, right)| {
                let mut scratch = idle.take().unwrap_or_else(|| Scratch::new(size, width));
                let sum = tile(&blocks[left], &blocks[right], left == right, width, &mut scratch);
                idle.give(scratch);
                sum
            });
            let sums: Vec<f64> = tiles.collect();
            sum += sums.iter().sum::<f64>();
        }
        sum
    });
    let gradient = blocks.into_iter().flat_map(|block| {
        let gradient = block.gradient.into_inner();
        gradient.unwrap_or_else(PoisonError::into_inner)
    });
    (sum, gradient.map(|g| T::from_f64(2.0 * g)).collect())
}

/// Some nodes and the gradient of theirs so far, without the factor 2. In f64:
/// one addition per tile costs nothing, and thousands of tiles lose nothing.
struct Block<'a, T> {
    z: &'a [T],
    rows: usize,
    gradient: Mutex<Vec<f64>>,
}

impl<T: Logistic> Block<'_, T> {
    fn add(&self, part: &[T]) {
        // No other tile of this round locks it; rayon propagates a panic on another thread.
        let mut gradient = self.gradient.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, part) in gradient.iter_mut().zip(part) {
            *sum += part.to_f64();
        }
    }
}

struct Scratch<T> {
    tile: Vec<T>,
    part: Vec<T>,
}

impl<T: Logistic> Scratch<T> {
    fn new(size: usize, width: usize) -> Self {
        Self {
            tile: vec![T::zero(); size * size],
            part: vec![T::zero(); size * width],
        }
    }
}

/// Buffers of finished tiles, reused by later ones: at most one per thread.
struct Idle<T>(Mutex<Vec<Scratch<T>>>);

impl<T> Idle<T> {
    fn take(&self) -> Option<Scratch<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give(&self, scratch: Scratch<T>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(scratch);
    }
}

/// One tile: its share of the sum; its gradients go to the two blocks.
fn tile<T: Logistic>(
    left: &Block<'_, T>,
    right: &Block<'_, T>,
    diagonal: bool,
    width: usize,
    scratch: &mut Scratch<T>,
) -> f64 {
    let (of_left, of_right) = (
        Matrix::new(left.z, left.rows, width),
        Matrix::new(right.z, right.rows, width),
    );
    let tile = &mut scratch.tile[..left.rows * right.rows];
    multiply_over(of_left, of_right.transposed(), tile);
    let sum = T::activate(tile);
    let tile = Matrix::new(tile, left.rows, right.rows);
    let part = &mut scratch.part[..left.rows * width];
    multiply_over(tile, of_right, part);
    left.add(part);
    if diagonal {
        return sum;
    }
    let part = &mut scratch.part[..right.rows * width];
    multiply_over(tile.transposed(), of_left, part);
    right.add(part);
    2.0 * sum
}

/// The number of rounds in which every two of `blocks` blocks meet.
fn rounds(blocks: usize) -> usize {
    blocks
}

/// The pairs of blocks of a round: every pair of blocks once in all rounds, a block with
/// itself too, and no block twice in one round.
///
/// In round r the blocks a and b with a + b = r modulo the number of blocks meet.
fn matches(blocks: usize, round: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..blocks).filter_map(move |left| {
        let right = (round + blocks - left) % blocks;
        (left <= right).then_some((left, right))
    })
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;
    use crate::vgae::logistic::softplus_sigmoid;

    #[test]
    fn every_pair_of_blocks_meets_once_and_no_block_twice_in_a_round() {
        for blocks in 1..20 {
            let mut met = vec![0; blocks * blocks];
            for round in 0..rounds(blocks) {
                let mut busy = vec![false; blocks];
                for (left, right) in matches(blocks, round) {
                    assert!(!busy[left] && !busy[right]);
                    busy[left] = true;
                    busy[right] = true;
                    met[left * blocks + right] += 1;
                }
            }
            for left in 0..blocks {
                for right in 0..blocks {
                    assert_eq!(met[left * blocks + right], usize::from(left <= right));
                }
            }
        }
    }

    #[test]
    fn tiles_equal_the_definition() {
        for (nodes, width) in [
            (1, 1),
            (2, 3),
            (127, 4),
            (128, 16),
            (129, 5),
            (300, 16),
            (400, 17),
        ] {
            let z: Vec<f64> = (0..nodes * width)
                .map(|at| ((at * 7919 % 1013) as f64 / 1013.0 - 0.5) * 2.0)
                .collect();
            let row = |node: usize| &z[node * width..(node + 1) * width];
            let mut sum = 0.0;
            let mut gradient = vec![0.0; z.len()];
            for i in 0..nodes {
                for j in 0..nodes {
                    let x = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                    let (softplus, sigmoid) = softplus_sigmoid(x);
                    sum += softplus;
                    for (g, z) in gradient[i * width..].iter_mut().zip(row(j)) {
                        *g += 2.0 * sigmoid * z;
                    }
                }
            }
            let (found, found_gradient) = all_pairs(&z, width);
            assert_abs_diff_eq!(found, sum, epsilon = 1e-13 * sum);
            let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
            for (found, g) in found_gradient.iter().zip(&gradient) {
                assert_abs_diff_eq!(found, g, epsilon = 1e-13 * largest);
            }
            let single: Vec<f32> = z.iter().map(|z| *z as f32).collect();
            let (found, found_gradient) = all_pairs(&single, width);
            assert_abs_diff_eq!(found, sum, epsilon = 3e-7 * sum);
            for (found, g) in found_gradient.iter().zip(&gradient) {
                assert_abs_diff_eq!(f64::from(*found), *g, epsilon = 1e-6 * largest);
            }
        }
        assert_eq!(all_pairs::<f32>(&[], 16), (0.0, vec![]));
    }
}
