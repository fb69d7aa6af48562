//! What every pooling does.

use std::fmt::Debug;

use candle_core::Tensor;
use egg_nn::Pass;

use crate::error::Result;
use crate::structure::Structure;

/// Turns the nodes of each graph of a batch into one row of fixed width.
///
/// A *readout* does only that. A *coarsening* also makes smaller graphs, which
/// the next layer of a model may go on with.
pub trait Pooling: Debug + Send + Sync {
    /// How many columns a graph's row has.
    fn width(&self) -> usize;

    /// `h` (n x m, the rows of all graphs) -> one row per graph.
    ///
    /// # Errors
    /// If `h` does not have the nodes of `structure`, or the width the pooling
    /// was made for.
    fn pool(&self, h: &Tensor, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled>;
}

/// What a pooling gives.
#[derive(Debug, Clone)]
pub struct Pooled {
    /// B x [`Pooling::width`].
    pub readout: Tensor,
    /// The smaller graphs, if the pooling makes such.
    pub coarser: Option<Coarser>,
    /// How many directions each graph's subspace kept, if there is one.
    pub ranks: Option<Vec<usize>>,
}

/// Smaller graphs, to go on with.
#[derive(Debug, Clone)]
pub struct Coarser {
    /// One row per node that is left or was made.
    pub h: Tensor,
    /// How these are joined.
    pub structure: Structure,
}
