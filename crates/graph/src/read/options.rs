//! What a user can ask of a reader.

use super::edge_list::NodeIds;
use crate::adjacency::SelfLoops;

/// Which of a TU data set's node data become features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
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

/// Whether the first row of a table names its columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Header {
    /// By names that are known, and by what the rows below hold; where neither decides,
    /// the table is refused.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is a row like the others.
    No,
}

/// What tables of your own can't say themselves.
///
/// Columns are named as their header names them, or by their number, counted from 1.
///
/// ```
/// use egg_graph::{NodeIds, ReadOptions, TableOptions};
///
/// let options = ReadOptions {
///     tables: TableOptions { ids: Some(NodeIds::OneBased), weight: Some("3".into()), ..TableOptions::default() },
///     ..ReadOptions::default()
/// };
/// assert!(options.tables.source.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct TableOptions {
    /// Whether tables have headers.
    pub header: Header,
    /// What the ids of nodes are; if not set, inferred from the files; where that is
    /// ambiguous, they are refused.
    pub ids: Option<NodeIds>,
    /// The column of the edges' source.
    pub source: Option<String>,
    /// The column of the edges' target.
    pub target: Option<String>,
    /// The column of their weights. If not set, one that is called `weight`.
    pub weight: Option<String>,
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
    /// What tables of your own can't say themselves.
    pub tables: TableOptions,
    /// The most bytes that one file may unpack to.
    pub max_bytes: u64,
    /// The most bytes that a pickle may have, and the most that its objects may take:
    /// it is in memory as a whole.
    pub max_pickle_bytes: u64,
}

impl ReadOptions {
    /// The default of everything that chooses what of a data set is read, with the limits and
    /// tables of these options: what a registry's fingerprint is of.
    pub(crate) fn with_default_content(&self) -> Self {
        Self {
            tables: self.tables.clone(),
            max_bytes: self.max_bytes,
            max_pickle_bytes: self.max_pickle_bytes,
            ..Self::default()
        }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            self_loops: SelfLoops::default(),
            node_features: NodeFeatures::default(),
            tables: TableOptions::default(),
            max_bytes: 16 << 30,
            max_pickle_bytes: 1 << 30,
        }
    }
}
