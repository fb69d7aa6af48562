//! A graph of one's own: a list of edges, and perhaps features and labels, as
//! any spreadsheet or script can write them.

mod columns;
mod graphs;
mod guess;
mod nodes;
mod table;
mod write;

use std::path::{Path, PathBuf};

use columns::Columns;
pub use graphs::{GraphTables, read_graph_tables};
pub(crate) use graphs::{find_table, is_graph_tables};
use nodes::{Features as FeatureRows, LabelRows};
use table::Table;
pub use write::{write_edge_list, write_labels};

use self::nodes::{Ids, read_features, read_labels};
use super::csr::plausible;
use super::options::ReadOptions;
use crate::adjacency::{EdgeRows, MAX_NODES};
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;

/// What the ids in a list of edges are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum NodeIds {
    /// 0, 1, 2, ...
    #[default]
    ZeroBased,
    /// 1, 2, 3, ...
    OneBased,
    /// Anything. Nodes are numbered in the order in which their names appear:
    /// in the features, then the labels, then the edges.
    Named,
}

/// The files that make up a graph, and how to read them.
///
/// **Edges**: two columns, or three with a weight, separated by tabs,
/// semicolons, commas or spaces. There may be a header; one that names columns
/// `source` and `target` (or `src`/`dst`, `from`/`to`, ...) and `weight` may have
/// others besides. Fields may be in double quotes. Lines that begin with `#` or
/// `%` are comments, of which `# nodes: 5` tells the number of nodes. Blank
/// lines, CRLF and a byte order mark don't matter. Each edge may be there in
/// one direction or both; of an edge that is there more than once, the first
/// weight counts.
///
/// **Features**: an `.npy` file, or a table with one row per node. With a header
/// that begins with `id` or `node`, or with [`NodeIds::Named`], the first column
/// is the id, and the rows may be in any order.
///
/// **Labels**: one per line in the order of the nodes, or `id,label` in any
/// order and not necessarily for all. A header that ends with `label` or `class`
/// is recognised. If all labels are whole numbers, classes are in their order,
/// else in alphabetical order; a field that is empty is an unknown label.
///
/// ```
/// use egg_graph::{EdgeListSource, NodeIds, ReadOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("friends.csv");
/// std::fs::write(&path, "\u{feff}Source,Target\r\n\"Ada\",Grace\r\nGrace,Emmy\r\n")?;
/// let friends = EdgeListSource::new(&path).ids(NodeIds::Named).read(&ReadOptions::default())?;
/// assert_eq!(friends.names.as_deref(), Some(&["Ada".into(), "Grace".into(), "Emmy".into()][..]));
/// assert_eq!(friends.dataset.graph(0)?.neighbours(1), [0, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EdgeListSource {
    edges: PathBuf,
    features: Option<PathBuf>,
    labels: Option<PathBuf>,
    ids: NodeIds,
}

/// A graph and what its nodes were called.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeList {
    /// One graph, named after the file of its edges.
    pub dataset: GraphDataset,
    /// The name of each node, with [`NodeIds::Named`]; empty for nodes that only a
    /// comment `# nodes: n` tells of.
    pub names: Option<Vec<String>>,
}

impl EdgeListSource {
    /// A list of edges alone, with ids from 0.
    pub fn new(edges: impl Into<PathBuf>) -> Self {
        Self {
            edges: edges.into(),
            features: None,
            labels: None,
            ids: NodeIds::default(),
        }
    }

    /// Where the features are: `.npy`, or a table.
    pub fn features(mut self, path: impl Into<PathBuf>) -> Self {
        self.features = Some(path.into());
        self
    }

    /// Where the labels are.
    pub fn labels(mut self, path: impl Into<PathBuf>) -> Self {
        self.labels = Some(path.into());
        self
    }

    /// What the ids are.
    pub fn ids(mut self, ids: NodeIds) -> Self {
        self.ids = ids;
        self
    }

