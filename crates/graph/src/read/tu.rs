//! The text layout of the TU collection: `DS_A.txt`, `DS_graph_indicator.txt`
//! and their companion files, in a folder or a zip archive.

mod features;

use std::io::BufRead;
use std::path::{Path, PathBuf};

use ndarray::Array2;

use crate::adjacency::{EdgeRows, MAX_NODES, accumulate};
use crate::dataset::GraphDataset;
use crate::error::{Error, LineProblem, Result};
use crate::labels::{Labels, Targets};
use crate::load::DataSource;
use crate::read::options::ReadOptions;
use crate::read::reader::{Folder, Reader, files_in};
use crate::read::source::Source;
use crate::read::text::{Lines, parse_integer};
use crate::store::Store;

/// Reads a data set of the TU collection from a folder or a zip archive.
///
/// Classes are numbered from 0 in ascending order of the labels in the file.
/// Node labels become one-hot features, as wide as the range of labels, as in
/// PyTorch Geometric (DD: labels 1 to 89, so 89 columns, although 82 occur);
/// attributes are used as [`ReadOptions::node_features`] says. Edge attributes
/// and edge labels (as numbers) become edge attributes, in this order. Without
/// `DS_graph_labels.txt`, the numbers in `DS_graph_attributes.txt` are the
/// targets. Edges are listed in both directions or one; of several rows of an
/// edge the first one's labels and attributes count; nodes of a graph need not be neighbours in the file.
///
/// # Errors
/// [`Error::Line`] with file and line for anything that is not as it should be,
/// [`Error::Missing`] if the edge list or the indicator is not there.
///
/// ```
/// use egg_graph::{ReadOptions, read_tu};
///
/// let folder = tempfile::tempdir()?;
/// for (name, text) in [
///     ("A", "1, 2\n2, 1\n3,4\n"),
///     ("graph_indicator", "1\n1\n2\n2\n2\n"),
///     ("graph_labels", "1\n-1\n"),
///     ("node_labels", "5\n5\n6\n5\n7\n"),
/// ] {
///     std::fs::write(folder.path().join(format!("TINY_{name}.txt")), text)?;
/// }
/// let dataset = read_tu(folder.path(), &ReadOptions::default())?;
/// assert_eq!((dataset.name(), dataset.len(), dataset.edge_count()), ("TINY", 2, 2));
/// assert_eq!(dataset.features().width(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_tu(path: &Path, options: &ReadOptions) -> Result<GraphDataset> {
    let mut files = Files::open(path, options)?;
    let nodes = Nodes::read(&mut files)?;
    let targets = read_targets(&mut files, &nodes)?;

    let (rows, described) = read_edges(&mut files, &nodes)?;
    let edge_values = read_edge_values(&mut files, rows.len(), &described)?;
    let mut built = rows.into_adjacency(nodes.count(), options.self_loops, edge_values.is_some());
    built.adjacency.count_within(&nodes.offsets);

    let node_data = features::read(&mut files, &nodes)?;
    let mut store = Store::bare(nodes.offsets, built.adjacency.offsets, built.adjacency.neighbours);
    store.features = node_data.features;
    if let Some(values) = edge_values {
        let width = values.ncols();
        let mirrored = built
            .rows
            .iter()
            .flat_map(|row| values.row(*row as usize))
            .copied()
            .collect();
        store.attributes = Array2::from_shape_vec((built.rows.len(), width), mirrored).ok();
    }
    let mut dataset = GraphDataset::from_store(files.name.clone(), store)?
        .with_notes(built.notes)
        .with_reading(node_data.notes);
    if !node_data.columns.is_empty() {
        dataset = dataset.with_feature_columns(node_data.columns)?;
    }
    match targets {
        Some(targets) => dataset.with_targets(targets),
        None => Ok(dataset),
    }
}

pub(crate) struct TuReader;

