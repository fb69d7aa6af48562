//! What a reader made of its files, for those who want to see whether it understood.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::edge_list::NodeIds;

/// What a reader understood of files that do not say themselves what they hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadNotes {
    /// What the ids of nodes were taken for.
    pub ids: Option<NodeIds>,
    /// What each table's columns were taken for.
    pub tables: Vec<TableNotes>,
}

impl ReadNotes {
    /// Columns that were left out, with the file that they are in.
    pub fn unused(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tables.iter().flat_map(|table| {
            let unused = table.columns.iter().filter(|column| column.role == Role::Unused);
            unused.map(|column| (table.file.as_str(), column.name.as_str()))
        })
    }

    /// The column that edge weights came from.
    pub fn weight(&self) -> Option<&str> {
        let columns = self.tables.iter().flat_map(|table| &table.columns);
        let mut weights = columns.filter(|column| column.role == Role::Weight);
        weights.next().map(|column| column.name.as_str())
    }
}

/// What one table was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableNotes {
    /// The file, without its folder.
    pub file: String,
    /// Whether its first row names the columns.
    pub header: bool,
    /// In their order.
    pub columns: Vec<ColumnNotes>,
}

/// What one column was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ColumnNotes {
    /// What the header calls it, else its number, counted from 1.
    pub name: String,
    /// What it is used as.
    pub role: Role,
}

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// The number of the row, as pandas and R write it in front; not used.
    RowIndex,
    /// Which graph a row is of.
    Graph,
    /// The source of an edge.
    Source,
    /// The target of an edge.
    Target,
    /// The weight of an edge.
    Weight,
    /// Which node a row is of.
    Node,
    /// A feature of the node.
    Feature,
    /// The label of a node or a graph.
    Label,
    /// Nothing.
    Unused,
}

impl Role {
    /// All there are, in the order in which a cache numbers them.
    pub(crate) const ALL: &'static [Self] = &[
        Self::RowIndex,
        Self::Graph,
        Self::Source,
        Self::Target,
        Self::Weight,
        Self::Node,
        Self::Feature,
        Self::Label,
        Self::Unused,
    ];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RowIndex => "row index, not used",
            Self::Graph => "graph",
            Self::Source => "source",
            Self::Target => "target",
            Self::Weight => "weight",
            Self::Node => "node id",
            Self::Feature => "feature",
            Self::Label => "label",
            Self::Unused => "not used",
        })
    }
}
