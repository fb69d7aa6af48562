//! The TU layout, in a folder or a zip archive.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use egg_graph::{Features, GraphDataset, Layout, ReadOptions, read_tu, write_tu};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::Target;
use super::reader::{NamedSeed, Reader};
use crate::dataset::{is_small, judge};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;
use crate::seeds::{Result, text};

const FILES: &[&str] = &[
    "DS_A.txt",
    "DS_graph_indicator.txt",
    "DS_graph_labels.txt",
    "DS_graph_attributes.txt",
    "DS_node_labels.txt",
    "DS_node_attributes.txt",
    "DS_edge_labels.txt",
    "DS_edge_attributes.txt",
];

pub(super) const TARGET: Target = Target {
    name: "tu",
    run,
    words: WORDS,
    reader: Some(READER),
};

const READER: Reader = Reader {
    layout: Layout::Tu,
    write,
    seeds,
};

const WORDS: &[&str] = &[
    "=== DS_A.txt\n",
    "=== DS_graph_indicator.txt\n",
    "=== DS_graph_labels.txt\n",
    "=== DS_graph_attributes.txt\n",
    "=== DS_node_labels.txt\n",
    "=== DS_node_attributes.txt\n",
    "=== DS_edge_labels.txt\n",
    "=== DS_edge_attributes.txt\n",
    "PK\u{3}\u{4}",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
    ", ",
    "\r\n",
    "\u{feff}",
];

thread_local! {
    static FOLDER: Folder = Folder::new("tu");
    static BACK: Folder = Folder::new("tu-back");
}

/// Puts the files of an input into a folder; an archive is one file.
fn write(input: &[u8]) -> PathBuf {
    if input.starts_with(b"PK") {
        return FOLDER.with(|folder| folder.file("DS.zip", input));
    }
    let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
    FOLDER.with(|folder| folder.fill(&files).to_owned())
}

fn run(input: &[u8]) -> Outcome {
    let read = READER.read(input);
    if let Ok(dataset) = &read
        && is_small(dataset)
    {
        BACK.with(|folder| comes_back(dataset, &folder.emptied("DS")));
    }
    judge(&read)
}

/// What the writer takes, the reader reads as the same.
fn comes_back(dataset: &GraphDataset, folder: &Path) {
    if write_tu(folder, dataset).is_err() {
        return;
    }
    let options = ReadOptions {
        self_loops: egg_graph::SelfLoops::Keep,
        ..ReadOptions::default()
    };
    // A last graph without nodes is known only by its target.
    let ends_empty = dataset
        .node_offsets()
        .last_chunk::<2>()
        .is_some_and(|[left, right]| left == right);
    match read_tu(folder, &options) {
        Ok(back) if !(ends_empty && dataset.targets().is_none()) => {
            // Sparse features that are not one-hot come back as a matrix.
            let dense = back.features().as_dense().and(dataset.features().as_sparse());
            let written = match dense.map(|matrix| Features::dense(matrix.to_dense())) {
                Some(features) => features.and_then(|features| dataset.clone().with_features(features)),
                None => Ok(dataset.clone()),
            };
            let written = written.unwrap_or_else(|error| panic!("not as a matrix: {error}"));
            assert_eq!(
                back.fingerprint(),
                written.fingerprint(),
                "written and read: {back:?}"
            );
        }
        Ok(_) => {}
        Err(error) => panic!("what was written can't be read: {error}"),
    }
}

fn seeds() -> Result<Vec<NamedSeed>> {
    let tu = text(&[
        ("DS_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n"),
        ("DS_graph_indicator.txt", "1\n1\n2\n2\n2\n"),
        ("DS_graph_labels.txt", "1\n-1\n"),
        ("DS_node_labels.txt", "0\n1\n1\n0\n4\n"),
        ("DS_node_attributes.txt", "0.5, 1\n1e-3, 2\n3, 3\n-4, 4\n5, 5\n"),
        ("DS_edge_labels.txt", "0\n0\n1\n1\n"),
        ("DS_edge_attributes.txt", "0.5\n0.5\n1.5\n1.5\n"),
    ]);
    let shuffled = text(&[
        ("DS_A.txt", "1, 3\n2,2\n"),
        ("DS_graph_indicator.txt", "2\n1\n2\n"),
        ("DS_graph_attributes.txt", "1.5, 2\n-1, 0\n"),
        ("DS_node_labels.txt", "1, 0\n2, 0\n3, 1\n"),
    ]);
    Ok(vec![
        ("two-graphs", tu),
        ("shuffled", shuffled),
        ("zip", archive()?),
    ])
}

fn archive() -> Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("DS/DS_A.txt", "1, 2\n"), ("DS/DS_graph_indicator.txt", "1\n1\n")] {
        writer.start_file(name, SimpleFileOptions::default())?;
        writer.write_all(content.as_bytes())?;
    }
    Ok(writer.finish()?.into_inner())
}
