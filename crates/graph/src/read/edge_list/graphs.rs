//! Many graphs of your own, in up to three tables of a folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2, Axis};

use super::columns::{self, Columns};
use super::nodes::{LabelRows, label_at};
use super::survey::Survey;
use super::table::Table;
use crate::adjacency::{EdgeNotes, EdgeRows, MAX_NODES};
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::feature_columns::FeatureColumn;
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::Targets;
use crate::read::notes::{ReadNotes, Role, TableNotes};
use crate::read::options::ReadOptions;

/// The tables of a folder.
pub(super) const TABLES: [&str; 3] = ["edges", "nodes", "graphs"];

/// What they may end with.
const ENDINGS: [&str; 3] = ["csv", "tsv", "txt"];

/// Graphs and what they were called.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GraphTables {
    /// Named after the folder.
    pub dataset: GraphDataset,
    /// The name of each graph.
    pub names: Vec<String>,
}

/// Reads a folder of graphs, as any spreadsheet or script can write it.
///
/// | table | columns | |
/// |---|---|---|
/// | `edges.csv` | `graph,source,target` and perhaps `weight` | needed |
/// | `nodes.csv` | `graph,node` and one column per feature, all numbers | or nodes have no features |
/// | `graphs.csv` | `graph,label` | or nothing is known of the graphs |
///
/// Each begins with a header; columns may be in any order, and there may be others in
/// `edges.csv` and `graphs.csv`, which are not used. A first column without a name, as pandas and R
/// write it, is an index and not used. Names of graphs and nodes may be anything, and a node's
/// name means something in its own graph only. Graphs are in the order of
/// `graphs.csv`, else of `nodes.csv`, else of `edges.csv`. Labels are classes,
/// unless they are numbers with fractions: then they are to be predicted as
/// numbers. A label that is empty, `NA` or `nan` is one that is not known. Separators, quotes,
/// comments and the rest are as for
/// [`EdgeListSource`](super::EdgeListSource); endings may be csv, tsv or txt.
///
/// # Errors
/// [`Error::Missing`] without `edges.csv`, [`Error::Line`] for a line that makes
/// no sense, [`Error::File`] if tables contradict each other.
///
/// ```
/// use egg_graph::{ReadOptions, read_graph_tables};
///
/// let folder = tempfile::tempdir()?;
/// let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
/// write("edges.csv", "graph,source,target\nwater,O,H1\nwater,O,H2\noxygen,a,b\n")?;
/// write("graphs.csv", "graph,label\nwater,wet\noxygen,dry\n")?;
/// let read = read_graph_tables(folder.path(), &ReadOptions::default())?;
/// assert_eq!(read.names, ["water", "oxygen"]);
/// assert_eq!(read.dataset.graph(0)?.neighbours(0), [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_graph_tables(folder: &Path, options: &ReadOptions) -> Result<GraphTables> {
    let edges = find_table(folder, "edges").ok_or_else(|| Error::Missing {
        file: folder.join("edges.csv"),
        why: "it lists the edges of the graphs, with a header graph,source,target",
    })?;
    let mut collection = Collection::default();
    let labels = match find_table(folder, "graphs") {
        Some(path) => Some(collection.read_labels(&path, options)?),
        None => None,
    };
    let columns = match find_table(folder, "nodes") {
        Some(path) => Some(collection.read_nodes(&path, labels.is_some(), options)?),
        None => None,
    };
    collection.read_edges(&edges, columns.is_some(), labels.is_some(), options)?;
    let name = folder
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let (graphs, notes) = collection.graphs(columns.as_ref().map(Vec::len), &edges, options)?;
    let mut dataset = GraphDataset::from_graphs(name, &graphs)?
        .with_notes(notes)
        .with_reading(ReadNotes {
            ids: None,
            tables: std::mem::take(&mut collection.tables),
        });
    if let Some(columns) = columns.filter(|columns| !columns.is_empty()) {
        dataset = dataset.with_feature_columns(columns)?;
    }
    let dataset = match labels {
        Some(labels) => with_targets(dataset, labels)?,
        None => dataset,
    };
    Ok(GraphTables {
        dataset,
        names: collection.names,
    })
}

/// Whether a folder has a table `edges` whose header names a column of graphs.
pub(super) fn is_graph_tables(folder: &Path) -> bool {
    let header = || {
        let path = find_table(folder, "edges")?;
        let survey = Survey::first_rows(&path, &ReadOptions::default()).ok()?;
        columns::graph_columns(&survey).ok()?
    };
    header().is_some()
}

/// `NAME.csv`, or with one of the other endings.
pub(super) fn find_table(folder: &Path, name: &str) -> Option<PathBuf> {
    let paths = ENDINGS
        .iter()
        .map(|ending| folder.join(format!("{name}.{ending}")));
    paths.into_iter().find(|path| path.is_file())
}

