//! The TU text layout, written.

use std::io::Write;
use std::path::Path;

use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::labels::Targets;

/// Writes a data set as TU text files `NAME_A.txt`, `NAME_graph_indicator.txt`
/// and so on into an existing folder, each file written atomically.
///
/// Features that are one-hot, with a one in the first and in the last column
/// somewhere, become node labels; others become node attributes. Classes are
/// written by their names where these are whole numbers, else by their numbers.
/// Edge weights have no place in this layout, nor have node labels and splits.
/// Reading the files back gives the same
/// [fingerprint](GraphDataset::fingerprint), unless there are node labels, sparse
/// features are not one-hot (they come back dense), or a graph at the end has no
/// nodes and there are no targets to count it.
///
/// # Errors
/// [`Error::Parameter`] if the name can't be part of a file name,
/// [`Error::Lacks`] for a class that is not known or for weighted edges,
/// [`Error::Io`].
///
/// ```
/// use egg_graph::{Graph, GraphDataset, ReadOptions, read_tu, write_tu};
///
/// let dataset = GraphDataset::single("PAIR", Graph::from_edges(2, &[(0, 1)])?);
/// let folder = tempfile::tempdir()?;
/// write_tu(folder.path(), &dataset)?;
/// let back = read_tu(folder.path(), &ReadOptions::default())?;
/// assert_eq!(back.fingerprint(), dataset.fingerprint());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_tu(folder: &Path, dataset: &GraphDataset) -> Result<()> {
    let name = dataset.name();
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', ':', '\0']) {
        return Err(Error::parameter(
            "name",
            name,
            "must be usable as the beginning of a file name",
        ));
    }
    let lacks = |what, remedy| Error::Lacks {
        dataset: name.to_owned(),
        what,
        remedy,
    };
    if dataset.edge_weights().is_some() {
        return Err(lacks(
            "place for edge weights in TU files",
            "write the weights as edge attributes",
        ));
    }
    let write = |part: &str, content: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        let path = folder.join(format!("{name}_{part}.txt"));
        egg_files::write_with(&path, |out| content(out)).map_err(Error::io(&path))
    };
    let store = dataset.store();

    match dataset.targets() {
        Some(Targets::Classes(labels)) => {
            if labels.known() < labels.len() {
                return Err(lacks("class for some of its graphs", "leave those graphs out"));
            }
            let numbers = labels.names().iter().all(|name| name.parse::<i64>().is_ok());
            write("graph_labels", &|out| {
                for class in labels.iter().flatten() {
                    match labels.names().get(class as usize).filter(|_| numbers) {
                        Some(name) => writeln!(out, "{name}")?,
                        None => writeln!(out, "{class}")?,
                    }
                }
                Ok(())
            })?;
        }
        Some(Targets::Values(values)) => {
            if values.iter().any(|value| value.is_nan()) {
                return Err(lacks("target for some of its graphs", "leave those graphs out"));
            }
            write("graph_attributes", &|out| {
                write_rows(out, values.rows().into_iter())
            })?;
        }
        None => {}
    }
    write("A", &|out| {
        for graph in 0..dataset.len() {
            let nodes = store.node_range(graph);
            for node in nodes.clone() {
                for id in &store.neighbours[store.offsets[node]..store.offsets[node + 1]] {
                    writeln!(out, "{}, {}", node + 1, nodes.start + *id as usize + 1)?;
                }
            }
        }
        Ok(())
    })?;
    if let Some(attributes) = dataset.edge_attributes() {
        write("edge_attributes", &|out| {
            write_rows(out, attributes.rows().into_iter())
        })?;
    }
    match one_hot_columns(dataset) {
        Some(columns) => write("node_labels", &|out| {
            columns.iter().try_for_each(|column| writeln!(out, "{column}"))
        })?,
        None if dataset.features().width() > 0 => {
            let dense = dataset.features().to_dense();
            write("node_attributes", &|out| {
                write_rows(out, dense.rows().into_iter())
            })?;
        }
        None => {}
    }
    // Last, since it is what makes a folder a TU data set.
    write("graph_indicator", &|out| {
        for graph in 0..dataset.len() {
            for _ in store.node_range(graph) {
                writeln!(out, "{}", graph + 1)?;
            }
        }
        Ok(())
    })
}

fn write_rows<'a>(
    out: &mut dyn Write,
    rows: impl Iterator<Item = ndarray::ArrayView1<'a, f32>>,
) -> std::io::Result<()> {
    for row in rows {
        for (column, value) in row.iter().enumerate() {
            let comma = if column == 0 { "" } else { ", " };
            // The shortest text that reads back as the same number.
            write!(out, "{comma}{value}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The column of each node's one, if the features are one-hot and a reader can
/// say how wide they are.
fn one_hot_columns(dataset: &GraphDataset) -> Option<Vec<u32>> {
    let matrix = dataset.features().as_sparse()?;
    let (rows, width) = matrix.shape();
    let one_each = matrix.offsets().windows(2).all(|row| row[1] - row[0] == 1);
    let columns = matrix.columns();
    let ends = columns.contains(&0) && columns.iter().any(|column| *column as usize + 1 == width);
    let ones = matrix.values().iter().all(|value| *value == 1.0);
    (rows > 0 && one_each && ones && ends).then(|| columns.to_vec())
}
