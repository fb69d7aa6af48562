//! From what a user calls a data set to the data set.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use egg_gnn::datasets::{DatasetEntry, Registry};
use egg_gnn::graph::synthetic::{BlockModel, CovarianceSet, karate_club};
use egg_gnn::graph::{Cache, DataSource, Error, GraphDataset, Role};
use egg_gnn::pool;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::arguments::{Common, Reading};
use crate::console::counted;
use crate::datasets;
use crate::failure::{Failure, Result};

/// Data that the program makes itself.
pub(crate) const DEMOS: [&str; 3] = ["demo:covariance", "demo:karate", "demo:sbm:N"];

/// A data set, where it came from, and what its parts are called there.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) dataset: GraphDataset,
    /// A path, or as it was asked for.
    pub(crate) source: String,
    graph_names: Option<Vec<String>>,
    node_names: Option<Vec<String>>,
    first_node: usize,
    /// Files that are read, or would be if they were there; folders with nothing
    /// else in them.
    pub(crate) files: Vec<PathBuf>,
    /// The registry's, of data that were asked for by a registered name.
    pub(crate) entry: Option<&'static DatasetEntry>,
}

impl Data {
    /// Finds and reads a data set.
    pub(crate) fn load(name: &str, common: &Common) -> Result<Self> {
        if let Some(demo) = name.strip_prefix("demo:") {
            return Ok(Self::plain(make(demo)?, name.to_owned()));
        }
        let path = Path::new(name);
        if path.exists() {
            return Self::at(path, &common.reading);
        }
        if looks_like_a_path(name) {
            return Err(Failure::other(format!(
                "{name}: there is no such file or folder (seen from {})",
                std::env::current_dir().unwrap_or_default().display()
            )));
        }
        let entry = Registry::builtin().get(name)?;
        let folders = datasets::folders(common.datasets.as_deref());
        let mut source = folders.source(&entry.name)?;
        // A folder that was named is not written to.
        let cache = match source.path.starts_with(&folders.prepared) && common.datasets.is_none() {
            true => Cache::NextToSource,
            false => Cache::Off,
        };
        if common.reading.allow_modified {
            source = source.allow_modified();
        }
        let loaded = source.load(&common.reading.options(), &cache)?;
        let dataset = loaded.dataset.with_name(&entry.name);
        Ok(Self {
            files: vec![source.path.clone()],
            entry: Some(entry),
            ..Self::plain(dataset, source.path.display().to_string())
        })
    }

    fn at(path: &Path, reading: &Reading) -> Result<Self> {
        let options = reading.options();
        let source = DataSource::detect(path)?;
        is_not_a_part(path)?;
        let shown = path.display().to_string();
        let read = source.read_named(&options)?;
        Ok(Self {
            graph_names: read.graph_names,
            node_names: read.node_names,
            first_node: read.first_node,
            files: source.claimed_paths(),
            ..Self::plain(read.dataset, shown)
        })
    }

    fn plain(dataset: GraphDataset, source: String) -> Self {
        Self {
            dataset,
            source,
            graph_names: None,
            node_names: None,
            first_node: 0,
            files: Vec::new(),
            entry: None,
        }
    }

    /// What a run should say of how its files were read, before it begins: what was left
    /// out, and what weighs edges.
    pub(crate) fn reading_notes(&self) -> Vec<String> {
        let reading = self.dataset.reading();
        let mut notes = Vec::new();
        for table in &reading.tables {
            let of = |role: Role| -> Vec<&str> {
                let columns = table.columns.iter().filter(|column| column.role == role);
                columns.map(|column| column.name.as_str()).collect()
            };
            let unused = of(Role::Unused);
            if !unused.is_empty() {
                let what = match table.header {
                    true => unused.join(", "),
                    false => counted(unused.len(), "column"),
                };
                let remedy = match table.file.ends_with("_node_attributes.txt") {
                    true => "; --node-features both uses them",
                    false => "",
                };
                notes.push(format!("{}: {what} not used{remedy}", table.file));
            }
            if let [weight] = of(Role::Weight).as_slice() {
                notes.push(format!("{}: edges are weighted by {weight}", table.file));
            }
        }
        notes
    }

    /// The graphs whose label is known, and how many there are besides.
    pub(crate) fn labelled(self) -> Result<(Self, usize)> {
        let Some(targets) = self.dataset.targets() else {
            return Ok((self, 0));
        };
        let all = self.dataset.len();
        let known: Vec<usize> = (0..all).filter(|graph| targets.is_known(*graph)).collect();
        if known.len() == all {
            return Ok((self, 0));
        }
        let data = Self {
            dataset: self.dataset.subset(&known)?,
            graph_names: Some(known.iter().map(|graph| self.graph_name(*graph)).collect()),
            ..self
        };
        Ok((data, all - known.len()))
    }

    /// What a graph is called in the files, or its number from 0.
    pub(crate) fn graph_name(&self, index: usize) -> String {
        let own = self.graph_names.as_ref().and_then(|names| names.get(index));
        own.cloned().unwrap_or_else(|| index.to_string())
    }

