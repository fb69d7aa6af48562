//! Maps by t-SNE for the paper's figures, each with what it shows as a number.
//!
//! ```text
//! cargo run --release -p egg-cli --example maps -- graphs COLLAB gcn --epochs 30 --record collab-gcn.json
//! cargo run --release -p egg-cli --example maps -- nodes cora --record cora.json
//! ```
//!
//! `graphs` trains one repetition of protocol `paper` with EGG and maps what the
//! pooling gives (the four layers of GIN side by side), before any training too for
//! GCN. `nodes` trains the paper's VGAE and maps its means H and the rows of
//! EGG(0.8). At most `--points` graphs or nodes are drawn, with `--seed`. Data sets
//! are found by their names; a number in place of a name makes one.

#![allow(clippy::print_stdout, reason = "a program for people")]

mod graphs;
mod nodes;
mod record;

use std::path::PathBuf;

use egg_gnn::datasets::DataFolders;
use egg_gnn::graph::{Cache, GraphDataset, ReadOptions};

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "maps graphs DATASET gcn|gin | maps nodes DATASET --record FILE [--points N] [--seed N] \
                     [--epochs N] [--lr X] [--wd X] [--hidden N] [--dropout X]";

type Failure = Box<dyn std::error::Error>;

struct Arguments {
    positional: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let (mut positional, mut options) = (Vec::new(), Vec::new());
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(name) => {
                    let value = words
                        .next()
                        .ok_or_else(|| format!("--{name} needs a value\n{USAGE}"))?;
                    options.push((name.to_owned(), value));
                }
                None => positional.push(word),
            }
        }
        Ok(Self { positional, options })
    }

    fn text(&self, name: &str) -> Option<&str> {
        let mut found = self.options.iter().filter(|(key, _)| key == name);
        found.next_back().map(|(_, value)| value.as_str())
    }

    fn set<T: std::str::FromStr>(&self, name: &str, target: &mut T) -> Result<(), Failure>
    where
        T::Err: std::fmt::Display,
    {
        if let Some(text) = self.text(name) {
            *target = text
                .parse()
                .map_err(|error| format!("--{name} {text}: {error}"))?;
        }
        Ok(())
    }
}

fn registered(name: &str) -> Result<GraphDataset, Failure> {
    let source = DataFolders::locate().source(name)?;
    Ok(source.load(&ReadOptions::default(), &Cache::Off)?.dataset)
}

/// What the words ask for.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Failure> {
    let arguments = Arguments::read(words)?;
    let path = PathBuf::from(arguments.text("record").ok_or(USAGE)?);
    let words: Vec<&str> = arguments.positional.iter().map(String::as_str).collect();
    let record = match words.as_slice() {
        ["graphs", dataset, architecture] => graphs::maps(dataset, architecture, &arguments)?,
        ["nodes", dataset] => nodes::maps(dataset, &arguments)?,
        _ => return Err(USAGE.into()),
    };
    record.save(&path)?;
    println!("{}", path.display());
    Ok(())
}

fn main() -> Result<(), Failure> {
    run(std::env::args().skip(1))
}
