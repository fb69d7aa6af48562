//! What a user can ask of a reader.

use crate::adjacency::SelfLoops;

/// Which of a TU data set's node data become features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum NodeFeatures {
    /// Labels if there are any, else attributes, else nothing.
    #[default]
    Auto,
    /// Labels, one-hot.
    Labels,
    /// Attributes as they are.
    Attributes,
    /// Attributes, then labels, as PyTorch Geometric orders them with
    /// `use_node_attr=True`.
    Both,
}

/// How files are read. The default is what PyTorch Geometric would give.
///
/// ```
/// use egg_graph::{ReadOptions, SelfLoops};
/// let options = ReadOptions { self_loops: SelfLoops::Keep, ..ReadOptions::default() };
/// assert_eq!(options.max_bytes, 16 << 30);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ReadOptions {
    /// Whether edges from a node to itself stay; their number is noted either way.
    pub self_loops: SelfLoops,
    /// Which node data of a TU data set become features.
    pub node_features: NodeFeatures,
    /// The most bytes that one file may unpack to.
    pub max_bytes: u64,
    /// The most bytes that a pickle may have, and the most that its objects may take:
    /// it is in memory as a whole.
    pub max_pickle_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            self_loops: SelfLoops::default(),
            node_features: NodeFeatures::default(),
            max_bytes: 16 << 30,
            max_pickle_bytes: 1 << 30,
        }
    }
}
