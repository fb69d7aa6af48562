//! From a path or a name to a data set, through the cache.

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
use crate::registry::{DatasetEntry, Registry};

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
    /// What the registry knows of it.
    registered: Option<Registered>,
}

/// Under which name the registry has a data set, and what its content must be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Registered {
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
    /// A registered data set below a data folder, unpacked or as an archive.
    ///
    /// # Errors
    /// [`Error::UnknownDataset`] with a suggestion, [`Error::Missing`] if the
    /// files are not there.
    ///
    /// ```no_run
    /// use egg_graph::{Cache, DataSource, ReadOptions};
    /// let source = DataSource::registered("PROTEINS", "datasets/prepared".as_ref())?;
    /// let proteins = source.load(&ReadOptions::default(), &Cache::Beside)?.dataset;
    /// assert_eq!(proteins.len(), 1113);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn registered(name: &str, folder: &Path) -> Result<Self> {
        let entry = Registry::builtin().get(name)?;
        let path = entry.find_below(folder).ok_or_else(|| Error::Missing {
            file: entry.path_below(folder),
            why: "`cargo xtask data prepare` fetches data sets and says where their files go",
        })?;
        Ok(Self::of(entry, path))
    }

    /// Files at a path, laid out so.
    pub fn new(path: impl Into<PathBuf>, layout: Layout, name: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            layout,
            name: name.into(),
            registered: None,
        }
    }

    /// A registered data set whose files are at a path.
    pub fn of(entry: &DatasetEntry, path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            layout: entry.layout,
            name: entry.stem.clone(),
            registered: entry.fingerprint.clone().map(|fingerprint| Registered {
                name: entry.name.clone(),
                fingerprint,
            }),
        }
    }

    /// Lets [`Self::load`] take content that is not what the registry knows under this
    /// name.
    pub fn allow_modified(mut self) -> Self {
        self.registered = None;
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
            registered: None,
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
    /// A registered data set is compared with what the registry knows of its content,
    /// whenever its files are read; what is in the cache has been.
    ///
    /// # Errors
    /// As [`Self::read`], [`Error::Modified`] if a registered data set has another content, and
    /// [`Error::Io`] if a cache folder that was asked for can't be written to.
    pub fn load(&self, options: &ReadOptions, cache: &Cache) -> Result<Loaded> {
        let check = if self.registered.is_some() { "checked" } else { "" };
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

    /// Refuses content that is not what the registry says.
    fn check(&self, dataset: &GraphDataset, options: &ReadOptions) -> Result<()> {
        let Some(Registered { name, fingerprint }) = &self.registered else {
            return Ok(());
        };
        // The registry knows what is read by default.
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
