//! Which edges a model may see, and which it must predict.

use std::collections::HashSet;

use rand::Rng;

use crate::draw;
use crate::error::{Error, Result};
use crate::graph::{Graph, GraphView};

/// Edges and non-edges for one part of a link split, as pairs with the smaller
/// node first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkPart {
    /// Edges.
    pub positive: Vec<(usize, usize)>,
    /// As many pairs that are not edges; fewer if the graph has fewer.
    pub negative: Vec<(usize, usize)>,
}

/// A split of a graph's edges for link prediction.
///
/// ```
/// use egg_graph::{Graph, LinkSplit};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let ring: Vec<_> = (0..100).map(|node| (node, (node + 1) % 100)).collect();
/// let graph = Graph::from_edges(100, &ring)?;
/// let split = LinkSplit::new(graph.view(), 0.05, 0.10, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!((split.train.edge_count(), split.validation.positive.len()), (85, 5));
/// assert_eq!(split.test.negative.len(), 10);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LinkSplit {
    /// The graph with only the training edges, and everything else that the
    /// whole graph has, self loops excepted.
    pub train: Graph,
    /// As many pairs that are no edge of the whole graph as there are training
    /// edges; fewer if the graph has fewer.
    pub train_negative: Vec<(usize, usize)>,
    /// For choosing the model.
    pub validation: LinkPart,
    /// For the final evaluation only.
    pub test: LinkPart,
}

impl LinkSplit {
    /// Takes a share of the edges for validation and one for testing, each
    /// rounded down, and draws as many distinct non-edges for every part; no
    /// non-edge is in two parts. Where a dense graph has fewer non-edges than edges,
    /// validation and test get theirs first, in proportion. Self loops are neither.
    /// The paper's shares are 0.05 and 0.10.
    ///
    /// # Complexity
    /// Linear in the nodes and edges, unless the graph is nearly complete: then
    /// all non-edges are listed.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the shares are not in [0, 1) or leave nothing to
    /// train on, or if edges are held out of a complete graph.
    pub fn new(graph: GraphView<'_>, validation: f64, test: f64, rng: &mut impl Rng) -> Result<Self> {
        for (name, share) in [("validation share", validation), ("test share", test)] {
            if !(0.0..1.0).contains(&share) {
                return Err(Error::parameter(name, share, "at least 0 and below 1"));
            }
        }
        let mut edges: Vec<(usize, usize)> = graph.edges().filter(|(a, b)| a != b).collect();
        draw::shuffle(rng, &mut edges);
        let negatives = non_edges(graph, edges.len(), rng);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share in [0, 1) of a count"
        )]
        let count = |share: f64| (share * edges.len() as f64) as usize;
        let (validation, test) = (count(validation), count(test));
        if validation + test >= edges.len() {
            return Err(Error::parameter(
                "validation and test shares",
                validation + test,
                format!("must leave some of the {} edges for training", edges.len()),
            ));
        }
        let held_out = validation + test;
        if held_out > 0 && negatives.is_empty() {
            return Err(Error::parameter(
                "edges",
                edges.len(),
                "every two nodes are joined, so there are no non-edges to compare held-out edges with",
            ));
        }
        // Of few non-edges each part gets its share, validation at least one.
        let (validation_negatives, all) = match negatives.len() < held_out {
            true => ((negatives.len() * validation).div_ceil(held_out), negatives.len()),
            false => (validation, held_out),
        };
        let part = |positive: std::ops::Range<usize>, negative: std::ops::Range<usize>| LinkPart {
            positive: edges[positive].to_vec(),
            negative: negatives[negative].to_vec(),
        };
        let hidden: HashSet<(usize, usize)> = edges[..held_out].iter().copied().collect();
        let train = graph
            .to_graph()
            .into_store()
            .without_edges(|a, b| a == b || hidden.contains(&(a, b)));
        Ok(Self {
            train: Graph::from_store(train),
            train_negative: negatives[all..].to_vec(),
            validation: part(0..validation, 0..validation_negatives),
            test: part(validation..held_out, validation_negatives..all),
        })
    }
}

/// Distinct pairs of different nodes that are no edge, in random order: so many, or
/// all there are.
fn non_edges(graph: GraphView<'_>, count: usize, rng: &mut impl Rng) -> Vec<(usize, usize)> {
    let nodes = graph.node_count();
    let pairs = nodes as u128 * nodes.saturating_sub(1) as u128 / 2;
    let free = pairs - graph.edges().filter(|(a, b)| a != b).count() as u128;
    let is_edge = |a: usize, b: usize| {
        graph
            .neighbours(a)
            .binary_search_by(|id| (*id as usize).cmp(&b))
            .is_ok()
    };
    // Few non-edges: list them all. Else a draw hits one more often than not.
    if free < 2 * count as u128 || 2 * free < pairs {
        let mut all: Vec<(usize, usize)> = (0..nodes)
            .flat_map(|a| (a + 1..nodes).map(move |b| (a, b)))
            .filter(|(a, b)| !is_edge(*a, *b))
            .collect();
        draw::shuffle(rng, &mut all);
        all.truncate(count);
        return all;
    }
    let mut seen = HashSet::with_capacity(count);
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let (a, b) = (draw::index(rng, nodes), draw::index(rng, nodes));
        let pair = (a.min(b), a.max(b));
        if a != b && !is_edge(pair.0, pair.1) && seen.insert(pair) {
            drawn.push(pair);
        }
    }
    drawn
}
