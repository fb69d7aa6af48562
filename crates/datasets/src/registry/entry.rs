//! What the registry says of one data set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use egg_graph::{DataSource, Layout};

/// What a data set is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Task {
    /// One class per graph.
    GraphClassification,
    /// One graph, whose nodes are to be grouped.
    NodeClustering,
}

impl Task {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::GraphClassification => "graph classification",
            Self::NodeClustering => "node clustering",
        }
    }
}

/// A data set: its names, its files and what is in them.
///
/// ```
/// use std::path::Path;
/// use egg_datasets::Registry;
///
/// let entry = Registry::builtin().get("CS")?;
/// assert_eq!(entry.name, "Coauthor-CS");
/// assert_eq!(entry.path_below(Path::new("data")), Path::new("data/coauthor_cs/ms_academic_cs.npz"));
/// # Ok::<(), egg_datasets::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DatasetEntry {
    /// The official name.
    pub name: String,
    /// Other spellings in use.
    pub aliases: Vec<String>,
    /// What it is used for.
    pub task: Task,
    /// How its files are laid out.
    pub layout: Layout,
    /// The folder or file to read, relative to a data folder, with `/`.
    pub path: String,
    /// What its file names are made of, e.g. `cora` in `ind.cora.x`.
    pub stem: String,
    /// As the publisher states it.
    pub licence: String,
    /// The works to cite.
    pub citations: Vec<String>,
    /// What reading it must give.
    pub counts: Counts,
    /// [`GraphDataset::fingerprint`](egg_graph::GraphDataset::fingerprint) of what
    /// the default options read.
    pub fingerprint: Option<String>,
    /// Settings for it, by the name of a preset.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub presets: BTreeMap<String, EntryPreset>,
    /// The archive that it is published in; without one, every file has a URL.
    pub archive: Option<ArchiveEntry>,
    /// Its files, unpacked.
    #[serde(rename = "file")]
    pub files: Vec<FileEntry>,
}

/// Settings for a data set under a preset's name. What they mean is decided by the crates
/// that have the settings: `egg_pool::protocol::Preset` and `egg_cluster::pipeline::Preset`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EntryPreset {
    /// For graph classification.
    pub classification: Option<serde_json::Value>,
    /// For node clustering.
    pub clustering: Option<serde_json::Value>,
}

/// How much there is in a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Counts {
    /// Graphs.
    pub graphs: u64,
    /// Nodes of all graphs.
    pub nodes: u64,
    /// Undirected edges of all graphs, without self-loops, if known.
    pub edges: Option<u64>,
    /// What the literature says, where that is not `edges`.
    pub quoted_edges: Option<u64>,
    /// Nodes with an edge to themselves, if known.
    pub self_loops: Option<u64>,
    /// Columns of the feature matrix that the default options give.
    pub features: u64,
    /// Classes of graphs, or of nodes.
    pub classes: u64,
}

/// The archive that a data set is published in.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ArchiveEntry {
    /// Where it lies in a data folder, with `/`.
    pub path: String,
    /// Where it is published.
    pub url: String,
    /// The folder in it that becomes [`DatasetEntry::path`].
    pub root: String,
    /// Bytes of the mirror's archive; upstream's may be packed differently.
    pub mirror_size: Option<u64>,
    /// SHA-256 of the mirror's archive, in hexadecimal.
    pub mirror_sha256: Option<String>,
}

/// One file of a data set.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FileEntry {
    /// Where it lies in a data folder, with `/`.
    pub path: String,
    /// Where it is published, if not in the archive.
    pub url: Option<String>,
    /// Bytes, if known.
    pub size: Option<u64>,
    /// SHA-256 in hexadecimal, if known.
    pub sha256: Option<String>,
    /// No reader needs it.
    #[serde(default)]
    pub optional: bool,
    /// Upstream has the same rows in another order, and so another checksum.
    #[serde(default)]
    pub reordered: bool,
}