/// Where tables of these names, or arrays in their place, would be.
pub(super) fn possible_tables<N: AsRef<str>>(
    folder: &Path,
    names: impl IntoIterator<Item = N>,
) -> Vec<PathBuf> {
    let endings = || ENDINGS.into_iter().chain(["npy"]);
    let in_each = |name: N| endings().map(move |ending| folder.join(format!("{}.{ending}", name.as_ref())));
    names.into_iter().flat_map(in_each).collect()
}

/// What was read of one graph.
#[derive(Default)]
struct Parts {
    positions: HashMap<String, u32>,
    features: Vec<f32>,
    edges: Vec<(u32, u32, f32)>,
}

/// What was read of all graphs.
#[derive(Default)]
struct Collection {
    positions: HashMap<String, usize>,
    names: Vec<String>,
    parts: Vec<Parts>,
    weighted: bool,
    /// What each table's columns were taken for.
    tables: Vec<TableNotes>,
}

impl Collection {
    /// The graph in a column. `complete`: it must be one of those that an earlier
    /// table has.
    fn graph<R: std::io::BufRead>(
        &mut self,
        table: &Table<R>,
        column: usize,
        complete: bool,
    ) -> Result<usize> {
        let name = table.name(column)?;
        if let Some(position) = self.positions.get(name) {
            return Ok(*position);
        }
        if name.is_empty() {
            return Err(table.wrong("the name of the graph is empty"));
        }
        if complete {
            return Err(table.wrong(format!("graph `{name}` has no row in graphs.csv")));
        }
        let position = self.names.len();
        self.positions.insert(name.to_owned(), position);
        self.names.push(name.to_owned());
        self.parts.push(Parts::default());
        Ok(position)
    }

    fn read_labels(&mut self, path: &Path, options: &ReadOptions) -> Result<Vec<String>> {
        let survey = Survey::first_rows(path, options)?;
        let columns = columns::graph_columns(&survey)?
            .and_then(Columns::with_label)
            .ok_or_else(|| {
                Error::file(
                    path,
                    "the first line must be a header with the columns graph and label",
                )
            })?;
        self.tables.push(columns.notes());
        let (graph, label) = (
            columns.position(Role::Graph).unwrap_or(0),
            columns.position(Role::Label).unwrap_or(1),
        );
        let mut table = Table::open(path, true, options)?;
        table.advance()?;
        let mut labels = Vec::new();
        while table.advance()? {
            table.expect_width(columns.width)?;
            if self.graph(&table, graph, false)? != labels.len() {
                return Err(table.wrong("the graph has a row already"));
            }
            labels.push(label_at(&table, label)?);
        }
        Ok(labels)
    }

    /// Gives what the features are.
    fn read_nodes(
        &mut self,
        path: &Path,
        complete: bool,
        options: &ReadOptions,
    ) -> Result<Vec<FeatureColumn>> {
        let survey = Survey::first_rows(path, options)?;
        let columns = columns::graph_columns(&survey)?
            .and_then(Columns::with_nodes)
            .ok_or_else(|| {
                Error::file(
                    path,
                    "the first line must be a header with the columns graph and node",
                )
            })?;
        self.tables.push(columns.notes());
        let (graph, node) = (
            columns.position(Role::Graph).unwrap_or(0),
            columns.position(Role::Node).unwrap_or(1),
        );
        let features = columns.positions(Role::Feature);
        let mut table = Table::open(path, true, options)?;
        table.advance()?;
        while table.advance()? {
            table.expect_width(columns.width)?;
            let graph = self.graph(&table, graph, complete)?;
            let name = table.name(node)?.to_owned();
            #[expect(clippy::indexing_slicing, reason = "`graph` gives the position of one")]
            let parts = &mut self.parts[graph];
            if parts.positions.contains_key(&name) {
                return Err(table.wrong("the node has a row already"));
            }
            place(&table, &mut parts.positions, name)?;
            for column in &features {
                parts.features.push(table.float(*column)?);
            }
        }
        let named = |column: &usize| FeatureColumn::number(columns.name(*column));
        Ok(features.iter().map(named).collect())
    }

