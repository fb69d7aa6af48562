//! The likelihood of the edges and as many sampled non-edges.

use candle_core::Tensor;
use egg_nn::blocks::map_chunks;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::element::Element;
use super::exact::dot;
use super::fused::{ValueAndGradient, apply, check_embedding};
use super::logistic::softplus_sigmoid;
use super::streams::Streams;
use super::target::LinkTarget;
use crate::error::{Error, Result};

/// Non-edges per block, each block with a stream of random numbers of its own.
const PAIRS: usize = 1 << 13;

/// From so many nodes on, blocks have a range of first nodes each.
const STRATA_FROM: usize = 1 << 16;

/// Rows of nodes per block of the edges' part.
const ROWS: usize = 256;

/// Into how many ranges of nodes gradients are sorted, at most.
const RANGES: usize = 256;

/// The mean of `softplus(-x)` over the edges plus the mean of `softplus(x)` over
/// as many non-edges, drawn anew at each call, with logits `x = z_i . z_j` of `z`
/// (n x d, f32 or f64): a scalar.
///
/// Non-edges are pairs of different nodes that no edge joins, all equally likely,
/// drawn with replacement. (From 65,536 nodes on they are stratified: the first node
/// of each comes from ranges of nodes in turn, whose rows stay in cache. Pairs are
/// then equally likely to within a part in n of the difference in degree.) Each block of them has its own stream, split off from
/// `rng` once, so that the same bits come out on any number of threads.
///
/// # Complexity
/// `O(edges (d + log degree))` time, `O(n d + edges)` memory. (Drawing takes longer
/// by the share of pairs that are edges; of a nearly complete graph take the
/// [exact likelihood](super::exact_likelihood).)
///
/// # Errors
/// [`Error::EmbeddingShape`] unless `z` has a row per node of the target,
/// [`Error::Layer`] unless it is f32 or f64, [`Error::NoNonEdges`] if the graph is
/// complete.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_cluster::vgae::{LinkTarget, sampled_likelihood};
/// use egg_graph::Graph;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let target = LinkTarget::new(Graph::from_edges(3, &[(0, 1)])?.view())?;
/// let z = Tensor::new(&[[0f64], [0.0], [0.0]], &Device::Cpu)?;
/// let loss = sampled_likelihood(&z, &target, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert!((loss.to_scalar::<f64>()? - 2.0 * 2f64.ln()).abs() < 1e-15);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn sampled_likelihood(z: &Tensor, target: &LinkTarget, rng: &mut ChaCha8Rng) -> Result<Tensor> {
    check_embedding(z, target)?;
    let nodes = target.node_count() as u128;
    if target.edge_count() as u128 >= nodes * (nodes - 1) / 2 {
        return Err(Error::NoNonEdges {
            nodes: target.node_count(),
        });
    }
    let sampled = Sampled {
        target: target.clone(),
        streams: Streams::split(rng),
    };
    apply(sampled, z)
}

struct Sampled {
    target: LinkTarget,
    streams: Streams,
}

/// A node, another, and what the gradient of the first has of the second.
#[derive(Clone, Copy)]
struct Pull<T> {
    node: u32,
    other: u32,
    slope: T,
}

/// The pulls of one block of pairs, sorted by the range that the node is in.
struct Sorted<T> {
    pulls: Vec<Pull<T>>,
    /// Where each range begins, and the end.
    starts: Vec<u32>,
    softplus: f64,
}

impl Sampled {
    /// One block of non-edges.
    fn block<T: Element>(&self, z: &[T], width: usize, block: usize, ranges: &Ranges) -> Sorted<T> {
        let (nodes, edges) = (self.target.node_count(), self.target.edge_count());
        let mut rng = self.streams.stream(block);
        let scale = 1.0 / edges as f64;
        let count = PAIRS.min(edges - block * PAIRS);
        let first = self.first_nodes(block);
        let mut softplus = 0.0;
        let mut drawn = Vec::with_capacity(2 * count);
        let mut starts = vec![0u32; ranges.count + 1];
        while drawn.len() < 2 * count {
            let a = first.start + below(&mut rng, first.len());
            let b = below(&mut rng, nodes);
            if a == b || self.target.is_edge(a, b) {
                continue;
            }
            let x = dot(&z[a * width..(a + 1) * width], &z[b * width..(b + 1) * width]);
            let (value, slope) = softplus_sigmoid(x);
            softplus += value;
            #[expect(clippy::cast_possible_truncation, reason = "nodes of a graph")]
            let (a, b, slope) = (a as u32, b as u32, T::from_f64(scale * slope));
            for (node, other) in [(a, b), (b, a)] {
                starts[ranges.of(node) + 1] += 1;
                drawn.push(Pull { node, other, slope });
            }
        }
        for range in 0..ranges.count {
            starts[range + 1] += starts[range];
        }
        let mut pulls = drawn.clone();
        let mut next = starts.clone();
        for pull in drawn {
            let place = &mut next[ranges.of(pull.node)];
            pulls[*place as usize] = pull;
            *place += 1;
        }
        Sorted {
            pulls,
            starts,
            softplus,
        }
    }

