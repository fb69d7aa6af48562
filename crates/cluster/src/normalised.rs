//! The normalised adjacency matrix of a graph, known by its products.

use egg_graph::Graph;
use egg_tensor::blocks;

use crate::error::{Error, Result};

/// `M = D^(-1/2) (A + l I) D^(-1/2)`, where l, 0 or 1, is the weight of a self loop at each node; self loops of
/// the graph don't count. The eigenvalues lie in [-1, 1].
///
/// With l = 0, `I - M` is the normalised Laplacian, and the row of an isolated node is zero, as scikit-learn has it.
/// With l = 1, `M` is the propagation matrix of a GCN.
#[derive(Debug)]
pub(crate) struct Normalised<'a> {
    graph: &'a Graph,
    /// l
    self_loop: f64,
    /// `d_v^(-1/2)`; 0 for a node without edges and loop.
    scales: Vec<f64>,
}

/// Rows of a block of products.
const ROWS: usize = 64;

impl<'a> Normalised<'a> {
    /// Without self loops.
    ///
    /// # Errors
    /// [`Error::Empty`] for no nodes, [`Error::Undefined`] for a negative weight.
    pub(crate) fn new(graph: &'a Graph) -> Result<Self> {
        Self::with_self_loop(graph, 0.0)
    }

    /// With a self loop of this weight, at least 0, at each node.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn with_self_loop(graph: &'a Graph, self_loop: f64) -> Result<Self> {
        if graph.node_count() == 0 {
            return Err(Error::Empty { what: "graph" });
        }
        if graph
            .edge_weights()
            .is_some_and(|weights| weights.iter().any(|w| *w < 0.0))
        {
            return Err(Error::Undefined {
                measure: "the normalised adjacency matrix",
                reason: "an edge has a negative weight",
            });
        }
        let mut normalised = Self {
            graph,
            self_loop,
            scales: Vec::new(),
        };
        normalised.scales = (0..graph.node_count())
            .map(|node| {
                let degree: f64 = self_loop + normalised.row(node).map(|(_, weight)| weight).sum::<f64>();
                if degree > 0.0 { degree.sqrt().recip() } else { 0.0 }
            })
            .collect();
        Ok(normalised)
    }

    pub(crate) fn nodes(&self) -> usize {
        self.graph.node_count()
    }

    /// `d_v^(-1/2)`; 0 for an isolated node.
    pub(crate) fn scale(&self, node: usize) -> f64 {
        self.scales[node]
    }

    /// Neighbours other than the node itself, with weights.
    fn row(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.graph.offsets()[node]..self.graph.offsets()[node + 1];
        let weights = self.graph.edge_weights();
        let ids = self.graph.entries()[range.clone()].iter().zip(range);
        ids.map(move |(id, entry)| {
            (
                *id as usize,
                weights.map_or(1.0, |weights| f64::from(weights[entry])),
            )
        })
        .filter(move |(id, _)| *id != node)
    }

    /// `a M Y + b Y + c X` for n x width matrices, row by row. X may be absent.
    pub(crate) fn combine(
        &self,
        width: usize,
        y: &[f64],
        (a, b, c): (f64, f64, f64),
        x: Option<&[f64]>,
    ) -> Vec<f64> {
        let mut out = vec![0.0; self.nodes() * width];
        blocks::map_chunks(&mut out, ROWS * width, |block, part| {
            for (at, sums) in part.chunks_exact_mut(width).enumerate() {
                let node = block * ROWS + at;
                for (other, weight) in self.row(node) {
                    let weight = weight * self.scales[other];
                    for (sum, y) in sums.iter_mut().zip(&y[other * width..(other + 1) * width]) {
                        *sum += weight * y;
                    }
                }
                let own = node * width..(node + 1) * width;
                if self.self_loop > 0.0 {
                    let weight = self.self_loop * self.scales[node];
                    for (sum, y) in sums.iter_mut().zip(&y[own.clone()]) {
                        *sum += weight * y;
                    }
                }
                let factor = a * self.scales[node];
                for (sum, y) in sums.iter_mut().zip(&y[own.clone()]) {
                    *sum = factor * *sum + b * y;
                }
                if let Some(x) = x {
                    for (sum, x) in sums.iter_mut().zip(&x[own]) {
                        *sum += c * x;
                    }
                }
            }
        });
        out
    }
}
