//! Many graphs in tables.

use std::path::PathBuf;

use egg_graph::{Layout, read_graph_tables};

use super::Target;
use super::reader::{NamedSeed, Reader};
use crate::dataset::{judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;
use crate::seeds::{Result, text};

const FILES: &[&str] = &["edges.csv", "nodes.csv", "graphs.csv"];

pub(super) const TARGET: Target = Target {
    name: "graph_tables",
    run,
    words: WORDS,
    reader: Some(READER),
};

const READER: Reader = Reader {
    layout: Layout::GraphTables,
    write,
    seeds,
};

const WORDS: &[&str] = &[
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

/// Puts the files of an input into a folder.
fn write(input: &[u8]) -> PathBuf {
    let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
    FOLDER.with(|folder| folder.fill(&files).to_owned())
}

fn run(input: &[u8]) -> Outcome {
    let read = read_graph_tables(&write(input), &options(input));
    if let Ok(read) = &read {
        assert_eq!(read.names.len(), read.dataset.len());
    }
    judge(&read.map(|read| read.dataset))
}

fn seeds() -> Result<Vec<NamedSeed>> {
    let graphs = text(&[
        (
            "edges.csv",
            "graph,source,target,weight\nwater,O,H1,1\nwater,O,H2,1\noxygen,a,b,2\n",
        ),
        (
            "nodes.csv",
            "graph,node,x,y\nwater,O,1,2\nwater,H1,0,1\nwater,H2,0,1\noxygen,a,1,1\noxygen,b,2,2\n",
        ),
        ("graphs.csv", "graph,label\nwater,wet\noxygen,dry\n"),
    ]);
    let few = text(&[
        ("edges.csv", "gid\tfrom\tto\n1\t1\t2\n2\t1\t1\n"),
        ("graphs.csv", "graph\tlabel\n1\t0,5\n2\t\n"),
    ]);
    Ok(vec![("three-tables", graphs), ("tabs", few)])
}
