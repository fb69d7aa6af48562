//! What of a data set is here, by names and sizes only; [`verify`](crate::verify) reads the contents.

use std::fmt;
use std::path::Path;

use crate::folders::DataFolders;
use crate::registry::DatasetEntry;

/// Whether a data set is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Unpacked in the folder that fetched data go to.
    Prepared,
    /// In the mirror, unpacked or in its archive.
    InMirror,
    /// In neither.
    Missing,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Prepared => "prepared",
            Self::InMirror => "in mirror",
            Self::Missing => "missing",
        })
    }
}

impl DataFolders {
    /// What of a data set is here.
    ///
    /// ```
    /// use egg_datasets::{DataFolders, Registry, Status};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let folders = DataFolders::only(folder.path());
    /// let entry = &Registry::builtin().entries()[0];
    /// assert_eq!(folders.status(entry), Status::Missing);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn status(&self, entry: &DatasetEntry) -> Status {
        if entry.is_complete_below(&self.prepared) {
            Status::Prepared
        } else if self.mirror.as_deref().is_some_and(|mirror| offers(entry, mirror)) {
            Status::InMirror
        } else {
            Status::Missing
        }
    }
}

/// Whether a data folder has a data set, unpacked or in its archive.
pub(crate) fn offers(entry: &DatasetEntry, folder: &Path) -> bool {
    let archive = entry.archive.as_ref();
    entry.is_complete_below(folder) || archive.is_some_and(|archive| archive.path_below(folder).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn data_sets_are_prepared_in_the_mirror_or_missing() {
        let (to, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(mirror.path().join("MUTAG.zip"), "x").unwrap();
        std::fs::create_dir(to.path().join("wiki_cs")).unwrap();
        std::fs::write(to.path().join("wiki_cs/data.json"), "x").unwrap();
        let folders = DataFolders::only(to.path()).with_mirror(Some(mirror.path().into()));
        let status = |name: &str| folders.status(Registry::builtin().get(name).unwrap());
        assert_eq!(status("MUTAG"), Status::InMirror);
        assert_eq!(status("Wiki-CS"), Status::Prepared);
        assert_eq!(status("Cora"), Status::Missing);
    }
}
