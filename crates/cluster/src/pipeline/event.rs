//! The events of a clustering.

use crate::vgae::Epoch;

/// A step of a clustering that is done.
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
    /// An epoch of the autoencoder.
    Epoch(Epoch),
    /// The embedding `H`.
    Trained {
        /// The epoch whose parameters `H` is of.
        epoch: u64,
    },
    /// The rows that k-means is run on.
    Coordinates {
        /// The number of their columns.
        dimension: usize,
    },
    /// The clusters.
    Clustered {
        /// The sum of squared distances to the centres.
        inertia: f64,
    },
}

/// An event of one of several repetitions.
///
/// The events of a repetition are those of its training, then [`ClusteringEvent::Coordinates`]
/// and [`ClusteringEvent::Clustered`] once per method. Cancelling at any of them ends all
/// repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RepetitionEvent {
    /// Which repetition, counted from 0.
    pub repetition: usize,
    /// What is done.
    pub event: ClusteringEvent,
}