impl Reader for TuReader {
    fn name(&self) -> &'static str {
        "tu"
    }

    fn title(&self) -> &'static str {
        "TU"
    }

    fn folder_sign(&self) -> Option<&'static str> {
        Some("*_graph_indicator.txt")
    }

    fn recognise(&self, folder: &Folder<'_>) -> Result<Option<String>> {
        Ok(folder.stems("", "_graph_indicator.txt").last().map(str::to_owned))
    }

    fn endings(&self) -> &'static [&'static str] {
        &["zip"]
    }

    fn files(&self, source: &DataSource) -> Result<Vec<PathBuf>> {
        match source.path.is_dir() {
            true => files_in(&source.path, |name| name.ends_with(".txt")),
            false => Ok(vec![source.path.clone()]),
        }
    }

    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset> {
        read_tu(&source.path, options)
    }
}

/// The files of one data set.
struct Files<'a> {
    source: Source,
    options: &'a ReadOptions,
    /// The data set's name.
    name: String,
    /// What stands before `_A.txt`, folder in an archive included.
    stem: String,
}

impl<'a> Files<'a> {
    fn open(path: &Path, options: &'a ReadOptions) -> Result<Self> {
        let source = Source::open(path)?;
        let stems: Vec<&str> = source
            .names()
            .iter()
            .filter_map(|name| name.strip_suffix("_graph_indicator.txt"))
            .collect();
        let stem = match stems.as_slice() {
            [stem] => (*stem).to_owned(),
            [] => {
                return Err(Error::Missing {
                    file: path.join("*_graph_indicator.txt"),
                    why: "it says which graph each node belongs to; is this a TU data set?",
                });
            }
            several => {
                return Err(Error::file(
                    path,
                    format!(
                        "holds several data sets ({}); give each its own folder",
                        several.join(", ")
                    ),
                ));
            }
        };
        let name = stem.rsplit(['/', '\\']).next().unwrap_or(&stem).to_owned();
        Ok(Self {
            source,
            options,
            name,
            stem,
        })
    }

    fn lines(&mut self, part: &str) -> Result<Option<Lines<Box<dyn BufRead + '_>>>> {
        let name = format!("{}_{part}.txt", self.stem);
        self.source.lines(&name, self.options.max_bytes)
    }

    fn needed(&mut self, part: &str, why: &'static str) -> Result<Lines<Box<dyn BufRead + '_>>> {
        let file = self.source.describe(&format!("{}_{part}.txt", self.stem));
        self.lines(part)?.ok_or(Error::Missing { file, why })
    }
}

/// Which graph each node belongs to, and where it stands there.
struct Nodes {
    /// Zero-based graph of each node, in file order.
    graph_of: Vec<u32>,
    /// Where each graph's nodes begin once sorted by graph, and the end.
    offsets: Vec<usize>,
    /// Sorted position of each node; empty if the file is sorted already.
    position: Vec<u32>,
    /// The indicator's file name, for messages.
    file: String,
}

impl Nodes {
    fn read(files: &mut Files<'_>) -> Result<Self> {
        let graphs = count_graphs(files)?;
        let mut lines = files.needed("graph_indicator", "it says which graph each node belongs to")?;
        let most = graphs.unwrap_or(MAX_NODES);
        let mut graph_of: Vec<u32> = Vec::new();
        let (mut largest, mut largest_at) = (0, 0);
        let mut sorted = true;
        for_each_line(&mut lines, |lines| {
            let id = lines.within(single_field(lines)?, "graph id", 1, as_i64(most))?;
            if graph_of.len() == MAX_NODES {
                return Err(Error::TooManyNodes {
                    nodes: MAX_NODES as u64 + 1,
                });
            }
            let graph = u32::try_from(id - 1).unwrap_or(u32::MAX);
            sorted &= graph_of.last().is_none_or(|last| *last <= graph);
            if id > largest {
                (largest, largest_at) = (id, lines.number());
            }
            graph_of.push(graph);
            Ok(())
        })?;
        // Without a list of graphs only the ids say how many there are; one
        // that skips ahead by more than all nodes is a mistake.
        let count = graphs.unwrap_or(usize::try_from(largest).unwrap_or(usize::MAX));
        if graphs.is_none() && count > graph_of.len() {
            return Err(Error::Line {
                file: lines.file().to_owned(),
                line: largest_at,
                problem: LineProblem::OutOfRange {
                    what: "graph id (at most the number of nodes)",
                    value: largest.to_string(),
                    least: 1,
                    most: as_i64(graph_of.len()),
                },
            });
        }
        if graph_of.is_empty() {
            return Err(Error::file(lines.file(), "is empty: there are no nodes"));
        }
        let mut offsets = vec![0usize; count + 1];
        for graph in &graph_of {
            #[expect(clippy::indexing_slicing, reason = "no id is above `count`")]
            {
                offsets[*graph as usize + 1] += 1;
            }
        }
        accumulate(&mut offsets);
        let mut position = Vec::new();
        if !sorted {
            let mut cursors = offsets.clone();
            position = graph_of
                .iter()
                .map(|graph| {
                    #[expect(clippy::indexing_slicing, reason = "as above")]
                    let cursor = &mut cursors[*graph as usize];
                    *cursor += 1;
                    u32::try_from(*cursor - 1).unwrap_or(u32::MAX)
                })
                .collect();
        }
        let file = lines.file().display().to_string();
        Ok(Self {
            graph_of,
            offsets,
            position,
            file,
        })
    }

