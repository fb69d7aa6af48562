//! The raw layout of the Open Graph Benchmark.

use egg_graph::read_ogb;

use crate::dataset::{judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;

const FILES: &[&str] = &[
    "raw/num-node-list.csv",
    "raw/num-edge-list.csv",
    "raw/edge.csv",
    "raw/edge.csv.gz",
    "raw/node-feat.csv",
    "raw/node-feat.csv.gz",
    "raw/edge-feat.csv",
    "raw/graph-label.csv",
    "split/scaffold/train.csv",
    "split/scaffold/valid.csv",
    "split/scaffold/test.csv",
];

pub(super) const WORDS: &[&str] = &[
    "=== raw/edge.csv\n",
    "=== raw/node-feat.csv\n",
    "=== raw/edge-feat.csv\n",
    "=== raw/graph-label.csv\n",
    "=== split/scaffold/train.csv\n",
    "nan",
    "\"\"",
    ",",
    "\r\n",
];

thread_local! {
    static FOLDER: Folder = Folder::new("ogb");
}

pub(super) fn run(input: &[u8]) -> Outcome {
    let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
    FOLDER.with(|folder| judge(&read_ogb(folder.fill(&files), &options(input))))
}
