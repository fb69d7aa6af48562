//! The likelihood of the edges and as many sampled non-edges.

use candle_core::Tensor;
use egg_nn::Tracked;
use egg_tensor::blocks::{map_chunks, map_new};
use egg_tensor::prefetch;
use rand_chacha::ChaCha8Rng;

use super::fused::{ValueAndGradient, apply, check_embedding};
use super::gather::{add_rows, append_products};
use super::logistic::Logistic;
use super::negatives::{Negatives, append_second_nodes};
use super::target::LinkTarget;
use crate::error::{Error, Result};

/// Nodes per block, each block with a stream of random numbers of its own.
const ROWS: usize = 512;

/// Nodes whose logits are turned into sigmoids together: enough for vectors, few
/// enough that their neighbours' rows are still in cache afterwards.
const GROUP: usize = 16;

/// Into how many ranges of nodes the gradients of second nodes are sorted, at most.
const RANGES: usize = 256;

/// How many gradients ahead a row is prefetched.
const AHEAD: usize = 16;

/// The mean of `softplus(-x)` over the edges plus the mean of `softplus(x)` over
/// as many non-edges, drawn anew at each call, with logits `x = z_i . z_j` of `z`
/// (n x d, f32 or f64): a scalar.
///
/// Non-edges are ordered pairs of different nodes that no edge joins. They are
/// stratified by their first node: from a random start on, every node gets its share
/// (by how many nodes it is not joined to) in turn, and each second node is drawn
/// from those it is not joined to, all equally likely. So every non-edge is expected
/// equally often, and the estimate is unbiased. Each block of nodes has its own stream, split off from
/// `rng` once, so that the same bits come out on any number of threads.
///
/// # Complexity
/// `O(edges (d + log degree))` time, `O(n d + edges)` memory, however dense the
/// graph is.
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
pub fn sampled_likelihood(
    z: impl Into<Tracked>,
    target: &LinkTarget,
    rng: &mut ChaCha8Rng,
) -> Result<Tensor> {
    let z = z.into();
    check_embedding(&z, target)?;
    if target.non_edge_count() == 0 {
        return Err(Error::NoNonEdges {
            nodes: target.node_count(),
        });
    }
    let sampled = Sampled {
        target: target.clone(),
        negatives: Negatives::split(target, rng),
    };
    apply(sampled, z)
}

struct Sampled {
    target: LinkTarget,
    negatives: Negatives,
}

/// A term of the gradient of a second node, from a first one.
#[derive(Clone, Copy)]
struct Pull<T> {
    node: u32,
    other: u32,
    slope: T,
}

/// The result of a block of nodes, in addition to their own gradients.
struct Block<T> {
    positives: f64,
    negatives: f64,
    /// Sorted by the range that the node is in.
    pulls: Vec<Pull<T>>,
    /// Where each range begins, and the end.
    starts: Vec<u32>,
}

impl ValueAndGradient for Sampled {
    const NAME: &'static str = "egg-sampled-likelihood";

    fn run<T: Logistic>(&self, z: &[T], width: usize) -> (f64, Vec<T>) {
        let ranges = Ranges::new(self.target.node_count());
        let scale = 1.0 / self.target.edge_count() as f64;
        let (mut gradient, blocks) = map_new(z.len(), ROWS * width, |block, gradient| {
            Rows {
                sampled: self,
                z,
                width,
                scale: T::from_f64(scale),
            }
            .run(block, &ranges, gradient)
        });
        // Each range's rows are one thread's, and its blocks come in order.
        map_chunks(&mut gradient, ranges.size * width, |range, gradient| {
            let first = range * ranges.size;
            for block in &blocks {
                let pulls = &block.pulls[block.starts[range] as usize..block.starts[range + 1] as usize];
                for (at, pull) in pulls.iter().enumerate() {
                    if let Some(later) = pulls.get(at + AHEAD) {
                        prefetch(z, later.other as usize * width, width);
                    }
                    let row = (pull.node as usize - first) * width;
                    add_rows(z, &[pull.other], &[pull.slope], &mut gradient[row..row + width]);
                }
            }
        });
        // An edge is visited from both of its nodes.
        let positives = blocks.iter().map(|block| block.positives).sum::<f64>() / 2.0;
        let negatives = blocks.iter().map(|block| block.negatives).sum::<f64>();
        (scale * (positives + negatives), gradient)
    }
}

