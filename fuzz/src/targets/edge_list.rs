//! One graph in tables.

use std::path::PathBuf;

use egg_graph::{
    EdgeList, EdgeListSource, Layout, NodeIds, ReadOptions, SelfLoops, write_edge_list, write_labels,
};

use super::Target;
use super::reader::{NamedSeed, Reader};
use crate::dataset::{is_small, judge, options};
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;
use crate::seeds::{Result, text};

const FILES: &[&str] = &["edges.csv", "features.csv", "features.npy", "labels.csv", "ids"];

pub(super) const TARGET: Target = Target {
    name: "edge_list",
    run,
    words: WORDS,
    reader: Some(READER),
};

const READER: Reader = Reader {
    layout: Layout::EdgeList,
    write,
    seeds,
};

const WORDS: &[&str] = &[
    "=== edges.csv\n",
    "=== features.csv\n",
    "=== labels.csv\n",
    "=== ids\nnamed",
    "=== ids\none",
    "=== header\nno",
    "=== header\nyes",
    "source,target\n",
    "source,target,weight\n",
    ",source,target\n",
    "0,1\n",
    "\"from\" \"to\"\n",
    " {'weight': 2}\n",
    "NA",
    "index,",
    "label\n",
    "node,label\n",
    "id,a,b\n",
    "# nodes: 5\n",
    "% ",
    ";",
    "\t",
    "\"",
    "\"\"",
    "\r\n",
    "\u{feff}",
];

thread_local! {
    static FOLDER: Folder = Folder::new("edge-list");
}

/// Puts the files of an input into a folder; what the ids are is an option.
fn write(input: &[u8]) -> PathBuf {
    let sections = Sections::parse(input, FILES);
    let files: Vec<_> = sections.iter().filter(|(name, _)| *name != "ids").collect();
    FOLDER.with(|folder| folder.fill(&files).to_owned())
}

fn run(input: &[u8]) -> Outcome {
    let options = options(input);
    let folder = write(input);
    let ids = match Sections::parse(input, FILES).get("ids").map(<[u8]>::trim_ascii) {
        Some(b"named") => Some(NodeIds::Named),
        Some(b"one") => Some(NodeIds::OneBased),
        Some(b"zero") => Some(NodeIds::ZeroBased),
        _ => None,
    };
    let read = EdgeListSource::find(&folder).and_then(|source| match ids {
        Some(ids) => source.ids(ids).read(&options),
        None => source.read(&options),
    });
    if let Ok(read) = &read {
        if let Some(names) = &read.names {
            assert_eq!(names.len(), read.dataset.node_count());
        }
        if is_small(&read.dataset) {
            comes_back(read, &folder);
        }
    }
    judge(&read.map(|read| read.dataset))
}

/// What the writers take, the reader reads as the same.
fn comes_back(read: &EdgeList, folder: &std::path::Path) {
    let graph = match read.dataset.graph(0) {
        Ok(view) => view.to_graph(),
        Err(error) => panic!("no graph: {error}"),
    };
    let (edges, labels) = (folder.join("back.edges.csv"), folder.join("back.labels.csv"));
    let again = || -> egg_graph::Result<EdgeList> {
        write_edge_list(&edges, &graph)?;
        let mut source = EdgeListSource::new(&edges);
        if let Some(known) = graph.node_labels().filter(|labels| can_be_written(labels)) {
            write_labels(&labels, known)?;
            source = source.labels(&labels);
        }
        let options = ReadOptions {
            self_loops: SelfLoops::Keep,
            ..ReadOptions::default()
        };
        source.read(&options)
    };
    let again = again().unwrap_or_else(|error| panic!("what was written can't be read: {error}"));
    let back = again.dataset.graph(0).map(|view| view.to_graph());
    let back = back.unwrap_or_else(|error| panic!("no graph: {error}"));
    assert_eq!(back.entries(), graph.entries());
    assert_eq!(back.edge_weights(), graph.edge_weights());
    if let (Some(written), Some(read)) = (graph.node_labels(), back.node_labels()) {
        let name = |labels: &egg_graph::Labels, class: Option<u32>| {
            class.and_then(|class| labels.names().get(class as usize).cloned())
        };
        for (left, right) in written.iter().zip(read.iter()) {
            assert_eq!(name(written, left), name(read, right));
        }
    }
}

/// Names must not span lines, and a table has a row for each node; "0" and "00"
/// are one number.
fn can_be_written(labels: &egg_graph::Labels) -> bool {
    let plain = |name: &String| !name.contains(['\n', '\r']) && name.trim() == name;
    let numbers = labels.names().iter().all(|name| name.parse::<i64>().is_ok());
    let exact = |name: &String| name.parse::<i64>().is_ok_and(|value| value.to_string() == *name);
    !labels.is_empty() && labels.names().iter().all(plain) && (!numbers || labels.names().iter().all(exact))
}

fn seeds() -> Result<Vec<NamedSeed>> {
    let plain = text(&[
        ("edges.csv", "source,target,weight\n0,1,0.5\n1,2,1\n2,2,3\n"),
        ("features.csv", "1,2\n3,4\n5,6\n"),
        ("labels.csv", "label\n1\n0\n1\n"),
    ]);
    let named = text(&[
        (
            "edges.csv",
            "\u{feff}Source;Target\r\n\"Ada \"\"L\"\"\";Grace\r\n% comment\r\nGrace;Emmy\r\n",
        ),
        ("labels.csv", "node,label\nEmmy,x\nGrace,\n"),
        ("ids", "named"),
    ]);
    let bare = text(&[
        ("edges.csv", "# nodes: 6\n1 2\n2 3\n5 5\n"),
        ("ids", "zero"),
        ("header", "no"),
    ]);
    Ok(vec![("numbers", plain), ("names", named), ("declared", bare)])
}
