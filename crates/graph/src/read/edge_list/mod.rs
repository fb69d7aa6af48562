//! A graph of your own: a list of edges, and perhaps features and labels, as
//! any spreadsheet or script can write them.

mod columns;
mod graphs;
mod ids;
mod nodes;
mod plan;
mod reader;
mod survey;
mod table;
mod write;

use std::path::{Path, PathBuf};

use columns::Columns;
use graphs::find_table;
pub use graphs::{GraphTables, read_graph_tables};
use ids::Ids;
use nodes::{Features as FeatureRows, read_features, read_labels};
use plan::FeaturePlan;
pub(crate) use reader::{EdgeListReader, GraphTablesReader};
use table::Table;
pub use write::{write_edge_list, write_labels};

use super::csr::plausible;
use super::notes::Role;
use super::options::ReadOptions;
use crate::adjacency::{EdgeRows, MAX_NODES};
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;

/// What the name of a list of edges may end with.
const ENDINGS: &[&str] = &["csv", "tsv", "txt", "edges", "edgelist", "el"];

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
/// **Edges**: two columns or more, separated by tabs, semicolons, commas or
/// spaces. If the header names `source` and `target` (or `src`/`dst`, `from`/`to`,
/// ...), these are its endpoints; else the first two columns are. A column called
/// `weight`, or the one that [`TableOptions`](crate::TableOptions) says, has the
/// weights; no other has. Fields may be in double quotes. Lines that begin with `#` or
/// `%` are comments, of which `# nodes: 5` gives the number of nodes, counted from 0. Blank
/// lines, CRLF and a byte order mark don't matter. Each edge may be there in
/// one direction or both; of an edge that is there more than once, the first
/// weight counts.
///
/// **Features**: an `.npy` file, or a table with one row per node. With a column
/// `id` or `node` (or an index, as pandas and R write it in front), or with
/// [`NodeIds::Named`], rows may be in any order. A column `label` has labels.
///
/// **Labels**: one per line in the order of the nodes, or `id,label` in any
/// order and not necessarily for all. If all labels are whole numbers, classes are in
/// their order, else in alphabetical order. An empty field, `NA` and `nan` are
/// unknown labels.
///
/// Whether a table has a header is decided by names that are known and by what its
/// columns hold; where that is ambiguous, or where rows in order could begin at node 0 or
/// at node 1, the files are refused, and [`TableOptions`](crate::TableOptions) says which.
/// [`GraphDataset::reading`] has what was understood.
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
    /// If not set, inferred from the files.
    ids: Option<NodeIds>,
}

/// A graph and what its nodes were called.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EdgeList {
    /// One graph, named after the file of its edges.
    pub dataset: GraphDataset,
    /// What the ids were taken for.
    pub ids: NodeIds,
    /// The name of each node, with [`NodeIds::Named`]; empty for nodes that only a
    /// comment `# nodes: n` counts.
    pub names: Option<Vec<String>>,
}

