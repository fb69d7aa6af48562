//! Non-edges drawn in strata, every one expected equally often.
//!
//! Ordered pairs of different nodes that no edge joins are numbered by their first
//! node. As many of these numbers as there are edges are taken in equal steps from a
//! random start (systematic sampling); they say how often each node is first. Its
//! second nodes are then drawn from all that it is not joined to.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::streams::Streams;
use super::target::LinkTarget;

/// As many non-edges as a graph has edges.
#[derive(Debug, Clone)]
pub(super) struct Negatives {
    streams: Streams,
    /// Below the number of non-edges.
    start: u128,
}

impl Negatives {
    /// Splits off from `rng`; the graph must not be complete.
    pub(super) fn split(target: &LinkTarget, rng: &mut ChaCha8Rng) -> Self {
        let streams = Streams::split(rng);
        // At most 2^64 times 2^64.
        let start = (u128::from(rng.next_u64()) * target.non_edge_count()) >> 64;
        Self { streams, start }
    }

    /// The generator of a block of nodes.
    pub(super) fn stream(&self, block: usize) -> ChaCha8Rng {
        self.streams.stream(block)
    }

    /// How many pairs have one of the first `node` nodes as their first.
    pub(super) fn before(&self, target: &LinkTarget, node: usize) -> u64 {
        let (edges, all) = (target.edge_count() as u128, target.non_edge_count());
        let pairs = (edges * target.non_edges_before(node) + self.start) / all;
        #[expect(clippy::cast_possible_truncation, reason = "at most the number of edges")]
        let pairs = pairs as u64;
        pairs
    }
}

/// Appends `count` nodes that `node` is not joined to, all equally likely to within
/// n / 2^64; none if there is no such node.
pub(super) fn append_second_nodes(
    target: &LinkTarget,
    node: usize,
    count: u64,
    rng: &mut ChaCha8Rng,
    seconds: &mut Vec<u32>,
) {
    let others = (target.node_count() - 1 - target.neighbours(node).len()) as u128;
    if others == 0 {
        return;
    }
    for _ in 0..count {
        #[expect(clippy::cast_possible_truncation, reason = "below the number of nodes")]
        let rank = ((u128::from(rng.next_u64()) * others) >> 64) as usize;
        #[expect(clippy::cast_possible_truncation, reason = "nodes of a graph")]
        seconds.push(target.non_neighbour(node, rank) as u32);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use approx::abs_diff_eq;
    use egg_graph::Graph;
    use rand::SeedableRng;

    use super::*;

    /// Every pair of 12 nodes but these few, which no node of 11 has.
    fn nearly_complete() -> LinkTarget {
        let missing = [(0, 1), (0, 2), (3, 4), (5, 6)];
        let pairs = (0..12usize).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
        let edges: Vec<(usize, usize)> = pairs.filter(|pair| !missing.contains(pair)).collect();
        LinkTarget::new(Graph::from_edges(12, &edges).unwrap().view()).unwrap()
    }

    #[test]
    fn as_many_as_edges_are_drawn_and_none_is_preferred() {
        let target = nearly_complete();
        let rng = &mut ChaCha8Rng::seed_from_u64(2);
        let mut counts: BTreeMap<(usize, u32), u32> = BTreeMap::new();
        let rounds = 4000;
        for _ in 0..rounds {
            let negatives = Negatives::split(&target, rng);
            let mut stream = negatives.stream(0);
            let mut total = 0;
            for node in 0..12 {
                let share = negatives.before(&target, node + 1) - negatives.before(&target, node);
                let mut seconds = Vec::new();
                append_second_nodes(&target, node, share, &mut stream, &mut seconds);
                assert_eq!(seconds.len() as u64, share);
                total += seconds.len();
                for second in seconds {
                    assert!(second as usize != node && !target.neighbours(node).contains(&second));
                    *counts.entry((node, second)).or_default() += 1;
                }
            }
            assert_eq!(total, target.edge_count());
        }
        assert_eq!(counts.len(), 8);
        let mean = f64::from(rounds) * target.edge_count() as f64 / 8.0;
        for (pair, count) in counts {
            // Six standard deviations of a Poisson number, which it spreads less than.
            assert!(
                abs_diff_eq!(f64::from(count), mean, epsilon = 6.0 * mean.sqrt()),
                "{pair:?}: {count} of {mean}"
            );
        }
    }
}
