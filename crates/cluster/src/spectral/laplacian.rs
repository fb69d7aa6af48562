//! The normalised adjacency matrix of a graph, known by its products.

use egg_graph::Graph;
use egg_tensor::blocks;

use crate::error::{Error, Result};

/// `M = D^(-1/2) A D^(-1/2)` without self loops; `I - M` is the normalised
/// Laplacian. Its eigenvalues lie in [-1, 1]. The row of an isolated node is
/// zero, as scikit-learn has it.
#[derive(Debug)]
pub(super) struct Normalised<'a> {
    graph: &'a Graph,
    /// `d_v^(-1/2)`; 0 for an isolated node.
    scales: Vec<f64>,
}

/// Rows of a block of products.
const ROWS: usize = 64;

impl<'a> Normalised<'a> {
    /// # Errors
    /// [`Error::Empty`] for no nodes, [`Error::Undefined`] for a negative weight.
    pub(super) fn new(graph: &'a Graph) -> Result<Self> {
        if graph.node_count() == 0 {
            return Err(Error::Empty { what: "graph" });
        }
        if graph
            .edge_weights()
            .is_some_and(|weights| weights.iter().any(|w| *w < 0.0))
        {
            return Err(Error::Undefined {
                measure: "the normalised Laplacian",
                reason: "an edge has a negative weight",
            });
        }
        let mut normalised = Self {
            graph,
            scales: Vec::new(),
        };
        normalised.scales = (0..graph.node_count())
            .map(|node| {
                let degree: f64 = normalised.row(node).map(|(_, weight)| weight).sum();
                if degree > 0.0 { degree.sqrt().recip() } else { 0.0 }
            })
            .collect();
        Ok(normalised)
    }

    pub(super) fn nodes(&self) -> usize {
        self.graph.node_count()
    }

    /// `d_v^(-1/2)`; 0 for an isolated node.
    pub(super) fn scale(&self, node: usize) -> f64 {
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
    pub(super) fn combine(
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
