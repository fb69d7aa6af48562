//! Wiki-CS's JSON.

use std::path::PathBuf;

use egg_graph::{Layout, read_wiki_cs_splits};

use super::Target;
use super::reader::{NamedSeed, Reader};
use crate::dataset::{check, judge, options};
use crate::files::Folder;
use crate::outcome::Outcome;
use crate::seeds::Result;

pub(super) const TARGET: Target = Target {
    name: "wiki_cs",
    run,
    words: WORDS,
    reader: Some(READER),
};

const READER: Reader = Reader {
    layout: Layout::WikiCs,
    write,
    seeds,
};

const WORDS: &[&str] = &[
    "\"features\"",
    "\"labels\"",
    "\"links\"",
    "\"train_masks\"",
    "\"val_masks\"",
    "\"stopping_masks\"",
    "\"test_mask\"",
    "true",
    "false",
    "null",
    "[[",
    "]]",
    "1e39",
    "-1",
];

thread_local! {
    static FOLDER: Folder = Folder::new("wiki-cs");
}

fn write(input: &[u8]) -> PathBuf {
    FOLDER.with(|folder| folder.file("data.json", input))
}

fn run(input: &[u8]) -> Outcome {
    let read = read_wiki_cs_splits(&write(input), &options(input));
    if let Ok(wiki) = &read {
        assert_eq!(wiki.splits.len(), wiki.stopping.len());
        // Each split is of this graph.
        if let (Some(split), true) = (wiki.splits.last(), wiki.dataset.node_count() < 256) {
            match wiki.dataset.clone().with_split(split.clone()) {
                Ok(dataset) => check(&dataset),
                Err(error) => panic!("a split that was read is refused: {error}"),
            }
        }
    }
    judge(&read.map(|wiki| wiki.dataset))
}

fn seeds() -> Result<Vec<NamedSeed>> {
    let wiki = br#"{"features":[[0.5,1],[-2e-3,0],[0,0],[1,1]],"labels":[3,0,3,1],"links":[[1,2,1],[0],[],[3,0]],
"train_masks":[[true,false,false,false],[0,1,0,0]],"val_masks":[[false,true,false,false],[true,false,false,false]],
"stopping_masks":[[false,false,true,false],[false,false,true,false]],"test_mask":[false,false,false,true]}"#;
    Ok(vec![("four-nodes", wiki.to_vec())])
}
