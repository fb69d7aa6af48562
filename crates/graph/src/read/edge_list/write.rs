//! Writing what [`super::EdgeListSource`] reads.

use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::labels::Labels;

/// Writes the edges of a graph, each once, with its weight if there are weights,
/// and the number of nodes as a comment. The file is written atomically.
/// Features go into a file of their own, by [`crate::write_npy`], and labels by
/// [`write_labels`].
///
/// # Errors
/// [`crate::Error::Io`].
///
/// ```
/// use egg_graph::{EdgeListSource, Graph, ReadOptions, write_edge_list};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("path.csv");
/// let graph = Graph::from_edges(4, &[(0, 1), (1, 2)])?;
/// write_edge_list(&path, &graph)?;
/// let read = EdgeListSource::new(&path).read(&ReadOptions::default())?;
/// assert_eq!(read.dataset.graph(0)?.to_graph(), graph);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_edge_list(path: &Path, graph: &Graph) -> Result<()> {
    egg_files::write_with(path, |file| {
        writeln!(file, "# nodes: {}", graph.node_count())?;
        let weights = graph.edge_weights();
        let header = if weights.is_some() { ",weight" } else { "" };
        writeln!(file, "source,target{header}")?;
        for (node, &[start, end]) in graph.offsets().array_windows().enumerate() {
            let others = graph.entries().get(start..end).unwrap_or_default();
            for (entry, other) in (start..).zip(others) {
                let other = *other as usize;
                if other < node {
                    continue;
                }
                match weights.and_then(|weights| weights.get(entry)) {
                    // The shortest notation that reads back as the same number.
                    Some(weight) => writeln!(file, "{node},{other},{weight}")?,
                    None => writeln!(file, "{node},{other}")?,
                }
            }
        }
        Ok(())
    })
    .map_err(Error::io(path))
}

/// Writes labels, one per line under a header, by the names of their classes;
/// an unknown label is an empty one in quotes.
///
/// Classes are numbered anew when they are read, in the order of their names;
/// names must not span lines.
///
/// # Errors
/// [`crate::Error::Io`].
///
/// ```
/// use egg_graph::{EdgeListSource, Graph, Labels, ReadOptions, write_edge_list, write_labels};
/// let folder = tempfile::tempdir()?;
/// let (edges, labels) = (folder.path().join("edges.csv"), folder.path().join("labels.csv"));
/// let graph = Graph::from_edges(2, &[(0, 1)])?.with_node_labels(Labels::from_values(&[10, -3]))?;
/// write_edge_list(&edges, &graph)?;
/// write_labels(&labels, graph.node_labels().unwrap())?;
/// let read = EdgeListSource::new(&edges).labels(&labels).read(&ReadOptions::default())?;
/// assert_eq!(read.dataset.node_labels(), graph.node_labels());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_labels(path: &Path, labels: &Labels) -> Result<()> {
    egg_files::write_with(path, |file| {
        writeln!(file, "label")?;
        for class in labels.iter() {
            let name = class.and_then(|class| labels.names().get(class as usize));
            let name = name.map_or("", String::as_str);
            if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                writeln!(file, "{name}")?;
            } else {
                writeln!(file, "\"{}\"", name.replace('"', "\"\""))?;
            }
        }
        Ok(())
    })
    .map_err(Error::io(path))
}
