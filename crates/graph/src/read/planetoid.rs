//! The Planetoid release of Cora, Citeseer and Pubmed: pickles of Python 2.
//!
//! `ind.NAME.allx` and `ally` hold the features and one-hot classes of the
//! first nodes, of which `x` and `y` repeat the beginning, the public training
//! set. `tx` and `ty` belong to the nodes listed in `test.index`, in that
//! order. `graph` is a dict of neighbour lists, one per node.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::options::ReadOptions;
use super::pickle::{Pickle, Value};
use super::reader::{Folder, Reader, files_in};
use super::text::Lines;
use crate::adjacency::{EdgeRows, MAX_NODES};
use crate::dataset::GraphDataset;
use crate::error::{Error, LineProblem, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::Labels;
use crate::load::DataSource;
use crate::sparse::CsrMatrix;
use crate::split::Split;

/// The size of the public validation set, where there are as many nodes.
const VALIDATION: usize = 500;

/// Reads one of the Planetoid data sets from a folder that has the eight files
/// `ind.NAME.x`, `y`, `tx`, `ty`, `allx`, `ally`, `graph` and `test.index`;
/// `name` may be in capitals, the files' names are not.
///
/// The data set has one graph with sparse features and node labels, and the
/// public split: the rows of `x`, the next 500, and the test nodes. Nodes that
/// no row covers (Citeseer has 15) have zero features and no label.
/// [`GraphDataset::notes`] says what the neighbour lists had beyond a set of
/// edges.
///
/// # Errors
/// [`Error::Missing`] if a file is not there, [`Error::Refused`] if a pickle
/// asks for more than data, [`Error::Binary`] and [`Error::Line`] with the
/// place in a file that makes no sense, [`Error::File`] if files contradict
/// each other, [`Error::OverLimit`], [`Error::Io`].
///
/// ```no_run
/// use egg_graph::{ReadOptions, read_planetoid};
/// let cora = read_planetoid("datasets/planetoid".as_ref(), "Cora", &ReadOptions::default())?;
/// assert_eq!(cora.node_count(), 2708);
/// # Ok::<(), egg_graph::Error>(())
/// ```
pub fn read_planetoid(folder: &Path, name: &str, options: &ReadOptions) -> Result<GraphDataset> {
    let files = Files {
        folder,
        stem: stem(name),
        options,
    };
    let train = files.rows("x", "y")?;
    let known = files.rows("allx", "ally")?;
    let test = files.rows("tx", "ty")?;
    for (rows, part) in [(&train, "x"), (&test, "tx")] {
        if rows.widths() != known.widths() {
            return Err(Error::file(
                &files.path(part),
                format!(
                    "{:?} features and classes, but allx and ally have {:?}",
                    rows.widths(),
                    known.widths()
                ),
            ));
        }
    }
    if train.len() > known.len() {
        return Err(Error::file(
            &files.path("x"),
            format!(
                "{} rows, but allx, which begins with them, has {}",
                train.len(),
                known.len()
            ),
        ));
    }
    let (nodes, edges) = files.neighbours()?;
    if known.len() > nodes {
        return Err(Error::file(
            &files.path("allx"),
            format!("{} rows, but the graph has {nodes} nodes", known.len()),
        ));
    }
    let test_nodes = files.test_index(known.len(), nodes, test.len())?;

    // Which row of which part each node has.
    let mut sources: Vec<Option<(&Rows, usize)>> = vec![None; nodes];
    for (row, source) in sources.iter_mut().take(known.len()).enumerate() {
        *source = Some((&known, row));
    }
    for (row, node) in test_nodes.iter().enumerate() {
        if let Some(source) = sources.get_mut(*node) {
            *source = Some((&test, row));
        }
    }
    let features = features(&sources, known.features.shape().1)
        .map_err(|error| Error::file(&files.path("allx"), error.to_string()))?;
    let classes: Vec<Option<u32>> = sources
        .iter()
        .map(|source| source.and_then(|(rows, row)| rows.classes.get(row).copied().flatten()))
        .collect();
    let names = (0..known.class_count).map(|class| class.to_string()).collect();

    let built = edges.into_adjacency(nodes, options.self_loops, false);
    let graph = Graph::from_built(built.adjacency)
        .with_features(Features::sparse(features))?
        .with_node_labels(Labels::new(&classes, names)?)?;
    let mut test = test_nodes;
    test.sort_unstable();
    let after = train.len().saturating_add(VALIDATION).min(known.len());
    GraphDataset::single(name, graph)
        .with_notes(built.notes)
        .with_split(Split {
            train: (0..train.len()).collect(),
            validation: (train.len()..after).collect(),
            test,
        })
}

pub(crate) struct PlanetoidReader;

impl Reader for PlanetoidReader {
    fn name(&self) -> &'static str {
        "planetoid"
    }

    fn title(&self) -> &'static str {
        "Planetoid"
    }

    fn folder_sign(&self) -> Option<&'static str> {
        Some("ind.*.allx")
    }

    fn recognise(&self, folder: &Folder<'_>) -> Result<Option<String>> {
        match folder.stems("ind.", ".allx").collect::<Vec<_>>().as_slice() {
            [] => Ok(None),
            [name] => Ok(Some((*name).to_owned())),
            several => Err(folder.unknown(format!(
                "holds {}; ask for one by its registered name, or keep each in a folder of its own",
                several.join(", ")
            ))),
        }
    }

    fn files(&self, source: &DataSource) -> Result<Vec<PathBuf>> {
        let prefix = format!("{}.", stem(&source.name));
        files_in(&source.path, |name| name.starts_with(&prefix))
    }

    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset> {
        read_planetoid(&source.path, &source.name, options)
    }
}