    fn count(&self) -> usize {
        self.graph_of.len()
    }

    /// The sorted position of a node, by its zero-based number in the file.
    fn position(&self, node: u32) -> u32 {
        self.position.get(node as usize).copied().unwrap_or(node)
    }

    /// Puts rows that are in file order into sorted order.
    fn sort_rows<T: Copy>(&self, rows: Vec<T>, width: usize) -> Vec<T> {
        if self.position.is_empty() || width == 0 {
            return rows;
        }
        let mut sorted = rows.clone();
        for (row, position) in rows.chunks_exact(width).zip(&self.position) {
            let at = *position as usize * width;
            if let Some(place) = sorted.get_mut(at..at + width) {
                place.copy_from_slice(row);
            }
        }
        sorted
    }
}

/// How many graphs the label or attribute file lists.
fn count_graphs(files: &mut Files<'_>) -> Result<Option<usize>> {
    for part in ["graph_labels", "graph_attributes"] {
        if let Some(mut lines) = files.lines(part)? {
            let mut count = 0;
            for_each_line(&mut lines, |_| {
                count += 1;
                Ok(())
            })?;
            return Ok(Some(count));
        }
    }
    Ok(None)
}

fn read_targets(files: &mut Files<'_>, nodes: &Nodes) -> Result<Option<Targets>> {
    if let Some(mut lines) = files.lines("graph_labels")? {
        let mut values = Vec::with_capacity(nodes.offsets.len() - 1);
        for_each_line(&mut lines, |lines| {
            values.push(lines.integer(single_field(lines)?)?);
            Ok(())
        })?;
        return Ok(Some(Targets::Classes(Labels::from_values(&values))));
    }
    let Some(lines) = files.lines("graph_attributes")? else {
        return Ok(None);
    };
    let values = read_floats(lines, nodes.offsets.len() - 1, &nodes.file)?;
    Ok(Some(Targets::Values(values)))
}

/// The edge list as pairs of sorted positions, and its name.
fn read_edges(files: &mut Files<'_>, nodes: &Nodes) -> Result<(EdgeRows, String)> {
    let mut lines = files.needed("A", "it lists the edges")?;
    let most = as_i64(nodes.count());
    let mut rows = EdgeRows::default();
    for_each_line(&mut lines, |lines| {
        let (source, target) = match edge(lines.line(), most) {
            Some(pair) => pair,
            None => return Err(bad_edge(lines, most)),
        };
        #[expect(clippy::indexing_slicing, reason = "`edge` gives ids of nodes only")]
        let (left, right) = (nodes.graph_of[source as usize], nodes.graph_of[target as usize]);
        if left != right {
            return Err(lines.wrong(LineProblem::AcrossGraphs {
                left: u64::from(source) + 1,
                left_graph: u64::from(left) + 1,
                right: u64::from(target) + 1,
                right_graph: u64::from(right) + 1,
            }));
        }
        rows.push(nodes.position(source), nodes.position(target));
        Ok(())
    })?;
    Ok((rows, lines.file().display().to_string()))
}

