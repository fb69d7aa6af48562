//! What a layout of files must say of itself to be recognised, read and cached.

use std::path::{Path, PathBuf};

use super::options::ReadOptions;
use super::source::file_names;
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::load::{DataSource, NamedDataset};

/// Recognises and reads one layout of files. The table of all is in `layout.rs`.
pub(crate) trait Reader: Sync {
    /// As registries of data sets spell it: `wiki-cs`.
    fn name(&self) -> &'static str;

    /// As messages call it: `Wiki-CS`.
    fn title(&self) -> &'static str;

    /// What a folder of this layout has in it, for messages: `raw/`. Nothing if a data set is
    /// one file.
    fn folder_sign(&self) -> Option<&'static str> {
        None
    }

    /// The name of the data set in a folder, if the folder is of this layout.
    ///
    /// # Errors
    /// Those of looking at it; [`Error::UnknownLayout`] if it has several data sets.
    fn recognise(&self, _folder: &Folder<'_>) -> Result<Option<String>> {
        Ok(None)
    }

    /// What the name of a file of this layout may end with, in lower case.
    fn endings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Every file that [`Self::read`] may open, in a fixed order: a cache file is used as long
    /// as these are the same, in name and content.
    ///
    /// If not overridden: the file, or all files directly in the folder.
    ///
    /// # Errors
    /// Those of listing folders.
    fn files(&self, source: &DataSource) -> Result<Vec<PathBuf>> {
        match source.path.is_dir() {
            true => files_in(&source.path, |_| true),
            false => Ok(vec![source.path.clone()]),
        }
    }

    /// Reads the data set.
    ///
    /// # Errors
    /// [`Error`] with the file, and the line or byte where one is at fault.
    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset>;

    /// The same, with what the files call graphs and nodes.
    ///
    /// If not overridden: they have no names, and nodes count from 0.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn read_named(&self, source: &DataSource, options: &ReadOptions) -> Result<NamedDataset> {
        self.read(source, options).map(NamedDataset::from)
    }

    /// The paths that belong to the data set, whether or not there is a file yet: nothing else may
    /// be written there.
    ///
    /// If not overridden: the path of the source.
    fn claimed_paths(&self, source: &DataSource) -> Vec<PathBuf> {
        vec![source.path.clone()]
    }

    /// Whether [`Self::read`] takes the zip archive that a data set is published in, instead of the
    /// unpacked folder.
    ///
    /// If not overridden: whether a file that ends with zip is of this layout.
    fn reads_archives(&self) -> bool {
        self.endings().contains(&"zip")
    }
}

/// A folder whose layout is not known yet.
pub(crate) struct Folder<'a> {
    pub(crate) path: &'a Path,
    /// Its own name.
    pub(crate) name: &'a str,
    /// The names of the files directly in it, sorted, without hidden ones.
    pub(crate) files: Vec<String>,
}

impl<'a> Folder<'a> {
    pub(crate) fn open(path: &'a Path, name: &'a str) -> Result<Self> {
        let files = file_names(path)?;
        Ok(Self { path, name, files })
    }

    /// What stands between a prefix and a suffix in the names of files that have both.
    pub(crate) fn stems<'b>(&'b self, prefix: &'b str, suffix: &'b str) -> impl Iterator<Item = &'b str> {
        self.files
            .iter()
            .filter_map(move |name| name.strip_prefix(prefix)?.strip_suffix(suffix))
    }

    /// For [`Error::UnknownLayout`].
    pub(crate) fn unknown(&self, problem: impl Into<String>) -> Error {
        Error::UnknownLayout {
            path: self.path.to_owned(),
            problem: problem.into(),
        }
    }
}

/// The paths of those files directly in a folder whose names are wanted, sorted, without hidden
/// ones.
pub(crate) fn files_in(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut names = file_names(folder)?;
    names.retain(|name| wanted(name));
    Ok(names.iter().map(|name| folder.join(name)).collect())
}
