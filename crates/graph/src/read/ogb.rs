//! The raw layout of the Open Graph Benchmark: tables of numbers, gzipped.
//!
//! `raw/num-node-list` and `raw/num-edge-list` say how many rows of the other
//! tables belong to each graph; ids in `raw/edge` are local to the graph, and
//! an edge is listed in one direction.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use ndarray::Array2;

use super::csr::plausible;
use super::options::ReadOptions;
use super::reader::{Folder, Reader, files_in};
use super::source::folder_names;
use super::text::{Lines, parse_integer};
use crate::adjacency::{EdgeRows, MAX_NODES};
use crate::dataset::GraphDataset;
use crate::error::{Error, LineProblem, Result};
use crate::features::Features;
use crate::labels::{Labels, Targets};
use crate::load::DataSource;
use crate::split::Split;
use crate::store::Store;

/// Reads a data set for graph prediction in the raw layout of the Open Graph
/// Benchmark, such as ogbg-molhiv. The tables may be `.csv.gz` or `.csv`.
///
/// Node features become dense features, edge features edge attributes, the same
/// in both directions; of an edge that is listed twice, the first row counts.
/// One column of whole numbers as labels becomes classes; several columns,
/// fractions, or labels that are missing become values, NaN where missing. The
/// split is that in `split/scaffold`, or else in the first folder of `split`.
///
/// # Errors
/// [`Error::Missing`] if a table that is needed is not there, [`Error::Line`]
/// for a line that makes no sense or is one too many or too few,
/// [`Error::File`] if tables contradict each other, [`Error::OverLimit`] if one
/// unpacks to more than [`ReadOptions::max_bytes`], [`Error::Inflated`] if to far
/// more than it has, [`Error::Io`] also for a damaged gzip file.
///
/// ```no_run
/// use egg_graph::{ReadOptions, read_ogb};
/// let molhiv = read_ogb("datasets/ogbg_molhiv".as_ref(), &ReadOptions::default())?;
/// assert_eq!(molhiv.len(), 41_127);
/// # Ok::<(), egg_graph::Error>(())
/// ```
pub fn read_ogb(folder: &Path, options: &ReadOptions) -> Result<GraphDataset> {
    let raw = folder.join("raw");
    let most_nodes = i64::try_from(MAX_NODES).unwrap_or(i64::MAX);
    let node_counts = counts(
        needed(&raw, "num-node-list")?,
        "number of nodes",
        most_nodes,
        options,
    )?;
    let edge_counts = counts(
        needed(&raw, "num-edge-list")?,
        "number of edges",
        u32::MAX.into(),
        options,
    )?;
    if node_counts.is_empty() || node_counts.len() != edge_counts.len() {
        return Err(Error::file(
            &raw,
            format!(
                "num-node-list lists {} graphs, num-edge-list {}",
                node_counts.len(),
                edge_counts.len()
            ),
        ));
    }
    let nodes: u64 = node_counts.iter().map(|count| *count as u64).sum();
    if nodes > MAX_NODES as u64 {
        return Err(Error::TooManyNodes { nodes });
    }

    let edge_table = needed(&raw, "edge")?;
    let (rows, starts) = edges(edge_table.clone(), &node_counts, &edge_counts, options)?;
    let listed = rows.len();
    let nodes = starts.last().copied().unwrap_or(0);
    let features = match table(&raw, "node-feat") {
        Some(path) => Some(matrix(path, "num-node-list", nodes, options)?),
        None => {
            plausible(&edge_table, "the number of nodes", nodes as u64, listed)?;
            None
        }
    };
    let attributes = match table(&raw, "edge-feat") {
        Some(path) => Some(matrix(path, "num-edge-list", listed, options)?),
        None => None,
    };

    let mut built = rows.into_adjacency(nodes, options.self_loops, attributes.is_some());
    built.adjacency.count_within(&starts);
    let mut store = Store::bare(starts, built.adjacency.offsets, built.adjacency.neighbours);
    if let Some(features) = features {
        store.features = Features::dense(features)?;
    }
    if let Some(attributes) = attributes {
        let order: Vec<usize> = built.rows.iter().map(|row| *row as usize).collect();
        store.attributes = Some(attributes.select(ndarray::Axis(0), &order));
    }
    let name = folder
        .canonicalize()
        .ok()
        .and_then(|folder| folder.file_name().map(|name| name.to_string_lossy().into_owned()));
    let mut dataset = GraphDataset::from_store(name.unwrap_or_default(), store)?.with_notes(built.notes);
    if let Some(path) = table(&raw, "graph-label") {
        dataset = dataset.with_targets(targets(path, node_counts.len(), options)?)?;
    }
    if let Some((folder, split)) = read_split(folder, node_counts.len(), options)? {
        dataset = dataset
            .with_split(split)
            .map_err(|error| Error::file(&folder, error.to_string()))?;
    }
    Ok(dataset)
}

