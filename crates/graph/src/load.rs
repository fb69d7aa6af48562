//! From a path to a data set, through the cache.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use crate::cache::{self, Cache, CacheUse};
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::read::ReadOptions;
use crate::read::reader::Folder;

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
#[non_exhaustive]
pub struct Loaded {
    /// The data.
    pub dataset: GraphDataset,
    /// Whether it came from the cache.
    pub cache: CacheUse,
}

/// A data set with what its files call its graphs and nodes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NamedDataset {
    /// The data.
    pub dataset: GraphDataset,
    /// The name of each graph, if graphs have names.
    pub graph_names: Option<Vec<String>>,
    /// The name of each node of the one graph, if nodes have names; empty for a node without.
    pub node_names: Option<Vec<String>>,
    /// The number that the files give the first node, if nodes are numbered: 0 or 1.
    pub first_node: usize,
}

impl From<GraphDataset> for NamedDataset {
    /// Without names, and with nodes from 0.
    fn from(dataset: GraphDataset) -> Self {
        Self {
            dataset,
            graph_names: None,
            node_names: None,
            first_node: 0,
        }
    }
}

/// All that determines what is read of the same files: what a cache file is kept for.
#[derive(serde::Serialize)]
struct Reading<'a> {
    layout: Layout,
    name: &'a str,
    /// Whether the content was compared with a registry's fingerprint.
    checked: bool,
    options: &'a ReadOptions,
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

    /// Recognises what is at a path: a folder by the files in it, a file by its ending. See
    /// [`Layout`] for what is known.
    ///
    /// # Errors
    /// [`Error::Io`] if there is nothing, [`Error::UnknownLayout`] if a folder
    /// or file is of no known layout.
    pub fn detect(path: &Path) -> Result<Self> {
        let found = std::fs::metadata(path).map_err(Error::io(path))?;
        let name = if found.is_dir() {
            path.file_name()
        } else {
            path.file_stem()
        };
        let name = name.unwrap_or_default().to_string_lossy();
        match found.is_dir() {
            true => Self::detect_folder(&Folder::open(path, &name)?),
            false => Self::detect_file(path, &name),
        }
    }

    fn detect_folder(folder: &Folder<'_>) -> Result<Self> {
        for layout in Layout::ALL {
            if let Some(name) = layout.reader().recognise(folder)? {
                return Ok(Self::new(folder.path, *layout, name));
            }
        }
        let packed = |name: &&String| name.ends_with(".npz") || name.ends_with(".zip");
        if let [file] = folder.files.iter().filter(packed).collect::<Vec<_>>().as_slice() {
            return Err(folder.unknown(format!("is no data set itself; give the file in it, {file}")));
        }
        let signs = Layout::ALL.iter().filter_map(|layout| {
            let reader = layout.reader();
            Some(format!("{} ({})", reader.title(), reader.folder_sign()?))
        });
        let signs = signs.collect::<Vec<_>>().join(", ");
        Err(folder.unknown(format!("is not the folder of a layout that can be read: {signs}")))
    }

    fn detect_file(path: &Path, name: &str) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let ending = ending.to_lowercase();
        let of_ending = |layout: &&Layout| layout.reader().endings().contains(&ending.as_str());
        if let Some(layout) = Layout::ALL.iter().find(of_ending) {
            return Ok(Self::new(path, *layout, name));
        }
        let endings = Layout::ALL.iter().filter_map(|layout| {
            let reader = layout.reader();
            let endings = Some(reader.endings()).filter(|endings| !endings.is_empty())?;
            Some(format!("{} ({})", endings.join(", "), reader.title()))
        });
        let endings = endings.collect::<Vec<_>>().join(", ");
        Err(Error::UnknownLayout {
            path: path.to_owned(),
            problem: format!("the layout of a file is known by its ending: {endings}"),
        })
    }

    /// Reads the data set, without a cache.
    ///
    /// # Errors
    /// Those of the layout's reader.
    pub fn read(&self, options: &ReadOptions) -> Result<GraphDataset> {
        self.layout.reader().read(self, options)
    }

    /// Reads the data set, without a cache, with what its files call graphs and nodes.
    ///
    /// # Errors
    /// As [`Self::read`].
    ///
    /// ```
    /// use egg_graph::{DataSource, ReadOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("friends.csv");
    /// std::fs::write(&path, "source,target\nAda,Grace\nGrace,Emmy\n")?;
    /// let read = DataSource::detect(&path)?.read_named(&ReadOptions::default())?;
    /// assert_eq!(read.node_names.unwrap(), ["Ada", "Grace", "Emmy"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_named(&self, options: &ReadOptions) -> Result<NamedDataset> {
        self.layout.reader().read_named(self, options)
    }

    /// The paths that belong to the data set: files that are read, or would be if they were there,
    /// and folders with nothing else in them. Nothing else should be written there.
    pub fn claimed_paths(&self) -> Vec<PathBuf> {
        self.layout.reader().claimed_paths(self)
    }

    /// Every file that [`Self::read`] may open, in a fixed order.
    ///
    /// # Errors
    /// [`Error::Io`] if a folder can't be listed, [`Error::Missing`] if there is nothing to read.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        self.layout.reader().files(self)
    }

    /// Takes the data set from the cache if there is a complete cache file of these files and
    /// options; else reads and caches it.
    ///
    /// Content that [is expected](Self::expecting) is compared whenever files are read; what is
    /// in the cache has been.
    ///
    /// # Errors
    /// As [`Self::read`], [`Error::Modified`] if the content is not what was expected, and
    /// [`Error::Io`] if a cache folder that was asked for can't be written to.
    pub fn load(&self, options: &ReadOptions, cache: &Cache) -> Result<Loaded> {
        let reading = Reading {
            layout: self.layout,
            name: &self.name,
            checked: self.expected.is_some(),
            options,
        };
        let key = serde_json::to_string(&reading)
            .map_err(|error| Error::parameter("options", error, "they can't be written as JSON"))?;
        let files = self.files()?;
        let read = || {
            let dataset = self.read(options)?;
            self.check(&dataset, options)?;
            Ok(dataset)
        };
        let (dataset, cache) = cache::through(cache, &self.path, &files, &key, read)?;
        Ok(Loaded { dataset, cache })
    }

    /// Refuses content that is not what is expected.
    fn check(&self, dataset: &GraphDataset, options: &ReadOptions) -> Result<()> {
        let Some(Expected { name, fingerprint }) = &self.expected else {
            return Ok(());
        };
        let usual = options.with_default_content();
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
}
