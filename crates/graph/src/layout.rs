//! How the files of a data set are laid out.

use std::fmt;

/// The layouts that can be read.
///
/// ```
/// use egg_graph::Layout;
/// assert_eq!(Layout::GnnBenchmark.to_string(), "gnn-benchmark");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Layout {
    /// `NAME_A.txt`, `NAME_graph_indicator.txt` and so on, in a folder or a zip.
    Tu,
    /// `ind.NAME.x` and its seven companions, in a folder.
    Planetoid,
    /// One `.npz` with the parts of two CSR matrices.
    GnnBenchmark,
    /// One `data.json`.
    WikiCs,
    /// `raw/*.csv.gz` and `split/`, in a folder.
    Ogb,
    /// A text file with two node ids per line, or a folder with such a file.
    EdgeList,
    /// `edges.csv`, `nodes.csv` and `graphs.csv` of many graphs, in a folder.
    GraphTables,
}

impl Layout {
    /// As registries of data sets spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tu => "tu",
            Self::Planetoid => "planetoid",
            Self::GnnBenchmark => "gnn-benchmark",
            Self::WikiCs => "wiki-cs",
            Self::Ogb => "ogb",
            Self::EdgeList => "edge-list",
            Self::GraphTables => "graph-tables",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
