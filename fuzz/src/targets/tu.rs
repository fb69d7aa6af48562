//! The TU layout, in a folder or a zip archive.

use std::path::Path;

use egg_graph::{Features, GraphDataset, ReadOptions, read_tu, write_tu};

use crate::dataset::{is_small, judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;

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

pub(super) const WORDS: &[&str] = &[
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

pub(super) fn run(input: &[u8]) -> Outcome {
    let options = options(input);
    let read = if input.starts_with(b"PK") {
        let path = FOLDER.with(|folder| folder.file("DS.zip", input));
        read_tu(&path, &options)
    } else {
        let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
        FOLDER.with(|folder| read_tu(folder.fill(&files), &options))
    };
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
    // A graph at the end without nodes is known by its target alone.
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
