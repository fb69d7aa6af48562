//! The raw layout of the Open Graph Benchmark.

use std::path::PathBuf;

use egg_graph::Layout;

use super::Target;
use super::reader::{NamedSeed, Reader};
use crate::dataset::judge;
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;
use crate::seeds::{Result, text};

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

pub(super) const TARGET: Target = Target {
    name: "ogb",
    run,
    words: WORDS,
    reader: Some(READER),
};

const READER: Reader = Reader {
    layout: Layout::Ogb,
    write,
    seeds,
};

const WORDS: &[&str] = &[
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

/// Puts the files of an input into a folder.
fn write(input: &[u8]) -> PathBuf {
    let files: Vec<_> = Sections::parse(input, FILES).iter().collect();
    FOLDER.with(|folder| folder.fill(&files).to_owned())
}

fn run(input: &[u8]) -> Outcome {
    judge(&READER.read(input))
}

fn seeds() -> Result<Vec<NamedSeed>> {
    let ogb = [
        ("raw/num-node-list.csv", "3\n1\n2\n"),
        ("raw/num-edge-list.csv", "2\n0\n1\n"),
        ("raw/edge.csv", "1,0\n1,2\n0,1\n"),
        ("raw/node-feat.csv", "1,10\n2,0\n3,0\n4,0\n5,0\n6,7.5\n"),
        ("raw/edge-feat.csv", "1,2\n3,4\n5,6\n"),
        ("raw/graph-label.csv", "7\n-1\n7\n"),
        ("split/scaffold/train.csv", "2\n"),
        ("split/scaffold/valid.csv", "1\n"),
        ("split/scaffold/test.csv", "0\n"),
    ];
    let packed = gzip(b"1,0\n1,2\n0,1\n");
    let gzipped = Sections::join(
        ogb[..2]
            .iter()
            .map(|(name, text)| (*name, text.as_bytes()))
            .chain([
                ("raw/edge.csv.gz", &packed[..]),
                ("raw/graph-label.csv", &b"0.5,1\nnan,2\n,3\n"[..]),
            ]),
    );
    Ok(vec![("three-graphs", text(&ogb)), ("gzip", gzipped)])
}

/// Stored, not deflated: a gzip file as small as it can be, by hand.
fn gzip(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap_or(u16::MAX);
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend_from_slice(content);
    packed.extend(checksum(content).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    packed
}

/// CRC-32.
fn checksum(content: &[u8]) -> u32 {
    !content.iter().fold(!0, |mut sum: u32, byte| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                sum >> 1 ^ 0xedb8_8320
            } else {
                sum >> 1
            };
        }
        sum
    })
}