impl EdgeListSource {
    /// Only a list of edges, with ids from 0.
    pub fn new(edges: impl Into<PathBuf>) -> Self {
        Self {
            edges: edges.into(),
            features: None,
            labels: None,
            ids: Some(NodeIds::default()),
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
        self.ids = Some(ids);
        self
    }

    /// The edges at a path with their companion files; what the ids are is inferred from the
    /// files.
    ///
    /// The path is a file `NAME.csv`, in whose folder there may be
    /// `NAME.features.npy` (or csv, tsv, txt) and `NAME.labels.csv`; or a folder
    /// with `edges.csv`, and perhaps `features.npy` (or `features.csv`,
    /// `nodes.csv`) and `labels.csv`. Ids that are whole numbers from 0 or from
    /// 1 without large gaps count nodes; any others are names.
    ///
    /// # Errors
    /// [`Error::Missing`] if there are no edges.
    ///
    /// ```
    /// use egg_graph::{EdgeListSource, ReadOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("edges.csv"), "source,target\nAda,Grace\nGrace,Emmy\n")?;
    /// std::fs::write(folder.path().join("labels.csv"), "node,label\nAda,x\nEmmy,y\n")?;
    /// let read = EdgeListSource::find(folder.path())?.read(&ReadOptions::default())?;
    /// assert_eq!(read.dataset.node_labels().map(|labels| labels.known()), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(path: &Path) -> Result<Self> {
        let (edges, features, labels) = if path.is_dir() {
            let edges = find_table(path, "edges").ok_or_else(|| Error::Missing {
                file: path.join("edges.csv"),
                why: "it lists the edges, two node ids per line",
            })?;
            let npy = Some(path.join("features.npy")).filter(|path| path.is_file());
            let table = || find_table(path, "features").or_else(|| find_table(path, "nodes"));
            (edges, npy.or_else(table), find_table(path, "labels"))
        } else {
            let companion = |what: &str| {
                let stem = path.file_stem()?.to_string_lossy().into_owned();
                let folder = path.parent().unwrap_or(Path::new(""));
                let npy = folder.join(format!("{stem}.{what}.npy"));
                match npy.is_file() {
                    true => Some(npy),
                    false => find_table(folder, &format!("{stem}.{what}")),
                }
            };
            (path.to_owned(), companion("features"), companion("labels"))
        };
        Ok(Self {
            edges,
            features,
            labels,
            ids: None,
        })
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
    /// contradict each other, if they can be understood in more than one way, or if the ids are far
    /// apart; [`Error::OverLimit`], [`Error::Io`].
    pub fn read(&self, options: &ReadOptions) -> Result<EdgeList> {
        let plan = self.plan(options)?;
        let notes = plan.notes();
        let mut ids = Ids::new(plan.ids);
        let mut features = match (&self.features, plan.features) {
            (Some(path), Some(FeaturePlan::Table(columns))) => {
                Some(read_features(path, &columns, &mut ids, options)?)
            }
            (Some(_), Some(FeaturePlan::Array(values))) => Some(FeatureRows::in_order(values)),
            _ => None,
        };
        let fixed = features.as_ref().map(FeatureRows::rows);
        let label_column = features.as_mut().and_then(|features| features.labels.take());
        let labels = match (&self.labels, &plan.labels, label_column) {
            (Some(path), Some(_), Some(_)) => {
                return Err(Error::file(
                    path,
                    "there are labels here, and a column of labels among the features; keep one of them",
                ));
            }
            (Some(path), Some(columns), None) => {
                Some((read_labels(path, columns, &mut ids, fixed, options)?, path))
            }
            (_, _, Some(labels)) => Some(labels).zip(self.features.as_ref()),
            _ => None,
        };
        let complete = labels
            .as_ref()
            .filter(|(labels, _)| labels.covers_all())
            .map(|(labels, _)| labels.len());
        if let (Some((_, path)), Some(labels), Some(rows)) = (&labels, complete, fixed)
            && labels != rows
        {
            return Err(Error::file(
                path,
                format!("{labels} labels, but there are features of {rows} nodes"),
            ));
        }
        let fixed = fixed.or(complete);
        let edges = read_edges(&self.edges, &plan.edges, &mut ids, fixed, options)?;
        if let (Some(declared), Some(rows)) = (plan.declared, fixed)
            && declared != rows
        {
            return Err(Error::file(
                &self.edges,
                format!("a comment says {declared} nodes, but there are features or labels of {rows}"),
            ));
        }
        let nodes = fixed.unwrap_or_else(|| ids.count().max(plan.declared.unwrap_or(0)));
        if nodes > MAX_NODES {
            return Err(Error::TooManyNodes { nodes: nodes as u64 });
        }
        if nodes == 0 && plan.declared.is_none() {
            return Err(Error::file(
                &self.edges,
                "lists no edges, and the number of nodes is in neither features, labels nor a comment `# nodes: n`",
            ));
        }
        let evidence =
            edges.rows.len() + labels.as_ref().map_or(0, |(labels, _)| labels.len()) + fixed.unwrap_or(0);
        plausible(
            &self.edges,
            "the number of nodes (the largest id, or a comment)",
            nodes as u64,
            evidence,
        )
        .map_err(|error| match error {
            Error::File { file, problem } => Error::File {
                file,
                problem: format!("{problem}; read such ids as names: --ids-from names (`NodeIds::Named`)"),
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
        let mut columns = None;
        if let (Some(mut features), Some(path)) = (features, &self.features) {
            columns = features.columns.take();
            let matrix = features.into_matrix(nodes, path)?;
            let features = Features::dense(matrix).map_err(|error| Error::file(path, error.to_string()))?;
            graph = graph.with_features(features)?;
        }
        if let Some((labels, path)) = labels {
            let labels = labels.into_labels(nodes);
            graph = graph.with_node_labels(labels.map_err(|error| Error::file(path, error.to_string()))?)?;
        }
        let name = self
            .edges
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let mut dataset = GraphDataset::single(name.unwrap_or_default(), graph)
            .with_notes(built.notes)
            .with_reading(notes);
        if let Some(columns) = columns {
            dataset = dataset.with_feature_columns(columns)?;
        }
        Ok(EdgeList {
            dataset,
            ids: plan.ids,
            names: ids.into_names(nodes),
        })
    }
}

struct Edges {
    rows: EdgeRows,
    weights: Option<Vec<f32>>,
}

/// `fixed` is the number of nodes if features or labels determine it.
fn read_edges(
    path: &Path,
    columns: &Columns,
    ids: &mut Ids,
    fixed: Option<usize>,
    options: &ReadOptions,
) -> Result<Edges> {
    let mut table = Table::open(path, true, options)?;
    let column = |role| columns.position(role);
    let (source, target) = (
        column(Role::Source).unwrap_or(0),
        column(Role::Target).unwrap_or(1),
    );
    let weight = column(Role::Weight);
    let mut rows = EdgeRows::default();
    let mut weights = weight.map(|_| Vec::new());
    if columns.header {
        table.advance()?;
    }
    while table.advance()? {
        table.expect_width(columns.width)?;
        rows.push(
            ids.resolve(&table, source, fixed)?,
            ids.resolve(&table, target, fixed)?,
        );
        if let (Some(weights), Some(column)) = (&mut weights, weight) {
            weights.push(table.weight(column)?);
            if u32::try_from(weights.len()).is_err() {
                return Err(table.wrong("fewer than 2^32 weighted edges are read"));
            }
        }
    }
    Ok(Edges { rows, weights })
}