    /// Where the first nodes of a block's pairs come from.
    fn first_nodes(&self, block: usize) -> std::ops::Range<usize> {
        let (nodes, edges) = (self.target.node_count(), self.target.edge_count());
        if nodes < STRATA_FROM {
            return 0..nodes;
        }
        // At most the number of nodes.
        let node = |pair: usize| (pair.min(edges) as u128 * nodes as u128 / edges as u128) as usize;
        let start = node(block * PAIRS).min(nodes - 1);
        start..node((block + 1) * PAIRS).max(start + 1)
    }

    /// The edges' part, row by row: an edge is visited from both of its ends, so
    /// that no two threads write to one row.
    fn edges<T: Element>(&self, z: &[T], width: usize, scale: f64, gradient: &mut [T]) -> f64 {
        let sums = map_chunks(gradient, ROWS * width, |block, gradient| {
            let mut value = 0.0;
            let mut sum = vec![0.0; width];
            for (node, gradient) in (block * ROWS..).zip(gradient.chunks_exact_mut(width)) {
                let own = &z[node * width..(node + 1) * width];
                sum.fill(0.0);
                for other in self.target.neighbours(node) {
                    let other = *other as usize;
                    let other = &z[other * width..(other + 1) * width];
                    let (positive, miss) = softplus_sigmoid(-dot(own, other));
                    value += positive;
                    for (sum, z) in sum.iter_mut().zip(other) {
                        *sum -= miss * z.to_f64();
                    }
                }
                for (gradient, sum) in gradient.iter_mut().zip(&sum) {
                    *gradient = T::from_f64(scale * sum);
                }
            }
            value
        });
        sums.iter().sum::<f64>() / 2.0
    }
}

impl ValueAndGradient for Sampled {
    const NAME: &'static str = "egg-sampled-likelihood";

    fn run<T: Element>(&self, z: &[T], width: usize) -> (f64, Vec<T>) {
        let edges = self.target.edge_count();
        let scale = 1.0 / edges as f64;
        let mut gradient = vec![T::zero(); z.len()];
        let positives = self.edges(z, width, scale, &mut gradient);
        let ranges = Ranges::new(self.target.node_count());
        let blocks: Vec<Sorted<T>> = (0..edges.div_ceil(PAIRS))
            .into_par_iter()
            .with_max_len(1)
            .map(|block| self.block(z, width, block, &ranges))
            .collect();
        // Each range's rows are one thread's, and its blocks come in order.
        gradient
            .par_chunks_mut(ranges.size * width)
            .with_max_len(1)
            .enumerate()
            .for_each(|(range, gradient)| {
                let first = range * ranges.size;
                for block in &blocks {
                    let pulls = block.starts[range] as usize..block.starts[range + 1] as usize;
                    for pull in &block.pulls[pulls] {
                        let (row, other) =
                            ((pull.node as usize - first) * width, pull.other as usize * width);
                        let row = &mut gradient[row..row + width];
                        for (gradient, z) in row.iter_mut().zip(&z[other..other + width]) {
                            *gradient += pull.slope * *z;
                        }
                    }
                }
            });
        let negatives: f64 = blocks.iter().map(|block| block.softplus).sum();
        (scale * (positives + negatives), gradient)
    }
}

/// Nodes in ranges of equal size.
struct Ranges {
    size: usize,
    count: usize,
}

impl Ranges {
    fn new(nodes: usize) -> Self {
        let size = nodes.div_ceil(RANGES).max(ROWS);
        Self {
            size,
            count: nodes.div_ceil(size),
        }
    }

    fn of(&self, node: u32) -> usize {
        node as usize / self.size
    }
}

/// A whole number below `bound`, all equally likely to within `bound / 2^64`.
fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "below the bound")]
    let index = ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize;
    index
}
