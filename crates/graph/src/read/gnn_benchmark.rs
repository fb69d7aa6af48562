//! The gnn-benchmark layout: one graph in an `.npz` archive.

use std::path::Path;

use super::csr::CsrParts;
use super::npz::Npz;
use super::options::ReadOptions;
use super::reader::Reader;
use crate::adjacency::{EdgeRows, MAX_NODES};
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::Labels;
use crate::load::DataSource;
use crate::sparse::CsrMatrix;

/// Reads a graph of the gnn-benchmark collection (Coauthor, Amazon, ...).
///
/// The archive has the adjacency as compressed rows (`adj_data`, `adj_indices`,
/// `adj_indptr`, `adj_shape`), the features likewise (`attr_...`) or as a
/// matrix (`attr_matrix`) or not at all, and perhaps `labels`. A stored entry
/// of the adjacency is an edge, whatever its value, and edges in one direction
/// are mirrored; [`GraphDataset::notes`] counts them. Names of nodes, features
/// and classes are not read: some are pickled objects.
///
/// # Errors
/// [`Error::File`] if the archive is damaged, lacks an array, or arrays
/// contradict each other, [`Error::Binary`] for one that is not sound,
/// [`Error::OverLimit`] if it unpacks to more than
/// [`ReadOptions::max_bytes`], [`Error::Io`].
///
/// ```no_run
/// use egg_graph::{ReadOptions, read_gnn_benchmark};
/// let coauthor = read_gnn_benchmark("ms_academic_cs.npz".as_ref(), &ReadOptions::default())?;
/// assert_eq!(coauthor.edge_count(), 81_894);
/// # Ok::<(), egg_graph::Error>(())
/// ```
pub fn read_gnn_benchmark(path: &Path, options: &ReadOptions) -> Result<GraphDataset> {
    let mut archive = Npz::open(path, options)?;
    let adjacency = csr(&mut archive, "adj", path)?;
    let (nodes, columns) = adjacency.shape();
    if nodes != columns {
        return Err(Error::file(
            path,
            format!("the adjacency is {nodes} x {columns}, not square"),
        ));
    }
    if nodes > MAX_NODES {
        return Err(Error::TooManyNodes { nodes: nodes as u64 });
    }
    let mut rows = EdgeRows::default();
    for (node, &[start, end]) in (0u32..).zip(adjacency.offsets().array_windows()) {
        for neighbour in adjacency.columns().get(start..end).unwrap_or_default() {
            rows.push(node, *neighbour);
        }
    }
    drop(adjacency);
    let built = rows.into_adjacency(nodes, options.self_loops, false);
    let mut graph = Graph::from_built(built.adjacency);

    let misfit = |error: Error| Error::file(path, error.to_string());
    if archive.contains("attr_data") {
        let features = Features::sparse(csr(&mut archive, "attr", path)?);
        graph = graph.with_features(features).map_err(misfit)?;
    } else if archive.contains("attr_matrix") {
        let features = Features::dense(archive.array("attr_matrix")?.to_matrix()?).map_err(misfit)?;
        graph = graph.with_features(features).map_err(misfit)?;
    }
    if archive.contains("labels") {
        let labels = Labels::from_values(&archive.array("labels")?.to_integers()?);
        graph = graph.with_node_labels(labels).map_err(misfit)?;
    }
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(GraphDataset::single(name.unwrap_or_default(), graph).with_notes(built.notes))
}

pub(crate) struct GnnBenchmarkReader;

impl Reader for GnnBenchmarkReader {
    fn name(&self) -> &'static str {
        "gnn-benchmark"
    }

    fn title(&self) -> &'static str {
        "gnn-benchmark"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["npz"]
    }

    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset> {
        read_gnn_benchmark(&source.path, options)
    }
}

fn csr(archive: &mut Npz, prefix: &str, path: &Path) -> Result<CsrMatrix> {
    let parts = CsrParts {
        shape: archive.array(&format!("{prefix}_shape"))?.to_integers()?,
        offsets: archive.array(&format!("{prefix}_indptr"))?.to_integers()?,
        columns: archive.array(&format!("{prefix}_indices"))?.to_integers()?,
        values: archive.array(&format!("{prefix}_data"))?.to_floats()?,
    };
    parts.into_matrix(&path.join(format!("{prefix}_data.npy")))
}
