//! What happens during training, for whoever wants to know.

use serde::{Deserialize, Serialize};

use crate::metrics::Ranking;

/// One epoch, when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: u64,
    /// The whole loss, before this epoch's step.
    pub loss: f64,
    /// Of the held-out edges, after this epoch's step, if it was time to look.
    pub validation: Option<Ranking>,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Control {
    /// On with it.
    #[default]
    Continue,
    /// Stop: training ends with [`Error::Cancelled`](crate::Error::Cancelled).
    Cancel,
}
