//! The gnn-benchmark layout: `.npy` files in a zip archive.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use egg_graph::{Layout, Npz, read_gnn_benchmark};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Target;
use super::reader::{NamedSeed, Reader};
use crate::dataset::{judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;
use crate::seeds::Result;
use crate::seeds::numpy::{floats, npy, words};

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

pub(super) const TARGET: Target = Target {
    name: "npz",
    run,
    words: WORDS,
    reader: Some(READER),
};

const READER: Reader = Reader {
    layout: Layout::GnnBenchmark,
    write,
    seeds,
};

const WORDS: &[&str] = &[
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

fn write(input: &[u8]) -> PathBuf {
    let packed = if input.starts_with(b"PK") {
        input.to_vec()
    } else {
        pack(input)
    };
    FOLDER.with(|folder| folder.file("graph.npz", &packed))
}

fn run(input: &[u8]) -> Outcome {
    let options = options(input);
    let path = write(input);
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

fn seeds() -> Result<Vec<NamedSeed>> {
    let list = |values: &[i32]| npy("<i4", "False", &format!("({},)", values.len()), &words(values));
    let data = npy("<f4", "False", "(3,)", &floats(&[1.0, 2.0, 0.5]));
    let members = [
        ("adj_data.npy", data.clone()),
        ("adj_indices.npy", list(&[1, 2, 0])),
        ("adj_indptr.npy", list(&[0, 2, 2, 3])),
        ("adj_shape.npy", list(&[3, 3])),
        ("attr_data.npy", data),
        ("attr_indices.npy", list(&[0, 1, 1])),
        ("attr_indptr.npy", list(&[0, 1, 2, 3])),
        ("attr_shape.npy", list(&[3, 2])),
        ("labels.npy", list(&[0, 2, 0])),
    ];
    let dense = [
        &members[..4],
        &[(
            "attr_matrix.npy",
            npy(
                "<f8",
                "True",
                "(3, 1)",
                &[0.5f64, 1.0, -1.0].map(f64::to_le_bytes).concat(),
            ),
        )],
    ]
    .concat();
    let join = |members: &[(&'static str, Vec<u8>)]| {
        Sections::join(members.iter().map(|(name, bytes)| (*name, &bytes[..])))
    };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in &members {
        writer.start_file(*name, SimpleFileOptions::default())?;
        writer.write_all(bytes)?;
    }
    Ok(vec![
        ("sparse", join(&members)),
        ("dense", join(&dense)),
        ("zip", writer.finish()?.into_inner()),
    ])
}