/// Two one-based ids up to `most`, as zero-based ones.
fn edge(line: &[u8], most: i64) -> Option<(u32, u32)> {
    let comma = memchr::memchr(b',', line)?;
    let id = |field: &[u8]| {
        let id = parse_integer(field.trim_ascii())?;
        (1..=most)
            .contains(&id)
            .then(|| u32::try_from(id - 1).ok())
            .flatten()
    };
    let (source, target) = line.split_at_checked(comma)?;
    Some((id(source)?, id(target.get(1..)?)?))
}

/// What exactly is wrong with a line that [`edge`] did not take.
fn bad_edge<R: BufRead>(lines: &Lines<R>, most: i64) -> Error {
    let fields: Vec<&[u8]> = lines.fields().collect();
    if fields.len() != 2 {
        return lines.wrong(LineProblem::FieldCount {
            expected: 2,
            found: fields.len(),
        });
    }
    let wrong = fields
        .iter()
        .find_map(|field| lines.within(field, "node id", 1, most).err());
    wrong.unwrap_or_else(|| lines.wrong(LineProblem::Blank))
}

/// Edge attributes and edge labels side by side, one row per listed edge.
fn read_edge_values(files: &mut Files<'_>, edges: usize, edge_file: &str) -> Result<Option<Array2<f32>>> {
    let mut joined: Option<Array2<f32>> = None;
    for part in ["edge_attributes", "edge_labels"] {
        let Some(lines) = files.lines(part)? else {
            continue;
        };
        if u32::try_from(edges).is_err() {
            return Err(Error::OverLimit {
                file: lines.file().to_owned(),
                what: "the number of edges with attributes",
                limit: u64::from(u32::MAX),
            });
        }
        let values = read_floats(lines, edges, edge_file)?;
        joined = Some(match joined {
            None => values,
            Some(left) => ndarray::concatenate![ndarray::Axis(1), left, values],
        });
    }
    Ok(joined)
}

/// A table of numbers with a known number of rows.
fn read_floats<R: BufRead>(mut lines: Lines<R>, rows: usize, other: &str) -> Result<Array2<f32>> {
    let mut values = Vec::new();
    let mut width = None;
    for_each_line(&mut lines, |lines| {
        let before = values.len();
        for field in lines.fields() {
            values.push(lines.float(field)?);
        }
        check_width(lines, &mut width, values.len() - before)
    })?;
    let width = width.unwrap_or(0);
    check_count(&lines, rows, values.len().checked_div(width).unwrap_or(0), other)?;
    Array2::from_shape_vec((rows, width), values)
        .map_err(|_| Error::file(lines.file(), "does not hold one number per field"))
}

/// Calls `work` at every line. Blank lines may stand only at the end.
fn for_each_line<R: BufRead>(
    lines: &mut Lines<R>,
    mut work: impl FnMut(&Lines<R>) -> Result<()>,
) -> Result<()> {
    while lines.advance()? {
        if lines.is_blank() {
            return lines.only_blank_lines_left();
        }
        work(lines)?;
    }
    Ok(())
}

fn single_field<R: BufRead>(lines: &Lines<R>) -> Result<&[u8]> {
    let line = lines.line();
    match memchr::memchr(b',', line) {
        None => Ok(line.trim_ascii()),
        Some(_) => Err(lines.wrong(LineProblem::FieldCount {
            expected: 1,
            found: lines.fields().count(),
        })),
    }
}

fn check_width<R: BufRead>(lines: &Lines<R>, width: &mut Option<usize>, found: usize) -> Result<()> {
    let expected = *width.get_or_insert(found);
    if found == expected {
        return Ok(());
    }
    Err(lines.wrong(LineProblem::FieldCount { expected, found }))
}

fn check_count<R: BufRead>(lines: &Lines<R>, expected: usize, found: usize, other: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(lines.wrong(LineProblem::LineCount {
        other: other.to_owned(),
        expected: expected as u64,
        found: found as u64,
    }))
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
