//! Where data sets are searched, and where they are fetched to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use egg_graph::DataSource;

use crate::error::{Error, Result};
use crate::registry::{DatasetEntry, Registry};

/// The environment variable that names a folder which has data sets already. It is only read
/// from.
pub const VARIABLE: &str = "EGG_DATASETS";

/// What a data folder is called in the folder of a project.
const PREPARED: [&str; 2] = ["datasets", "prepared"];

/// What a folder of data sets is called that several projects share.
const SHARED: [&str; 2] = ["shared", "datasets"];

/// The folders in which data sets are searched, in order.
///
/// [`DataFolders::locate`] is the one place that decides which they are:
///
/// 1. the folder that [`VARIABLE`] (`EGG_DATASETS`) names,
/// 2. `datasets/prepared` in the current folder or the nearest one above it that has it: what is
///    fetched goes there,
/// 3. `shared/datasets` in the nearest folder above that has it; not if the variable is set.
///
/// ```
/// use egg_datasets::{DataFolders, Error};
///
/// let empty = tempfile::tempdir()?;
/// let missing = DataFolders::only(empty.path()).source("MUTAG");
/// assert!(matches!(missing, Err(Error::NotHere { name, .. }) if name == "MUTAG"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolders {
    /// Where data sets go that are fetched; it need not exist.
    pub prepared: PathBuf,
    /// A folder that has data sets already and is never written to.
    pub mirror: Option<PathBuf>,
    /// Whether the mirror was named, and so is searched first.
    mirror_first: bool,
}

impl DataFolders {
    /// The folders as seen from the current one.
    pub fn locate() -> Self {
        Self::locate_from(&std::env::current_dir().unwrap_or_default())
    }

    /// The folders as seen from another one: the root of a project, say.
    pub fn locate_from(folder: &Path) -> Self {
        Self::seen_from(folder, std::env::var_os(VARIABLE))
    }

    /// One folder and no other.
    pub fn only(folder: impl Into<PathBuf>) -> Self {
        Self {
            prepared: folder.into(),
            mirror: None,
            mirror_first: false,
        }
    }

    fn seen_from(folder: &Path, variable: Option<OsString>) -> Self {
        let nearest = |parts: [&str; 2]| {
            let mut found = folder
                .ancestors()
                .map(|above| above.join(parts[0]).join(parts[1]));
            found.find(|folder| folder.is_dir())
        };
        let named = variable.filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let default = || folder.join(PREPARED[0]).join(PREPARED[1]);
        Self {
            prepared: nearest(PREPARED).unwrap_or_else(default),
            mirror_first: named.is_some(),
            mirror: named.or_else(|| nearest(SHARED)),
        }
    }

    /// Another folder for what is fetched, instead of `datasets/prepared`.
    #[must_use]
    pub fn with_prepared(mut self, folder: impl Into<PathBuf>) -> Self {
        self.prepared = folder.into();
        self
    }

    /// Another mirror, or none.
    #[must_use]
    pub fn with_mirror(mut self, mirror: Option<PathBuf>) -> Self {
        self.mirror_first = mirror.is_some();
        self.mirror = mirror;
        self
    }

    /// All folders, in the order in which they are searched.
    pub fn in_order(&self) -> impl Iterator<Item = &Path> {
        let (first, last) = match self.mirror_first {
            true => (self.mirror.as_deref(), None),
            false => (None, self.mirror.as_deref()),
        };
        first.into_iter().chain([self.prepared.as_path()]).chain(last)
    }

    /// What to read of a data set, in the first folder that has it.
    pub fn find(&self, entry: &DatasetEntry) -> Option<PathBuf> {
        self.in_order().find_map(|folder| entry.find_below(folder))
    }

    /// A data set of the builtin registry by its name, ready to be read. Nothing is fetched.
    ///
    /// # Errors
    /// [`Error::UnknownDataset`] with a suggestion, [`Error::NotHere`] if no folder has its files.
    ///
    /// ```no_run
    /// use egg_datasets::DataFolders;
    /// use egg_graph::{Cache, ReadOptions};
    ///
    /// let source = DataFolders::only("datasets/prepared").source("PROTEINS")?;
    /// let proteins = source.load(&ReadOptions::default(), &Cache::NextToSource)?.dataset;
    /// assert_eq!(proteins.len(), 1113);
    /// # Ok::<(), egg_datasets::Error>(())
    /// ```
    pub fn source(&self, name: &str) -> Result<DataSource> {
        let entry = Registry::builtin().get(name)?;
        let path = self.find(entry).ok_or_else(|| Error::NotHere {
            name: entry.name.clone(),
            path: entry.path.clone(),
            folders: self.in_order().map(Path::to_owned).collect(),
        })?;
        Ok(entry.source_at(path))
    }

    /// The mirror, if there is one.
    ///
    /// # Errors
    /// [`Error::NoMirror`] if one was named that is not a folder.
    pub(crate) fn existing_mirror(&self) -> Result<Option<&Path>> {
        match self.mirror.as_deref() {
            Some(folder) if !folder.is_dir() => Err(Error::NoMirror {
                folder: folder.to_owned(),
            }),
            mirror => Ok(mirror),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_comes_first_and_hides_the_shared_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = parent.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (root, deep, variable) = (folder("work"), folder("work/a/b"), folder("variable"));
        let set = || Some(variable.clone().into_os_string());
        let order = |from: &Path, variable| {
            let folders = DataFolders::seen_from(from, variable);
            folders.in_order().map(Path::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(order(&deep, None), [deep.join("datasets/prepared")]);
        let prepared = folder("work/datasets/prepared");
        assert_eq!(order(&deep, None), std::slice::from_ref(&prepared));
        let shared = folder("shared/datasets");
        assert_eq!(order(&root, None), [prepared.clone(), shared.clone()]);
        assert_eq!(order(&root, Some("".into())), [prepared.clone(), shared]);
        assert_eq!(order(&root, set()), [variable.clone(), prepared.clone()]);

        let folders = DataFolders::seen_from(&root, set());
        assert_eq!(folders.prepared, prepared);
        assert_eq!(folders.existing_mirror().unwrap(), Some(variable.as_path()));
        let other = folders.with_mirror(Some(root.join("none")));
        assert!(matches!(other.existing_mirror(), Err(Error::NoMirror { .. })));
        assert_eq!(other.with_mirror(None).in_order().count(), 1);
    }

    #[test]
    fn name_resolves_to_files_or_an_error_with_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let folders = DataFolders::only(folder.path());
        let missing = folders.source("proteins").unwrap_err().to_string();
        assert!(missing.contains("egg data fetch PROTEINS"), "{missing}");
        let unknown = folders.source("PROTIENS").unwrap_err().to_string();
        assert!(unknown.contains("did you mean PROTEINS?"), "{unknown}");
        std::fs::write(folder.path().join("PROTEINS.zip"), "x").unwrap();
        let source = folders.source("proteins").unwrap();
        assert_eq!(source.path, folder.path().join("PROTEINS.zip"));
    }
}
