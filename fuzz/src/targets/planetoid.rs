//! The Planetoid layout: eight files, seven of them pickles.

use egg_graph::read_planetoid;

use crate::dataset::{judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;

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

pub(super) fn run(input: &[u8]) -> Outcome {
    let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
    FOLDER.with(|folder| judge(&read_planetoid(folder.fill(&files), "DS", &options(input))))
}