    /// What a node of the one graph is called in the files.
    pub(crate) fn node_name(&self, index: usize) -> String {
        let own = self.node_names.as_ref().and_then(|names| names.get(index));
        own.filter(|name| !name.is_empty())
            .cloned()
            .unwrap_or_else(|| (index + self.first_node).to_string())
    }
}

/// Refuses a file that is one table of several: by itself it would be taken for
/// something else.
fn is_not_a_part(path: &Path) -> Result<()> {
    let stem = path.file_stem().unwrap_or_default();
    let table = TABLES.iter().any(|name| stem == *name);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !table || path.is_dir() {
        return Ok(());
    }
    let others = tables(folder, &TABLES)
        .into_iter()
        .filter(|other| other.exists() && other.file_stem() != path.file_stem());
    match others.count() {
        0 => Ok(()),
        _ => Err(Failure::other(format!(
            "{} is one of several tables that belong together\nhelp: give the folder that they are in, {}",
            path.display(),
            folder.display()
        ))),
    }
}

/// What the tables of a folder are called.
const TABLES: [&str; 5] = ["edges", "nodes", "graphs", "features", "labels"];

/// Where tables of a folder would be.
fn tables(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let endings = ["csv", "tsv", "txt", "npy"];
    let named = |name: &&str| endings.map(|ending| folder.join(format!("{name}.{ending}")));
    names.iter().flat_map(named).collect()
}

/// `PROTEINS.zip`, `./graphs`, `data/edges.csv`: no data set is called so.
fn looks_like_a_path(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).extension().is_some()
}

fn make(demo: &str) -> Result<GraphDataset> {
    let nodes = demo.strip_prefix("sbm:").map(str::parse::<usize>);
    match (demo, nodes) {
        ("covariance", _) => Ok(CovarianceSet::standard()?),
        ("karate", _) => Ok(karate_club()?),
        (_, Some(Ok(nodes))) if nodes >= 20 => {
            // Ten blocks of twenty neighbours each, fewer where there is no room.
            let model = BlockModel {
                nodes,
                blocks: (nodes / 50).clamp(2, 10),
                degree: (nodes as f64 / 5.0).min(20.0),
                ..BlockModel::default()
            };
            Ok(model.generate(&mut ChaCha8Rng::seed_from_u64(0))?)
        }
        (_, Some(_)) => Err(Failure::other(format!(
            "demo:{demo}: after demo:sbm: comes a number of nodes, at least 20, as in demo:sbm:1000"
        ))),
        _ => Err(Failure::other(format!(
            "there is no data set `demo:{demo}`{}",
            suggestion(&format!("demo:{demo}"), DEMOS.iter().copied())
                .unwrap_or_else(|| format!("; there are {}", DEMOS.join(", ")))
        ))),
    }
}

/// `; did you mean X?`, if something is near.
pub(crate) fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let edits = |known: &str| strsim::osa_distance(&known.to_lowercase(), &name.to_lowercase());
    let nearest = known.min_by_key(|known| edits(known))?;
    let near = edits(nearest) <= (name.chars().count() / 3).max(1);
    near.then(|| format!("; did you mean {nearest}?"))
}

/// The data set's name in an error that has none.
pub(crate) fn naming<T, E: Into<Failure>>(data: &str, result: std::result::Result<T, E>) -> Result<T> {
    result.map_err(|error| match error.into() {
        // These name their file themselves.
        Failure::Graph(
            error @ (Error::Io { .. }
            | Error::Line { .. }
            | Error::File { .. }
            | Error::Missing { .. }
            | Error::Binary { .. }
            | Error::Refused { .. }
            | Error::OverLimit { .. }
            | Error::Inflated { .. }
            | Error::Columns { .. }
            | Error::Modified { .. }
            | Error::UnknownLayout { .. }),
        ) => Failure::Graph(error),
        Failure::Pool(
            error @ (pool::Error::Graph(Error::Columns { .. }) | pool::Error::UnknownColumns { .. }),
        ) => Failure::Pool(error),
        other @ (Failure::Interrupted(_) | Failure::Usage(_) | Failure::Other(_) | Failure::Datasets(_)) => {
            other
        }
        other => Failure::In {
            data: data.to_owned(),
            source: Box::new(other),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let known = || ["egg", "sum", "attention"].into_iter();
        assert_eq!(
            suggestion("atention", known()).as_deref(),
            Some("; did you mean attention?")
        );
        assert_eq!(suggestion("eg", known()).as_deref(), Some("; did you mean egg?"));
        assert_eq!(suggestion("quantum", known()), None);
    }

    #[test]
    fn demos_of_any_size_can_be_drawn() {
        for nodes in [20, 21, 77, 100, 500, 1003] {
            let data = Data::load(&format!("demo:sbm:{nodes}"), &Common::default()).unwrap();
            assert_eq!(data.dataset.node_count(), nodes);
        }
        for wrong in ["demo:sbm", "demo:sbm:", "demo:sbm:3", "demo:sbm:-1", "demo:karat"] {
            assert!(Data::load(wrong, &Common::default()).is_err(), "{wrong}");
        }
    }
}
