//! The likelihood of all n^2 pairs, without an n x n matrix.

use candle_core::Tensor;
use egg_nn::Tracked;
use egg_tensor::blocks::map_chunks;

use super::fused::{ValueAndGradient, apply, check_embedding};
use super::logistic::{Logistic, softplus_sigmoid};
use super::target::LinkTarget;
use super::tiles::all_pairs;
use crate::error::Result;

/// Rows of nodes per block of the sparse part.
const ROWS: usize = 256;

/// The weighted binary cross entropy of all pairs of nodes, a scalar:
/// `norm / n^2 * sum_ij (pos_weight y_ij softplus(-x_ij) + (1 - y_ij) softplus(x_ij))`
/// with logits `x = z z^T` and the target `y = A + I`, of `z` (n x d, f32 or f64).
///
/// Value and gradient are worked out together, in tiles of logits that are never
/// stored; positive pairs, which are few, are corrected afterwards. The same bits
/// come out on any number of threads. In f32 the value is that of f64 to 1e-6 of
/// itself and a rounding of a logit of mean size.
///
/// # Complexity
/// `O(n^2 d)` time on half the pairs, since logits are symmetric; `O(n d)` memory.
///
/// # Errors
/// [`Error::EmbeddingShape`](crate::Error::EmbeddingShape) unless `z` has a row per node of
/// the target, [`Error::Layer`](crate::Error::Layer) unless it is f32 or f64.
///
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_cluster::vgae::{LinkTarget, exact_likelihood};
/// use egg_graph::Graph;
///
/// let target = LinkTarget::new(Graph::from_edges(2, &[(0, 1)])?.view())?;
/// let z = Var::new(&[[0f64], [0.0]], &Device::Cpu)?;
/// let loss = exact_likelihood(&z, &target)?; // all four pairs are positive, pos_weight = norm = 1
/// assert!((loss.to_scalar::<f64>()? - 2f64.ln()).abs() < 1e-15);
/// assert!(loss.backward()?.get(&z).is_some());
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn exact_likelihood(z: impl Into<Tracked>, target: &LinkTarget) -> Result<Tensor> {
    let z = z.into();
    check_embedding(&z, target)?;
    apply(
        Exact {
            target: target.clone(),
        },
        z,
    )
}

struct Exact {
    target: LinkTarget,
}

impl ValueAndGradient for Exact {
    const NAME: &'static str = "egg-exact-likelihood";

    fn run<T: Logistic>(&self, z: &[T], width: usize) -> (f64, Vec<T>) {
        // Every pair as if it were negative, ...
        let (negatives, mut gradient) = all_pairs(z, width);
        let nodes = self.target.node_count() as f64;
        let scale = self.target.norm() / (nodes * nodes);
        let pos_weight = self.target.pos_weight();
        // ... then what a positive one has instead.
        let corrections = map_chunks(&mut gradient, ROWS * width, |block, gradient| {
            let mut correction = 0.0;
            let mut sum = vec![0.0; width];
            for (node, gradient) in (block * ROWS..).zip(gradient.chunks_exact_mut(width)) {
                let own = &z[node * width..(node + 1) * width];
                let others = self.target.neighbours(node).iter().map(|other| *other as usize);
                sum.fill(0.0);
                for other in others.chain([node]) {
                    let other = &z[other * width..(other + 1) * width];
                    let x = dot(own, other);
                    let (negative, sigmoid) = softplus_sigmoid(x);
                    let (positive, miss) = softplus_sigmoid(-x);
                    correction += pos_weight * positive - negative;
                    let slope = -pos_weight * miss - sigmoid;
                    for (sum, z) in sum.iter_mut().zip(other) {
                        *sum += slope * z.to_f64();
                    }
                }
                for (gradient, sum) in gradient.iter_mut().zip(&sum) {
                    // Twice: as a row and as a column.
                    *gradient = T::from_f64(scale * (gradient.to_f64() + 2.0 * sum));
                }
            }
            correction
        });
        (scale * (negatives + corrections.iter().sum::<f64>()), gradient)
    }
}

/// In f64, in order.
pub(super) fn dot<T: Logistic>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
}
