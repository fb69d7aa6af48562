//! From a path to a data set, through the cache.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use crate::adjacency::SelfLoops;
use crate::cache::{self, Cache, CacheUse};
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::read::{
    EdgeListSource, NodeFeatures, ReadOptions, find_table, is_graph_tables, read_gnn_benchmark,
    read_graph_tables, read_ogb, read_planetoid, read_tu, read_wiki_cs,
};

/// Where the files of a data set are, and how they are laid out.
///
/// ```
/// use egg_graph::{DataSource, Layout};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("PAIR_A.txt"), "1, 2\n")?;
/// std::fs::write(folder.path().join("PAIR_graph_indicator.txt"), "1\n1\n")?;
/// let source = DataSource::detect(folder.path())?;
/// assert_eq!((source.layout, source.name.as_str()), (Layout::Tu, "PAIR"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSource {
    /// A file or a folder, as the layout has it.
    pub path: PathBuf,
    /// How the files are laid out.
    pub layout: Layout,
    /// What file names are made of (`ind.NAME.x`), and what the data set is
    /// called.
    pub name: String,
    /// What a registry knows of it.
    expected: Option<Expected>,
}

/// Under which name a registry has a data set, and what its content must be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    name: String,
    fingerprint: String,
}

/// A data set and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The data.
    pub dataset: GraphDataset,
    /// Whether the cache served.
    pub cache: CacheUse,
}