/// What the names of a data set's files begin with.
fn stem(name: &str) -> String {
    format!("ind.{}", name.to_lowercase())
}

/// Features and classes of the same nodes.
struct Rows {
    features: CsrMatrix,
    /// `None` where a row of the one-hot matrix is all zeros.
    classes: Vec<Option<u32>>,
    class_count: usize,
}

impl Rows {
    fn len(&self) -> usize {
        self.classes.len()
    }

    fn widths(&self) -> (usize, usize) {
        (self.features.shape().1, self.class_count)
    }
}

fn features(sources: &[Option<(&Rows, usize)>], width: usize) -> Result<CsrMatrix> {
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for source in sources {
        if let Some((rows, row)) = source {
            let matrix = &rows.features;
            for (column, value) in matrix.row(*row) {
                columns.push(u32::try_from(column).unwrap_or(u32::MAX));
                values.push(value);
            }
        }
        offsets.push(columns.len());
    }
    CsrMatrix::new(offsets, columns, values, width)
}

struct Files<'a> {
    folder: &'a Path,
    stem: String,
    options: &'a ReadOptions,
}

impl Files<'_> {
    fn path(&self, part: &str) -> PathBuf {
        self.folder.join(format!("{}.{part}", self.stem))
    }

    fn present(&self, part: &str) -> Result<PathBuf> {
        let file = self.path(part);
        if file.is_file() {
            return Ok(file);
        }
        Err(Error::Missing {
            file,
            why: "a Planetoid data set is the eight files ind.NAME.x, y, tx, ty, allx, ally, graph and test.index",
        })
    }

    fn pickle(&self, part: &str) -> Result<Pickle> {
        Pickle::read(&self.present(part)?, self.options)
    }

    fn rows(&self, features: &str, classes: &str) -> Result<Rows> {
        let pickle = self.pickle(features)?;
        let features = match pickle.value() {
            Value::Csr(matrix) => matrix.to_matrix()?,
            other => return Err(unexpected(&pickle, "a CSR matrix", &other)),
        };
        let pickle = self.pickle(classes)?;
        let one_hot = match pickle.value() {
            Value::Array(array) => array.to_matrix()?,
            other => return Err(unexpected(&pickle, "an array", &other)),
        };
        if one_hot.nrows() != features.shape().0 {
            return Err(Error::file(
                pickle.file(),
                format!(
                    "{} rows of classes for {} rows of features",
                    one_hot.nrows(),
                    features.shape().0
                ),
            ));
        }
        let mut found = Vec::new();
        for (index, row) in one_hot.rows().into_iter().enumerate() {
            let mut hot = (0u32..).zip(row).filter(|(_, value)| **value != 0.0);
            let class = hot.next().map(|(class, _)| class);
            if hot.next().is_some() {
                return Err(Error::file(
                    pickle.file(),
                    format!("row {index} has more than one class"),
                ));
            }
            found.push(class);
        }
        Ok(Rows {
            features,
            classes: found,
            class_count: one_hot.ncols(),
        })
    }

    /// The number of nodes and all entries of the neighbour lists.
    fn neighbours(&self) -> Result<(usize, EdgeRows)> {
        let pickle = self.pickle("graph")?;
        let Value::Dict(entries) = pickle.value() else {
            return Err(unexpected(&pickle, "a dict of neighbour lists", &pickle.value()));
        };
        let nodes = entries.len();
        if nodes > MAX_NODES {
            return Err(Error::TooManyNodes { nodes: nodes as u64 });
        }
        let id = |value: &Value<'_>| match value {
            Value::Int(id) => u32::try_from(*id).ok().filter(|id| (*id as usize) < nodes),
            _ => None,
        };
        let shown = |value: &Value<'_>| match value {
            Value::Int(id) => id.to_string(),
            other => other.kind().to_owned(),
        };
        let mut seen = vec![false; nodes];
        let mut rows = EdgeRows::default();
        for (key, value) in entries.iter() {
            let first = id(&key).and_then(|node| seen.get_mut(node as usize).map(|seen| (node, seen)));
            let node = match first {
                Some((node, seen)) if !*seen => {
                    *seen = true;
                    node
                }
                Some((node, _)) => {
                    return Err(Error::file(pickle.file(), format!("node {node} is there twice")));
                }
                None => {
                    return Err(Error::file(
                        pickle.file(),
                        format!(
                            "{} is not a node: with {nodes} lists, they are 0 to {}",
                            shown(&key),
                            nodes.saturating_sub(1)
                        ),
                    ));
                }
            };
            let Value::List(neighbours) = value else {
                return Err(Error::file(
                    pickle.file(),
                    format!("node {node} has {} for its neighbours", value.kind()),
                ));
            };
            for neighbour in neighbours.iter() {
                let Some(other) = id(&neighbour) else {
                    return Err(Error::file(
                        pickle.file(),
                        format!(
                            "node {node} has neighbour {}, which is not a node: they are 0 to {}",
                            shown(&neighbour),
                            nodes.saturating_sub(1)
                        ),
                    ));
                };
                rows.push(node, other);
            }
            // A list that many nodes share costs a pickle nothing, but here
            // every node gets its own. In honest files an id takes two bytes.
            if rows.len() > pickle.size() {
                return Err(Error::OverLimit {
                    file: pickle.file().to_owned(),
                    what: "the number of neighbours",
                    limit: pickle.size() as u64,
                });
            }
        }
        Ok((nodes, rows))
    }

    /// The nodes that the rows of `tx` belong to.
    fn test_index(&self, first: usize, nodes: usize, expected: usize) -> Result<Vec<usize>> {
        let path = self.present("test.index")?;
        let file = File::open(&path).map_err(Error::io(&path))?;
        let mut lines = Lines::new(BufReader::new(file), &path, self.options.max_bytes);
        let mut seen = vec![false; nodes];
        let mut ids = Vec::new();
        while lines.advance()? {
            if lines.is_blank() {
                lines.only_blank_lines_left()?;
                break;
            }
            let field = lines.line().trim_ascii();
            let bound = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
            let id = lines.within(field, "test node", bound(first), bound(nodes) - 1)?;
            let id = usize::try_from(id).unwrap_or(usize::MAX);
            match seen.get_mut(id) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(lines.wrong(LineProblem::Syntax {
                        problem: format!("node {id} is listed twice"),
                    }));
                }
            }
            ids.push(id);
        }
        if ids.len() != expected {
            return Err(lines.wrong(LineProblem::LineCount {
                other: format!("{}.tx", self.stem),
                expected: expected as u64,
                found: ids.len() as u64,
            }));
        }
        Ok(ids)
    }
}

fn unexpected(pickle: &Pickle, expected: &str, found: &Value<'_>) -> Error {
    Error::file(
        pickle.file(),
        format!("expected {expected}, found {}", found.kind()),
    )
}
