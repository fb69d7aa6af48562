//! How far a clustering is.

use crate::vgae::Epoch;

/// What just happened.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ClusteringEvent {
    /// Features, edges and the propagation matrix are ready.
    Prepared {
        /// n.
        nodes: usize,
        /// Edges to train on.
        edges: usize,
    },
    /// An epoch is done.
    Epoch(Epoch),
    /// `H` is there.
    Trained {
        /// The epoch whose parameters it is of.
        epoch: u64,
    },
    /// The rows that k-means is run on are there.
    Coordinates {
        /// How many columns they have.
        dimension: usize,
    },
    /// Every node has a cluster.
    Clustered {
        /// The sum of squared distances to the centres.
        inertia: f64,
    },
}
