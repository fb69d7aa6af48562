//! The event of a training.

use serde::{Deserialize, Serialize};

use crate::metrics::Ranking;

/// A finished epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: u64,
    /// The training loss, before this epoch's step.
    pub loss: f64,
    /// How well held-out edges are predicted after this epoch's step; `None` in epochs without a
    /// validation.
    pub validation: Option<Ranking>,
}