    fn read_edges(
        &mut self,
        path: &Path,
        nodes_known: bool,
        graphs_known: bool,
        options: &ReadOptions,
    ) -> Result<()> {
        let survey = Survey::first_rows(path, options)?;
        let columns = match columns::graph_columns(&survey)? {
            Some(columns) => columns.with_edges(&survey, &options.tables)?,
            None => None,
        };
        let Some(columns) = columns else {
            return Err(Error::file(
                path,
                "the first line must be a header with the columns graph, source and target",
            ));
        };
        self.tables.insert(0, columns.notes());
        let column = |role| columns.position(role);
        let (graph, source, target) = (
            column(Role::Graph).unwrap_or(0),
            column(Role::Source).unwrap_or(1),
            column(Role::Target).unwrap_or(2),
        );
        let (weight, width) = (column(Role::Weight), columns.width);
        self.weighted = weight.is_some();
        let mut table = Table::open(path, true, options)?;
        table.advance()?;
        while table.advance()? {
            table.expect_width(width)?;
            let at = self.graph(&table, graph, graphs_known)?;
            #[expect(clippy::indexing_slicing, reason = "`graph` gives the position of one")]
            let parts = &mut self.parts[at];
            let mut endpoints = [0; 2];
            for (endpoint, column) in endpoints.iter_mut().zip([source, target]) {
                let name = table.name(column)?;
                let positions = &mut parts.positions;
                *endpoint = match positions.get(name) {
                    Some(position) => *position,
                    None if name.is_empty() => return Err(table.wrong("the id of a node is empty")),
                    None if nodes_known => {
                        return Err(
                            table.wrong(format!("node `{name}` of this graph has no row in nodes.csv"))
                        );
                    }
                    None => {
                        let name = name.to_owned();
                        place(&table, positions, name)?
                    }
                };
            }
            let weight = match weight {
                Some(column) => table.float(column)?,
                None => 1.0,
            };
            parts.edges.push((endpoints[0], endpoints[1], weight));
        }
        Ok(())
    }

    /// The graphs, and what their edges had beyond a set of edges.
    fn graphs(
        &self,
        width: Option<usize>,
        edges: &Path,
        options: &ReadOptions,
    ) -> Result<(Vec<Graph>, EdgeNotes)> {
        let mut graphs = Vec::with_capacity(self.parts.len());
        let mut all = EdgeNotes::default();
        for (parts, name) in self.parts.iter().zip(&self.names) {
            let nodes = parts.positions.len();
            if nodes == 0 {
                return Err(Error::file(
                    edges,
                    format!("graph `{name}` has no nodes: neither an edge nor a row in nodes.csv names one"),
                ));
            }
            let mut rows = EdgeRows::default();
            for (source, target, _) in &parts.edges {
                rows.push(*source, *target);
            }
            if self.weighted && u32::try_from(rows.len()).is_err() {
                return Err(Error::file(edges, "fewer than 2^32 weighted edges are read"));
            }
            let built = rows.into_adjacency(nodes, options.self_loops, self.weighted);
            all.add(built.notes);
            let mut graph = Graph::from_built(built.adjacency);
            if self.weighted {
                let weight = |row: &u32| parts.edges.get(*row as usize).map(|edge| edge.2);
                graph = graph.with_edge_weights(built.rows.iter().filter_map(weight).collect())?;
            }
            if let Some(width) = width.filter(|width| *width > 0) {
                let matrix = Array2::from_shape_vec((nodes, width), parts.features.clone())
                    .map_err(|error| Error::file(edges, error.to_string()))?;
                graph = graph.with_features(Features::dense(matrix)?)?;
            }
            graphs.push(graph);
        }
        Ok((graphs, all))
    }
}

/// The next position, for a new name.
fn place<R: std::io::BufRead>(
    table: &Table<R>,
    positions: &mut HashMap<String, u32>,
    name: String,
) -> Result<u32> {
    let position = u32::try_from(positions.len()).ok();
    let position = position.filter(|position| (*position as usize) < MAX_NODES);
    let position = position.ok_or_else(|| table.wrong("there are more nodes than can be numbered"))?;
    positions.insert(name, position);
    Ok(position)
}

/// Classes, or numbers if there are fractions; nothing if no label is known.
fn with_targets(dataset: GraphDataset, labels: Vec<String>) -> Result<GraphDataset> {
    let known: Vec<&String> = labels.iter().filter(|label| !label.is_empty()).collect();
    if known.is_empty() {
        return Ok(dataset);
    }
    let number = |text: &str| text.parse::<f32>().ok().filter(|value| value.is_finite());
    let whole = |text: &str| text.parse::<i64>().is_ok();
    if known.iter().all(|label| number(label).is_some()) && !known.iter().all(|label| whole(label)) {
        let values = labels.iter().map(|label| number(label).unwrap_or(f32::NAN));
        let values = values.collect::<Array1<f32>>().insert_axis(Axis(1));
        return dataset.with_targets(Targets::Values(values));
    }
    let graphs = labels.len();
    dataset.with_targets(Targets::Classes(LabelRows::in_order(labels).into_labels(graphs)?))
}
