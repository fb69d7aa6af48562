//! From a data set to what a model takes.

mod batch;
mod features;
mod prepared;

pub use batch::{Batch, BatchTargets};
pub use features::InputFeatures;
pub use prepared::{PreparedGraphs, PropagationKind};