impl DatasetEntry {
    /// The name and its aliases.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name)
            .chain(&self.aliases)
            .map(String::as_str)
    }

    /// Its settings under a preset's name; none are the defaults.
    ///
    /// ```
    /// let registry = egg_datasets::Registry::builtin();
    /// let preset = registry.get("NCI1")?.preset("paper");
    /// assert_eq!(preset.classification.unwrap()["convolution"]["gcn"]["layers"], 3);
    /// assert_eq!(registry.get("MUTAG")?.preset("paper"), Default::default());
    /// # Ok::<(), egg_datasets::Error>(())
    /// ```
    pub fn preset(&self, name: &str) -> EntryPreset {
        self.presets.get(name).cloned().unwrap_or_default()
    }

    /// Bytes of all files, unpacked, if known.
    pub fn size(&self) -> Option<u64> {
        self.files.iter().map(|file| file.size).sum()
    }

    /// What to read in a data folder where the data set lies unpacked.
    pub fn path_below(&self, folder: &Path) -> PathBuf {
        below(folder, &self.path)
    }

    /// What to read in a data folder: what is unpacked, or else the archive if
    /// the layout can be read from one. `None` if neither is there in full;
    /// only names and sizes are compared.
    pub fn find_below(&self, folder: &Path) -> Option<PathBuf> {
        if self.is_complete_below(folder) {
            return Some(self.path_below(folder));
        }
        let archive = self.archive.as_ref().filter(|_| self.layout.reads_archives())?;
        Some(below(folder, &archive.path)).filter(|path| path.is_file())
    }

    /// The data set with its files at a path, ready to be read. Its content must be the
    /// registry's, unless [`DataSource::allow_modified`] says otherwise.
    pub fn source_at(&self, path: impl Into<PathBuf>) -> DataSource {
        let source = DataSource::new(path, self.layout, &self.stem);
        match &self.fingerprint {
            Some(fingerprint) => source.expecting(&self.name, fingerprint),
            None => source,
        }
    }

    /// Whether every file that a reader needs lies unpacked in a data folder,
    /// by name and size.
    pub fn is_complete_below(&self, folder: &Path) -> bool {
        let mut needed = self.files.iter().filter(|file| !file.optional);
        needed.all(|file| file.is_below(folder))
    }

    /// What a file is called in the archive.
    pub fn member(&self, file: &FileEntry) -> Option<String> {
        let archive = self.archive.as_ref()?;
        let rest = file.path.strip_prefix(&self.path)?;
        Some(format!("{}{rest}", archive.root))
    }
}

impl ArchiveEntry {
    /// Where it lies in a data folder.
    pub fn path_below(&self, folder: &Path) -> PathBuf {
        below(folder, &self.path)
    }
}

impl FileEntry {
    /// Where it lies in a data folder.
    pub fn path_below(&self, folder: &Path) -> PathBuf {
        below(folder, &self.path)
    }

    /// Whether a file of this name, and of this size unless upstream's may
    /// differ, lies in a data folder.
    pub fn is_below(&self, folder: &Path) -> bool {
        let found = std::fs::metadata(self.path_below(folder));
        found.is_ok_and(|found| {
            found.is_file()
                && match self.size {
                    Some(size) if !self.reordered => found.len() == size,
                    _ => found.len() > 0,
                }
        })
    }
}

/// The registry writes `/` whatever the system does.
fn below(folder: &Path, path: &str) -> PathBuf {
    folder.join(path.split('/').collect::<PathBuf>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    fn fill(folder: &Path, file: &FileEntry) {
        let path = file.path_below(folder);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let size = usize::try_from(file.size.unwrap_or(1)).unwrap();
        std::fs::write(path, vec![b'x'; size]).unwrap();
    }

    #[test]
    fn data_set_is_found_unpacked_or_in_its_archive() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let entry = Registry::builtin().get("MUTAG").unwrap();
        assert_eq!(entry.find_below(folder), None);

        std::fs::write(folder.join("MUTAG.zip"), b"x").unwrap();
        assert_eq!(entry.find_below(folder), Some(folder.join("MUTAG.zip")));

        let (optional, needed): (Vec<_>, Vec<_>) = entry.files.iter().partition(|file| file.optional);
        assert_eq!(optional.len(), 1);
        for file in &needed {
            assert!(!entry.is_complete_below(folder));
            fill(folder, file);
        }
        assert_eq!(entry.find_below(folder), Some(folder.join("MUTAG")));

        // One byte short is not there.
        let path = needed[0].path_below(folder);
        std::fs::write(&path, b"1, 2\n").unwrap();
        assert!(!entry.is_complete_below(folder));
    }

    #[test]
    fn archive_of_a_layout_read_unpacked_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("hiv.zip"), b"x").unwrap();
        let entry = Registry::builtin().get("ogbg-molhiv").unwrap();
        assert_eq!(entry.find_below(folder.path()), None);
    }

    #[test]
    fn members_are_named_after_the_root_of_the_archive() {
        let entry = Registry::builtin().get("ogbg-molhiv").unwrap();
        assert_eq!(
            entry.member(&entry.files[0]).as_deref(),
            Some("hiv/raw/edge-feat.csv.gz")
        );
        let entry = Registry::builtin().get("Cora").unwrap();
        assert_eq!(entry.member(&entry.files[0]), None);
    }
}
