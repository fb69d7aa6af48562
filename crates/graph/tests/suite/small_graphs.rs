//! Small graphs to test with: from dense matrices, and drawn.

use egg_graph::Graph;
use ndarray::{Array2, ArrayView2};
use proptest::prelude::*;

/// The graph of a symmetric matrix: an entry that is not 0 is an edge, on the
/// diagonal a self loop, of that weight.
pub(crate) fn weighted(matrix: ArrayView2<'_, f32>) -> Graph {
    let weights = matrix.iter().copied().filter(|weight| *weight != 0.0);
    unweighted(matrix).with_edge_weights(weights.collect()).unwrap()
}

/// The same without the weights.
pub(crate) fn unweighted(matrix: ArrayView2<'_, f32>) -> Graph {
    let mut offsets = vec![0];
    let mut neighbours = Vec::new();
    for row in matrix.rows() {
        neighbours.extend((0u32..).zip(row).filter(|(_, w)| **w != 0.0).map(|(id, _)| id));
        offsets.push(neighbours.len());
    }
    Graph::from_csr(offsets, neighbours).unwrap()
}

/// A symmetric matrix of at most `most` rows, about a third of it not zero.
/// Weights are multiples of 1/8, whose sums are exact: results don't depend on
/// the order of nodes more than they must.
pub(crate) fn symmetric(least: usize, most: usize) -> impl Strategy<Value = Array2<f32>> {
    let weight = prop_oneof![2 => Just(0.0f32), 1 => (1u8..40).prop_map(|eighths| f32::from(eighths) / 8.0)];
    (least..=most).prop_flat_map(move |nodes| {
        prop::collection::vec(weight.clone(), nodes * nodes).prop_map(move |weights| {
            Array2::from_shape_fn((nodes, nodes), |(a, b)| weights[a.min(b) * nodes + a.max(b)])
        })
    })
}

/// Nodes in another order: node i of the result is node `order[i]`.
#[cfg(feature = "conv")]
pub(crate) fn reordered(matrix: ArrayView2<'_, f32>, order: &[usize]) -> Array2<f32> {
    Array2::from_shape_fn(matrix.dim(), |(a, b)| matrix[[order[a], order[b]]])
}
