//! A graph whose labels can't be looked at.

use egg_graph::GraphDataset;

use crate::error::{Error, Result};

/// One graph without the labels of its nodes. Whatever chooses settings takes this type, so that no choice can depend
/// on labels; they are removed, not hidden.
///
/// ```
/// use egg_cluster::pipeline::Unlabelled;
/// use egg_graph::synthetic::karate_club;
///
/// let dataset = karate_club()?;
/// assert!(dataset.node_labels().is_some());
/// assert!(Unlabelled::new(&dataset)?.dataset().node_labels().is_none());
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Unlabelled(GraphDataset);

impl Unlabelled {
    /// Removes the labels.
    ///
    /// # Errors
    /// [`Error::NotOneGraph`].
    pub fn new(dataset: &GraphDataset) -> Result<Self> {
        if dataset.len() != 1 {
            return Err(Error::NotOneGraph {
                graphs: dataset.len(),
            });
        }
        let graph = dataset.graph(0)?.to_graph().without_node_labels();
        Ok(Self(GraphDataset::single(dataset.name(), graph)))
    }

    /// The graph with its features.
    pub fn dataset(&self) -> &GraphDataset {
        &self.0
    }
}
