//! The Planetoid layout: eight files, seven of them pickles.

use std::path::PathBuf;

use egg_graph::Layout;

use super::Target;
use super::reader::{NamedSeed, Reader};
use crate::dataset::judge;
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;
use crate::seeds::Result;
use crate::seeds::python::{array, csr, graph};

pub(super) const TARGET: Target = Target {
    name: "planetoid",
    run,
    words: super::pickle::WORDS,
    reader: Some(READER),
};

const READER: Reader = Reader {
    layout: Layout::Planetoid,
    write,
    seeds,
};

const FILES: &[&str] = &[
    "ind.ds.x",
    "ind.ds.y",
    "ind.ds.tx",
    "ind.ds.ty",
    "ind.ds.allx",
    "ind.ds.ally",
    "ind.ds.graph",
    "ind.ds.test.index",
];

thread_local! {
    static FOLDER: Folder = Folder::new("planetoid");
}

/// Puts the files of an input into a folder.
fn write(input: &[u8]) -> PathBuf {
    let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
    FOLDER.with(|folder| folder.fill(&files).to_owned())
}

fn run(input: &[u8]) -> Outcome {
    judge(&READER.read(input))
}

fn seeds() -> Result<Vec<NamedSeed>> {
    let allx = csr([3, 2], &[0, 1, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]);
    let lists = graph(&[(2, &[1, 4]), (0, &[1, 1]), (4, &[2, 4]), (1, &[0, 2]), (3, &[])]);
    let parts = [
        ("ind.ds.x", csr([1, 2], &[0, 1], &[0], &[1.0])),
        ("ind.ds.allx", allx),
        ("ind.ds.tx", csr([1, 2], &[0, 1], &[1], &[5.0])),
        ("ind.ds.y", array(&[1, 2], &[1, 0])),
        ("ind.ds.ally", array(&[3, 2], &[1, 0, 0, 1, 1, 0])),
        ("ind.ds.ty", array(&[1, 2], &[0, 1])),
        ("ind.ds.graph", lists),
        ("ind.ds.test.index", b"4\n".to_vec()),
    ];
    let whole = Sections::join(parts.iter().map(|(name, bytes)| (*name, &bytes[..])));
    Ok(vec![("five-nodes", whole)])
}