impl DataSource {
    /// Files at a path, laid out so.
    pub fn new(path: impl Into<PathBuf>, layout: Layout, name: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            layout,
            name: name.into(),
            expected: None,
        }
    }

    /// The same, but [`Self::load`] refuses content that does not have this
    /// [fingerprint](GraphDataset::fingerprint), by which a registry knows it under `name`.
    #[must_use]
    pub fn expecting(mut self, name: impl Into<String>, fingerprint: impl Into<String>) -> Self {
        self.expected = Some(Expected {
            name: name.into(),
            fingerprint: fingerprint.into(),
        });
        self
    }

    /// Takes back [`Self::expecting`]: any content will do.
    #[must_use]
    pub fn allow_modified(mut self) -> Self {
        self.expected = None;
        self
    }

    /// Looks at what is at a path: a TU folder or zip, a folder with one
    /// Planetoid data set, an OGB folder, a gnn-benchmark `.npz`, Wiki-CS's
    /// `data.json`, a folder with tables of graphs or of one graph's edges, or
    /// else an edge list in a text file.
    ///
    /// # Errors
    /// [`Error::Io`] if there is nothing, [`Error::UnknownLayout`] if a folder
    /// or file is none of these.
    pub fn detect(path: &Path) -> Result<Self> {
        let found = std::fs::metadata(path).map_err(Error::io(path))?;
        let name = if found.is_dir() {
            path.file_name()
        } else {
            path.file_stem()
        };
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let source = |layout, name: String| Self {
            path: path.to_owned(),
            layout,
            name,
            expected: None,
        };
        if found.is_dir() {
            let names = file_names(path)?;
            let stems = |prefix: &str, suffix: &str| -> Vec<String> {
                let middle = |name: &String| {
                    let rest = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
                    Some(rest.to_owned())
                };
                names.iter().filter_map(middle).collect()
            };
            if let Some(stem) = stems("", "_graph_indicator.txt").pop() {
                return Ok(source(Layout::Tu, stem));
            }
            match stems("ind.", ".allx").as_slice() {
                [] => {}
                [stem] => return Ok(source(Layout::Planetoid, stem.clone())),
                several => {
                    return Err(Error::UnknownLayout {
                        path: path.to_owned(),
                        problem: format!(
                            "holds {}; ask for one by its registered name, or keep each in a folder of its own",
                            several.join(", ")
                        ),
                    });
                }
            }
            if path.join("raw").is_dir() {
                return Ok(source(Layout::Ogb, name));
            }
            if is_graph_tables(path) {
                return Ok(source(Layout::GraphTables, name));
            }
            if find_table(path, "edges").is_some() {
                return Ok(source(Layout::EdgeList, name));
            }
            let alone = |name: &&String| name.ends_with(".npz") || name.ends_with(".zip");
            if let [file] = names.iter().filter(alone).collect::<Vec<_>>().as_slice() {
                return Err(Error::UnknownLayout {
                    path: path.to_owned(),
                    problem: format!("is no data set itself; give the file in it, {file}"),
                });
            }
            return Err(Error::UnknownLayout {
                path: path.to_owned(),
                problem:
                    "is no folder of a TU (*_graph_indicator.txt), Planetoid (ind.*.allx) or OGB (raw/) \
                          data set, nor one with tables (edges.csv)"
                        .into(),
            });
        }
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        match ending.as_str() {
            "zip" => Ok(source(Layout::Tu, name)),
            "npz" => Ok(source(Layout::GnnBenchmark, name)),
            "json" => Ok(source(Layout::WikiCs, name)),
            "csv" | "tsv" | "txt" | "edges" | "edgelist" | "el" => Ok(source(Layout::EdgeList, name)),
            _ => Err(Error::UnknownLayout {
                path: path.to_owned(),
                problem:
                    "the ending tells what a file is: zip (TU), npz (gnn-benchmark), json (Wiki-CS), csv, \
                          tsv, txt or edges (edge list)"
                        .into(),
            }),
        }
    }

    /// Reads the data set, without a cache.
    ///
    /// # Errors
    /// Those of the layout's reader.
    pub fn read(&self, options: &ReadOptions) -> Result<GraphDataset> {
        let path = &self.path;
        Ok(match self.layout {
            Layout::Tu => read_tu(path, options)?,
            Layout::Planetoid => read_planetoid(path, &self.name, options)?,
            Layout::GnnBenchmark => read_gnn_benchmark(path, options)?,
            Layout::WikiCs => read_wiki_cs(path, options)?,
            Layout::Ogb => read_ogb(path, options)?,
            Layout::EdgeList => {
                let read = EdgeListSource::find(path)?.read(options)?;
                read.dataset.with_name(&self.name)
            }
            Layout::GraphTables => read_graph_tables(path, options)?.dataset,
        })
    }

    /// Takes the data set from the cache if it is there, whole, and of these
    /// files and options; else reads and caches it.
    ///
    /// Content that [is expected](Self::expecting) is compared whenever files are read; what is
    /// in the cache has been.
    ///
    /// # Errors
    /// As [`Self::read`], [`Error::Modified`] if the content is not what was expected, and
    /// [`Error::Io`] if a cache folder that was asked for can't be written to.
    pub fn load(&self, options: &ReadOptions, cache: &Cache) -> Result<Loaded> {
        let check = if self.expected.is_some() { "checked" } else { "" };
        let reading = format!("{} {} {check} {options:?}", self.layout, self.name);
        let files = self.files()?;
        let read = || {
            let dataset = self.read(options)?;
            self.check(&dataset, options)?;
            Ok(dataset)
        };
        let (dataset, cache) = cache::through(cache, &self.path, &files, &reading, read)?;
        Ok(Loaded { dataset, cache })
    }

    /// Refuses content that is not what is expected.
    fn check(&self, dataset: &GraphDataset, options: &ReadOptions) -> Result<()> {
        let Some(Expected { name, fingerprint }) = &self.expected else {
            return Ok(());
        };
        // Known is what is read by default.
        let usual = ReadOptions {
            self_loops: SelfLoops::default(),
            node_features: NodeFeatures::default(),
            ..options.clone()
        };
        let found = match usual == *options {
            true => dataset.fingerprint(),
            false => self.read(&usual)?.fingerprint(),
        };
        match found == *fingerprint {
            true => Ok(()),
            false => Err(Error::Modified {
                name: name.clone(),
                path: self.path.clone(),
                expected: fingerprint.clone(),
                found,
            }),
        }
    }

    /// Every file that the reader may look at, in a fixed order.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let inside = |folder: &Path, wanted: &dyn Fn(&str) -> bool| -> Result<Vec<PathBuf>> {
            let names = file_names(folder)?;
            Ok(names
                .iter()
                .filter(|name| wanted(name))
                .map(|name| folder.join(name))
                .collect())
        };
        match self.layout {
            Layout::Tu if self.path.is_dir() => inside(&self.path, &|name| name.ends_with(".txt")),
            Layout::Planetoid => {
                let prefix = format!("ind.{}.", self.name.to_lowercase());
                inside(&self.path, &|name| name.starts_with(&prefix))
            }
            Layout::Ogb => {
                let mut files = inside(&self.path.join("raw"), &|_| true)?;
                let splits = self.path.join("split");
                if splits.is_dir() {
                    for folder in folder_names(&splits)? {
                        files.extend(inside(&splits.join(folder), &|_| true)?);
                    }
                }
                Ok(files)
            }
            Layout::GraphTables => {
                let tables = ["edges", "nodes", "graphs"].iter();
                Ok(tables.filter_map(|name| find_table(&self.path, name)).collect())
            }
            Layout::EdgeList => {
                let source = EdgeListSource::find(&self.path)?;
                Ok(source.files().map(Path::to_owned).collect())
            }
            _ => Ok(vec![self.path.clone()]),
        }
    }
}

fn file_names(folder: &Path) -> Result<Vec<String>> {
    names(folder, |path| path.is_file())
}

fn folder_names(folder: &Path) -> Result<Vec<String>> {
    names(folder, |path| path.is_dir())
}

/// Sorted names; hidden ones, our own caches among them, don't count.
fn names(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder))? {
        let entry = entry.map_err(Error::io(folder))?;
        if let Ok(name) = entry.file_name().into_string()
            && !name.starts_with('.')
            && wanted(&entry.path())
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
