//! Where node features come from.

use egg_graph::{GraphDataset, OGB_ATOM_CARDINALITIES};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// What is done with a data set's features before a model sees them. A trained
/// model keeps it, to do the same with new graphs.
///
/// ```
/// use egg_graph::{Graph, GraphDataset};
/// use egg_pool::data::InputFeatures;
///
/// let dataset = GraphDataset::single("path", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
/// let dataset = InputFeatures::Degree { most: 1000 }.apply(dataset)?; // as for COLLAB
/// assert_eq!(dataset.features().width(), 1001);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InputFeatures {
    /// Nothing.
    #[default]
    AsTheyAre,
    /// Replaced by each node's degree, one-hot, `most + 1` columns, sparse.
    Degree {
        /// The largest degree there may be.
        most: usize,
    },
    /// The nine integers of OGB's atoms, each one-hot: a linear layer on them
    /// is a sum of embeddings, OGB's atom encoder.
    OgbAtoms,
}

impl InputFeatures {
    /// The data set with these features.
    ///
    /// # Errors
    /// [`egg_graph::Error::Parameter`] for a larger degree than `most`,
    /// [`egg_graph::Error::Length`] or [`egg_graph::Error::Rows`] if the
    /// features are not those of OGB's atoms.
    pub fn apply(self, dataset: GraphDataset) -> Result<GraphDataset> {
        Ok(match self {
            Self::AsTheyAre => dataset,
            Self::Degree { most } => dataset.one_hot_degree(most)?,
            Self::OgbAtoms => dataset.one_hot_columns(&OGB_ATOM_CARDINALITIES)?,
        })
    }

    /// The same for graphs that a trained model has not seen: a node with more
    /// neighbours than any in training is taken for one with the most.
    /// [`Self::unseen`] says how many there are.
    ///
    /// # Errors
    /// As [`Self::apply`], large degrees excepted.
    pub fn apply_to_new(self, dataset: GraphDataset) -> Result<GraphDataset> {
        match self {
            Self::Degree { most } => Ok(dataset.one_hot_degree_up_to(most)?),
            other => other.apply(dataset),
        }
    }

    /// How many nodes have a feature that training had no column for, so that
    /// [`Self::apply_to_new`] takes the nearest.
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// use egg_pool::data::InputFeatures;
    ///
    /// let star = GraphDataset::single("star", Graph::from_edges(4, &[(0, 1), (0, 2), (0, 3)])?);
    /// let features = InputFeatures::Degree { most: 2 };
    /// assert_eq!(features.unseen(&star), 1);
    /// assert_eq!(features.apply_to_new(star)?.features().to_dense().row(0).to_vec(), [0.0, 0.0, 1.0]);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn unseen(self, dataset: &GraphDataset) -> usize {
        match self {
            Self::Degree { most } => dataset.nodes_above_degree(most),
            Self::AsTheyAre | Self::OgbAtoms => 0,
        }
    }
}