pub(crate) struct OgbReader;

impl Reader for OgbReader {
    fn name(&self) -> &'static str {
        "ogb"
    }

    fn title(&self) -> &'static str {
        "OGB"
    }

    fn folder_sign(&self) -> Option<&'static str> {
        Some("raw/")
    }

    fn recognise(&self, folder: &Folder<'_>) -> Result<Option<String>> {
        let found = folder.path.join("raw").is_dir();
        Ok(found.then(|| folder.name.to_owned()))
    }

    fn files(&self, source: &DataSource) -> Result<Vec<PathBuf>> {
        let mut files = files_in(&source.path.join("raw"), |_| true)?;
        let splits = source.path.join("split");
        if splits.is_dir() {
            for split in folder_names(&splits)? {
                files.extend(files_in(&splits.join(split), |_| true)?);
            }
        }
        Ok(files)
    }

    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset> {
        read_ogb(&source.path, options)
    }
}

/// The path of a table, packed or not, if it exists.
fn table(folder: &Path, name: &str) -> Option<PathBuf> {
    ["csv.gz", "csv"]
        .into_iter()
        .map(|suffix| folder.join(format!("{name}.{suffix}")))
        .find(|path| path.is_file())
}

fn needed(folder: &Path, name: &str) -> Result<PathBuf> {
    table(folder, name).ok_or_else(|| Error::Missing {
        file: folder.join(format!("{name}.csv.gz")),
        why: "the OGB layout needs raw/num-node-list, raw/num-edge-list and raw/edge, as .csv.gz or .csv",
    })
}

type Table = Lines<Box<dyn BufRead>>;

fn open(path: PathBuf, options: &ReadOptions) -> Result<Table> {
    let file = File::open(&path).map_err(Error::io(&path))?;
    if path.extension().is_none_or(|extension| extension != "gz") {
        let input: Box<dyn BufRead> = Box::new(BufReader::with_capacity(1 << 16, file));
        return Ok(Lines::new(input, path, options.max_bytes));
    }
    let packed = file.metadata().map_err(Error::io(&path))?.len();
    let input: Box<dyn BufRead> = Box::new(BufReader::with_capacity(
        1 << 16,
        Gzip {
            input: MultiGzDecoder::new(BufReader::new(file)),
            unpacked: 0,
        },
    ));
    Ok(Lines::unpacked(input, path, options.max_bytes, packed))
}

/// Says where a gzip file is damaged.
struct Gzip<R> {
    input: R,
    unpacked: u64,
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(
                kind,
                format!(
                    "the gzip data are damaged or cut short after {} unpacked bytes: {error}",
                    self.unpacked
                ),
            ),
        })?;
        self.unpacked += read as u64;
        Ok(read)
    }
}

/// Moves to the next row; blank lines are allowed at the end only.
fn next(lines: &mut Table) -> Result<bool> {
    if !lines.advance()? {
        return Ok(false);
    }
    if lines.is_blank() {
        lines.only_blank_lines_left()?;
        return Ok(false);
    }
    Ok(true)
}

/// The fields of the current row, which must be `N`.
fn fields<const N: usize>(lines: &Table) -> Result<[&[u8]; N]> {
    let mut found = 0;
    let mut fields = [&[][..]; N];
    for field in lines.fields() {
        if let Some(place) = fields.get_mut(found) {
            *place = field;
        }
        found += 1;
    }
    if found == N {
        return Ok(fields);
    }
    Err(lines.wrong(LineProblem::FieldCount { expected: N, found }))
}

/// The number of rows is not what another table says.
fn miscounted(lines: &Table, other: &str, expected: usize, found: usize) -> Error {
    lines.wrong(LineProblem::LineCount {
        other: other.to_owned(),
        expected: expected as u64,
        found: found as u64,
    })
}

fn counts(path: PathBuf, what: &'static str, most: i64, options: &ReadOptions) -> Result<Vec<usize>> {
    let mut lines = open(path, options)?;
    let mut counts = Vec::new();
    while next(&mut lines)? {
        let [field] = fields(&lines)?;
        let count = lines.within(field, what, 0, most)?;
        counts.push(usize::try_from(count).unwrap_or(usize::MAX));
    }
    Ok(counts)
}

