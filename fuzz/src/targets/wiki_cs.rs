//! Wiki-CS's JSON.

use egg_graph::read_wiki_cs_splits;

use crate::dataset::{check, judge, options};
use crate::files::Folder;
use crate::outcome::Outcome;

pub(super) const WORDS: &[&str] = &[
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

pub(super) fn run(input: &[u8]) -> Outcome {
    let path = FOLDER.with(|folder| folder.file("data.json", input));
    let read = read_wiki_cs_splits(&path, &options(input));
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