/// The pairs by their first node.
struct Rows<'a, T> {
    sampled: &'a Sampled,
    z: &'a [T],
    width: usize,
    scale: T,
}

impl<T: Logistic> Rows<'_, T> {
    /// The pairs whose first node is in a block, edges and non-edges. Writes the
    /// gradients of these nodes; what second nodes get of non-edges is returned.
    /// (Of edges they get it where they are first themselves.)
    fn run(&self, block: usize, ranges: &Ranges, gradient: &mut [T]) -> Block<T> {
        let Sampled { target, negatives } = self.sampled;
        let (z, width) = (self.z, self.width);
        let mut rng = negatives.stream(block);
        let mut drawn = Vec::new();
        let mut found = Block {
            positives: 0.0,
            negatives: 0.0,
            pulls: Vec::new(),
            starts: Vec::new(),
        };
        let (mut seconds, mut ends) = (Vec::new(), Vec::new());
        let (mut of_edges, mut of_others) = (Vec::new(), Vec::new());
        let mut before = negatives.before(target, block * ROWS);
        for (group, gradient) in gradient.chunks_mut(GROUP * width).enumerate() {
            let first = block * ROWS + group * GROUP;
            let nodes = first..first + gradient.len() / width;
            seconds.clear();
            ends.clear();
            for node in nodes.clone() {
                let after = negatives.before(target, node + 1);
                append_second_nodes(target, node, after - before, &mut rng, &mut seconds);
                ends.push(seconds.len());
                before = after;
            }
            seconds.iter().for_each(|second| self.ask_for(*second));
            of_edges.clear();
            of_others.clear();
            for (node, second) in nodes.clone().zip(parts(&seconds, &ends)) {
                let own = &z[node * width..(node + 1) * width];
                target
                    .neighbours(node + 2)
                    .iter()
                    .for_each(|other| self.ask_for(*other));
                append_products(z, own, target.neighbours(node), &mut of_edges);
                append_products(z, own, second, &mut of_others);
            }
            // softplus(-x) and softplus(x), and their slopes by x.
            of_edges.iter_mut().for_each(|x| *x = T::zero() - *x);
            found.positives += T::activate(&mut of_edges);
            found.negatives += T::activate(&mut of_others);
            of_edges
                .iter_mut()
                .for_each(|miss| *miss = T::zero() - *miss * self.scale);
            of_others.iter_mut().for_each(|sigmoid| *sigmoid *= self.scale);
            let (mut edges, mut others) = (&of_edges[..], &of_others[..]);
            let rows = gradient.chunks_exact_mut(width);
            for ((node, second), gradient) in nodes.zip(parts(&seconds, &ends)).zip(rows) {
                let neighbours = target.neighbours(node);
                let (slopes, rest) = edges.split_at(neighbours.len());
                add_rows(z, neighbours, slopes, gradient);
                edges = rest;
                let (slopes, rest) = others.split_at(second.len());
                add_rows(z, second, slopes, gradient);
                others = rest;
                #[expect(clippy::cast_possible_truncation, reason = "nodes of a graph")]
                let other = node as u32;
                let pulls = second.iter().zip(slopes);
                drawn.extend(pulls.map(|(&node, &slope)| Pull { node, other, slope }));
            }
        }
        (found.pulls, found.starts) = ranges.sorted(&drawn);
        found
    }

    fn ask_for(&self, node: u32) {
        prefetch(self.z, node as usize * self.width, self.width);
    }
}

/// The parts of a list, by their end positions.
fn parts<'a>(list: &'a [u32], ends: &'a [usize]) -> impl Iterator<Item = &'a [u32]> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| &list[start..*end])
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

    /// By the range of the node, else in the order they have, and where each range
    /// begins.
    fn sorted<T: Logistic>(&self, drawn: &[Pull<T>]) -> (Vec<Pull<T>>, Vec<u32>) {
        let range = |pull: &Pull<T>| pull.node as usize / self.size;
        let mut starts = vec![0u32; self.count + 1];
        drawn.iter().for_each(|pull| starts[range(pull) + 1] += 1);
        for range in 0..self.count {
            starts[range + 1] += starts[range];
        }
        let (mut pulls, mut next) = (drawn.to_vec(), starts.clone());
        for pull in drawn {
            let place = &mut next[range(pull)];
            pulls[*place as usize] = *pull;
            *place += 1;
        }
        (pulls, starts)
    }
}