/// All edges with ids that are global, and where each graph's nodes begin.
fn edges(
    path: PathBuf,
    node_counts: &[usize],
    edge_counts: &[usize],
    options: &ReadOptions,
) -> Result<(EdgeRows, Vec<usize>)> {
    let expected = edge_counts
        .iter()
        .fold(0usize, |sum, count| sum.saturating_add(*count));
    if u32::try_from(expected).is_err() {
        return Err(Error::file(
            &path,
            format!("{expected} edges: fewer than 2^32 are read"),
        ));
    }
    let mut lines = open(path, options)?;
    let mut rows = EdgeRows::default();
    let mut starts = vec![0];
    let mut start = 0;
    for (nodes, edges) in node_counts.iter().zip(edge_counts) {
        let last = i64::try_from(*nodes).unwrap_or(i64::MAX) - 1;
        let global = |lines: &Table, field: &[u8]| {
            let id = lines.within(field, "node id", 0, last)?;
            // Below MAX_NODES, as the sum of the counts was.
            Ok::<u32, Error>(u32::try_from(id).unwrap_or(u32::MAX).saturating_add(start))
        };
        for _ in 0..*edges {
            if !next(&mut lines)? {
                return Err(miscounted(&lines, "num-edge-list", expected, rows.len()));
            }
            let [source, target] = fields(&lines)?;
            let (source, target) = (global(&lines, source)?, global(&lines, target)?);
            rows.push(source, target);
        }
        start = start.saturating_add(u32::try_from(*nodes).unwrap_or(u32::MAX));
        starts.push(start as usize);
    }
    if next(&mut lines)? {
        return Err(miscounted(&lines, "num-edge-list", expected, rows.len() + 1));
    }
    Ok((rows, starts))
}

/// A table of finite numbers with as many rows as another table says.
fn matrix(path: PathBuf, other: &'static str, expected: usize, options: &ReadOptions) -> Result<Array2<f32>> {
    rows(&mut open(path, options)?, other, expected, number)
}

/// As many rows of the same length as another table says, each field read by `read`.
fn rows(
    lines: &mut Table,
    other: &'static str,
    expected: usize,
    mut read: impl FnMut(&Table, &[u8]) -> Result<f32>,
) -> Result<Array2<f32>> {
    let mut values: Vec<f32> = Vec::new();
    let (mut rows, mut width) = (0, 0);
    while next(lines)? {
        if rows == expected {
            return Err(miscounted(lines, other, expected, rows + 1));
        }
        let before = values.len();
        for field in lines.fields() {
            values.push(read(lines, field)?);
        }
        let found = values.len() - before;
        if rows == 0 {
            width = found;
        } else if found != width {
            return Err(lines.wrong(LineProblem::FieldCount {
                expected: width,
                found,
            }));
        }
        rows += 1;
    }
    if rows != expected {
        return Err(miscounted(lines, other, expected, rows));
    }
    Array2::from_shape_vec((rows, width), values)
        .map_err(|error| Error::file(lines.file(), error.to_string()))
}

/// Most fields are one digit or two.
fn number(lines: &Table, field: &[u8]) -> Result<f32> {
    match field {
        [digit @ b'0'..=b'9'] => Ok(f32::from(digit - b'0')),
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Ok(f32::from((tens - b'0') * 10 + (ones - b'0'))),
        _ => lines.float(field),
    }
}

fn targets(path: PathBuf, graphs: usize, options: &ReadOptions) -> Result<Targets> {
    let mut classes = Some(Vec::new());
    let values = rows(
        &mut open(path, options)?,
        "num-node-list",
        graphs,
        |lines, field| {
            match (parse_integer(field), &mut classes) {
                (Some(class), Some(classes)) => classes.push(class),
                _ => classes = None,
            }
            let missing = field.is_empty() || field == b"\"\"" || field.eq_ignore_ascii_case(b"nan");
            if missing { Ok(f32::NAN) } else { lines.float(field) }
        },
    )?;
    Ok(match classes {
        Some(classes) if values.ncols() == 1 => Targets::Classes(Labels::from_values(&classes)),
        _ => Targets::Values(values),
    })
}

/// The split and the folder it came from, if there is any.
fn read_split(folder: &Path, graphs: usize, options: &ReadOptions) -> Result<Option<(PathBuf, Split)>> {
    let splits = folder.join("split");
    if !splits.is_dir() {
        return Ok(None);
    }
    let mut folders = Vec::new();
    for entry in fs::read_dir(&splits).map_err(Error::io(&splits))? {
        let path = entry.map_err(Error::io(&splits))?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    let scaffold = splits.join("scaffold");
    let chosen = if folders.contains(&scaffold) {
        scaffold
    } else if folders.is_empty() {
        return Ok(None);
    } else {
        folders.swap_remove(0)
    };
    let most = i64::try_from(graphs).unwrap_or(i64::MAX) - 1;
    let part = |name: &str| -> Result<Vec<usize>> {
        let path = table(&chosen, name).ok_or_else(|| Error::Missing {
            file: chosen.join(format!("{name}.csv.gz")),
            why: "a split is the tables train, valid and test, as .csv.gz or .csv",
        })?;
        counts(path, "graph", most, options)
    };
    let split = Split {
        train: part("train")?,
        validation: part("valid")?,
        test: part("test")?,
    };
    Ok(Some((chosen, split)))
}
