//! The measures and timings of a clustering.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::metrics::{Agreement, Ranking};

/// Measures of one clustering.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClusterReport {
    /// How well it agrees with the classes, where they are known; nodes without a
    /// class don't count.
    pub agreement: Option<Agreement>,
    /// Of the whole graph; none if it has no edges.
    pub modularity: Option<f64>,
    /// The mean over clusters; none if no cluster has one.
    pub conductance: Option<f64>,
    /// The sum of squared distances to the centres.
    pub inertia: f64,
    /// Columns that k-means was run on.
    pub dimension: usize,
    /// The share of the sum of the singular values that they have (1 for `H`
    /// itself): the y% of the paper's Table 5.
    pub captured: f64,
    /// The share of the sum of their squares, `||H_p||_F^2 / ||H||_F^2`.
    pub captured_squares: f64,
    /// How well held-out edges were predicted, if some were held out.
    pub validation: Option<Ranking>,
    /// How well the test edges were predicted, if some were held out.
    pub test: Option<Ranking>,
    /// The epoch whose parameters `H` is of.
    pub epoch: u64,
    /// The loss of the last epoch.
    pub loss: Option<f64>,
    /// The time of each step.
    pub timings: Timings,
}

/// Time by the clock, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Timings {
    /// Features, split, propagation matrix.
    pub preparing: f64,
    /// The autoencoder.
    pub training: f64,
    /// EGG.
    pub coordinates: f64,
    /// k-means.
    pub clustering: f64,
    /// The measures above.
    pub measuring: f64,
}

impl Timings {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.preparing + self.training + self.coordinates + self.clustering + self.measuring
    }

    pub(super) fn seconds(since: std::time::Instant) -> f64 {
        Duration::as_secs_f64(&since.elapsed())
    }
}