    /// The edges at a path with what is found beside them, and ids as they are
    /// in the file.
    ///
    /// The path is a file `NAME.csv`, beside which there may be
    /// `NAME.features.npy` (or csv, tsv, txt) and `NAME.labels.csv`; or a folder
    /// with `edges.csv`, and perhaps `features.npy` (or `features.csv`,
    /// `nodes.csv`) and `labels.csv`. Ids that are whole numbers from 0 or from
    /// 1 without large gaps count nodes; any others are names.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Missing`], and [`Error::Line`] if the edges can't
    /// be read.
    ///
    /// ```
    /// use egg_graph::{EdgeListSource, ReadOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("edges.csv"), "source,target\nAda,Grace\nGrace,Emmy\n")?;
    /// std::fs::write(folder.path().join("labels.csv"), "node,label\nAda,x\nEmmy,y\n")?;
    /// let read = EdgeListSource::find(folder.path(), &ReadOptions::default())?.read(&ReadOptions::default())?;
    /// assert_eq!(read.dataset.node_labels().map(|labels| labels.known()), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(path: &Path, options: &ReadOptions) -> Result<Self> {
        guess::find(path, options)
    }

    /// What the ids are taken for.
    pub fn node_ids(&self) -> NodeIds {
        self.ids
    }

    /// Every file that is read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [Some(&self.edges), self.features.as_ref(), self.labels.as_ref()];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Reads the graph. The number of nodes is that of the rows of features or
    /// labels, so isolated nodes are counted; without them, it is what the
    /// largest id calls for.
    ///
    /// # Errors
    /// [`Error::Line`] for a line that makes no sense, [`Error::File`] if files
    /// contradict each other or the ids are far apart, [`Error::OverLimit`],
    /// [`Error::Io`].
    pub fn read(&self, options: &ReadOptions) -> Result<EdgeList> {
        let mut ids = Ids::new(self.ids);
        let features = match &self.features {
            Some(path) => Some(read_features(path, &mut ids, options)?),
            None => None,
        };
        let fixed = features.as_ref().map(FeatureRows::rows);
        let labels = match &self.labels {
            Some(path) => Some(read_labels(path, &mut ids, fixed, options)?),
            None => None,
        };
        let complete = labels
            .as_ref()
            .filter(|labels| labels.covers_all())
            .map(LabelRows::len);
        if let (Some(path), Some(labels), Some(rows)) = (&self.labels, complete, fixed)
            && labels != rows
        {
            return Err(Error::file(
                path,
                format!("{labels} labels, but there are features of {rows} nodes"),
            ));
        }
        let fixed = fixed.or(complete);
        let edges = read_edges(&self.edges, &mut ids, fixed, options)?;
        if let (Some(declared), Some(rows)) = (edges.declared, fixed)
            && declared != rows
        {
            return Err(Error::file(
                &self.edges,
                format!("a comment says {declared} nodes, but there are features or labels of {rows}"),
            ));
        }
        let nodes = fixed.unwrap_or_else(|| ids.count().max(edges.declared.unwrap_or(0)));
        if nodes > MAX_NODES {
            return Err(Error::TooManyNodes { nodes: nodes as u64 });
        }
        if nodes == 0 && edges.declared.is_none() {
            return Err(Error::file(
                &self.edges,
                "lists no edges, and neither features, labels nor a comment `# nodes: n` tell of nodes",
            ));
        }
        let evidence = edges.rows.len() + labels.as_ref().map_or(0, LabelRows::len) + fixed.unwrap_or(0);
        plausible(
            &self.edges,
            "the number of nodes (the largest id, or a comment)",
            nodes as u64,
            evidence,
        )
        .map_err(|error| match error {
            Error::File { file, problem } => Error::File {
                file,
                problem: format!("{problem}; read such ids as NodeIds::Named"),
            },
            other => other,
        })?;

        let built = edges
            .rows
            .into_adjacency(nodes, options.self_loops, edges.weights.is_some());
        let mut graph = Graph::from_built(built.adjacency);
        if let Some(weights) = &edges.weights {
            let order = built.rows.iter().filter_map(|row| weights.get(*row as usize));
            graph = graph.with_edge_weights(order.copied().collect())?;
        }
        if let (Some(features), Some(path)) = (features, &self.features) {
            let matrix = features.into_matrix(nodes, path)?;
            let features = Features::dense(matrix).map_err(|error| Error::file(path, error.to_string()))?;
            graph = graph.with_features(features)?;
        }
        if let (Some(labels), Some(path)) = (labels, &self.labels) {
            let labels = labels.into_labels(nodes);
            graph = graph.with_node_labels(labels.map_err(|error| Error::file(path, error.to_string()))?)?;
        }
        let name = self
            .edges
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        Ok(EdgeList {
            dataset: GraphDataset::single(name.unwrap_or_default(), graph).with_notes(built.notes),
            names: ids.into_names(nodes),
        })
    }
}

struct Edges {
    rows: EdgeRows,
    weights: Option<Vec<f32>>,
    /// The number of nodes that a comment tells.
    declared: Option<usize>,
}

/// `fixed` is the number of nodes if features or labels determine it.
fn read_edges(path: &Path, ids: &mut Ids, fixed: Option<usize>, options: &ReadOptions) -> Result<Edges> {
    let mut table = Table::open(path, true, options)?;
    let mut columns: Option<Columns> = None;
    let mut rows = EdgeRows::default();
    let mut weights = None;
    while table.advance()? {
        let columns = match &columns {
            Some(columns) => columns,
            None => {
                let (found, is_header) = Columns::of_first_row(&table, ids.kind())?;
                weights = found.weight.map(|_| Vec::new());
                columns = Some(found);
                if is_header {
                    continue;
                }
                columns.get_or_insert(found)
            }
        };
        table.expect_width(columns.width)?;
        let source = ids.resolve(&table, columns.source, fixed)?;
        let target = ids.resolve(&table, columns.target, fixed)?;
        rows.push(source, target);
        if let (Some(weights), Some(column)) = (&mut weights, columns.weight) {
            weights.push(table.float(column)?);
            if u32::try_from(weights.len()).is_err() {
                return Err(table.wrong("fewer than 2^32 weighted edges are read"));
            }
        }
    }
    let declared = table.declared_nodes.and_then(|nodes| usize::try_from(nodes).ok());
    Ok(Edges {
        rows,
        weights,
        declared,
    })
}
