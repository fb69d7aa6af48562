//! Many graphs in tables.

use egg_graph::read_graph_tables;

use crate::dataset::{judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;

const FILES: &[&str] = &["edges.csv", "nodes.csv", "graphs.csv"];

pub(super) const WORDS: &[&str] = &[
    "=== edges.csv\n",
    "=== nodes.csv\n",
    "=== graphs.csv\n",
    "=== header\nno",
    "=== header\nyes",
    "graph,source,target\n",
    "graph,source,target,weight\n",
    "graph,node,a,b\n",
    "graph,label\n",
    "# nodes: 5\n",
    ";",
    "\t",
    "\"",
    "\r\n",
];

thread_local! {
    static FOLDER: Folder = Folder::new("graph-tables");
}

pub(super) fn run(input: &[u8]) -> Outcome {
    let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
    let read = FOLDER.with(|folder| read_graph_tables(folder.fill(&files), &options(input)));
    if let Ok(read) = &read {
        assert_eq!(read.names.len(), read.dataset.len());
    }
    judge(&read.map(|read| read.dataset))
}
