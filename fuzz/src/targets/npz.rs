//! The gnn-benchmark layout: `.npy` files in a zip archive.

use std::io::{Cursor, Write};

use egg_graph::{Npz, read_gnn_benchmark};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::dataset::{judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;

const FILES: &[&str] = &[
    "adj_data.npy",
    "adj_indices.npy",
    "adj_indptr.npy",
    "adj_shape.npy",
    "attr_data.npy",
    "attr_indices.npy",
    "attr_indptr.npy",
    "attr_shape.npy",
    "attr_matrix.npy",
    "labels.npy",
];

pub(super) const WORDS: &[&str] = &[
    "=== attr_matrix.npy\n",
    "=== labels.npy\n",
    "'<i4'",
    "'<i8'",
    "'<f4'",
    "(3,)",
    "(4,)",
    "(2, 2)",
    "PK\u{3}\u{4}",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
];

thread_local! {
    static FOLDER: Folder = Folder::new("npz");
}

pub(super) fn run(input: &[u8]) -> Outcome {
    let options = options(input);
    let packed = if input.starts_with(b"PK") {
        input.to_vec()
    } else {
        pack(input)
    };
    let path = FOLDER.with(|folder| folder.file("graph.npz", &packed));
    if let Ok(mut archive) = Npz::open(&path, &options) {
        let names: Vec<String> = archive.names().map(str::to_owned).collect();
        for name in names {
            assert!(archive.contains(&name));
            if let Ok(array) = archive.array(&name) {
                super::npy::convert(&array);
            }
        }
    }
    judge(&read_gnn_benchmark(&path, &options))
}

/// A sound archive of members that may be anything.
fn pack(input: &[u8]) -> Vec<u8> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let sections = Sections::parse(input, FILES);
    for name in FILES {
        if let Some(content) = sections.get(name) {
            let written = writer
                .start_file(*name, stored)
                .map_err(|error| error.to_string())
                .and_then(|()| writer.write_all(content).map_err(|error| error.to_string()));
            assert!(written.is_ok(), "{written:?}");
        }
    }
    match writer.finish() {
        Ok(bytes) => bytes.into_inner(),
        Err(error) => panic!("no archive: {error}"),
    }
}
