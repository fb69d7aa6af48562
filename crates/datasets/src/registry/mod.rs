//! The benchmark data sets that are known by name.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

mod check;
mod entry;

use std::sync::LazyLock;

use crate::error::{Error, Result};

pub use entry::{ArchiveEntry, Counts, DatasetEntry, EntryPreset, FileEntry, Task};

const BUILTIN: &str = include_str!("../../registry.toml");

/// The form of the file that this code reads.
const FORMAT: u32 = 1;

/// Which data sets there are, where they come from and what is in them.
///
/// ```
/// use egg_datasets::{Error, Registry};
///
/// let registry = Registry::builtin();
/// let entry = registry.get("imdb_binary")?;
/// assert_eq!((entry.name.as_str(), entry.counts.graphs), ("IMDB-BINARY", 1000));
///
/// let refused = registry.get("PROTIENS").unwrap_err();
/// assert_eq!(refused.to_string(), "there is no data set `PROTIENS`; did you mean PROTEINS?");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Registry {
    entries: Vec<DatasetEntry>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    #[serde(rename = "dataset")]
    entries: Vec<DatasetEntry>,
}

impl Registry {
    /// The one that comes with this crate.
    #[expect(clippy::expect_used, reason = "a part of the program, parsed by a test")]
    pub fn builtin() -> &'static Self {
        static REGISTRY: LazyLock<Registry> =
            LazyLock::new(|| Registry::parse(BUILTIN).expect("a test parses registry.toml"));
        &REGISTRY
    }

    /// Reads and checks a registry in the form of this crate's `registry.toml`.
    ///
    /// # Errors
    /// [`Error::Registry`], which names the data set and the field.
    pub fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if file.format != FORMAT {
            return Err(wrong(format!(
                "format {} is not known, only {FORMAT}; this needs another version of the program",
                file.format
            )));
        }
        check::entries(&file.entries).map_err(wrong)?;
        Ok(Self {
            entries: file.entries,
        })
    }

    /// All entries, in the order of the file.
    pub fn entries(&self) -> &[DatasetEntry] {
        &self.entries
    }

    /// A data set by its name or one of its aliases, without regard to case,
    /// `-`, `_`, `&` and spaces.
    ///
    /// # Errors
    /// [`Error::UnknownDataset`], with the nearest name if one is near.
    pub fn get(&self, name: &str) -> Result<&DatasetEntry> {
        let wanted = normal(name);
        let spelled = |entry: &&DatasetEntry| entry.spellings().any(|spelling| normal(spelling) == wanted);
        self.entries
            .iter()
            .find(spelled)
            .ok_or_else(|| Error::UnknownDataset {
                name: name.to_owned(),
                suggestion: self.nearest(&wanted),
            })
    }

    /// The official name whose spelling takes the fewest edits, if they are few.
    fn nearest(&self, wanted: &str) -> Option<String> {
        // Long enough for every name; a page of text need not be compared.
        if wanted.len() > 64 {
            return None;
        }
        let edits = |entry: &DatasetEntry| {
            let distances = entry
                .spellings()
                .map(|spelling| strsim::osa_distance(&normal(spelling), wanted));
            distances.min().unwrap_or(usize::MAX)
        };
        self.entries
            .iter()
            .map(|entry| (edits(entry), entry))
            .min_by_key(|(edits, _)| *edits)
            .filter(|(edits, _)| *edits <= (wanted.chars().count() / 3).max(1))
            .map(|(_, entry)| entry.name.clone())
    }
}

/// What of a name matters.
fn normal(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, '-' | '_' | '&' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

fn wrong(problem: String) -> Error {
    Error::Registry { problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egg_graph::Layout;

    #[test]
    fn the_builtin_registry_is_sound_and_complete() {
        let registry = Registry::parse(BUILTIN).unwrap();
        let names: Vec<_> = registry
            .entries()
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "MUTAG",
                "PROTEINS",
                "NCI1",
                "Mutagenicity",
                "DD",
                "IMDB-BINARY",
                "COLLAB",
                "Cora",
                "Citeseer",
                "Pubmed",
                "Coauthor-CS",
                "ogbg-molhiv",
                "Wiki-CS"
            ]
        );
        for entry in registry.entries() {
            let known = entry.name != "Wiki-CS";
            assert_eq!(entry.counts.edges.is_some(), known, "{}", entry.name);
            assert_eq!(entry.counts.self_loops.is_some(), known, "{}", entry.name);
            assert_eq!(entry.size().is_some(), known, "{}", entry.name);
            for file in &entry.files {
                assert_eq!(file.sha256.is_some(), known, "{}", file.path);
                assert!(!file.path.ends_with(".zip"), "{}", file.path);
            }
        }
    }

    #[test]
    fn aliases_of_other_libraries_resolve() {
        for (spelling, name) in [
            ("CiteSeer", "Citeseer"),
            ("citeseer", "Citeseer"),
            ("PubMed", "Pubmed"),
            ("CS", "Coauthor-CS"),
            ("coauthor_cs", "Coauthor-CS"),
            ("CoauthorCS", "Coauthor-CS"),
            ("ogbg_molhiv", "ogbg-molhiv"),
            ("OGBG-MOLHIV", "ogbg-molhiv"),
            ("WikiCS", "Wiki-CS"),
            ("D&D", "DD"),
            ("dd", "DD"),
            ("Mutagen", "Mutagenicity"),
            ("IMDB-B", "IMDB-BINARY"),
            ("mutag", "MUTAG"),
        ] {
            assert_eq!(
                Registry::builtin().get(spelling).unwrap().name,
                name,
                "{spelling}"
            );
        }
    }

    #[test]
    fn near_miss_gets_a_suggestion() {
        let suggestion = |name: &str| match Registry::builtin().get(name) {
            Err(Error::UnknownDataset { suggestion, .. }) => suggestion,
            other => panic!("{other:?}"),
        };
        assert_eq!(suggestion("PROTIENS").as_deref(), Some("PROTEINS"));
        assert_eq!(suggestion("Core").as_deref(), Some("Cora"));
        assert_eq!(suggestion("siteseer").as_deref(), Some("Citeseer"));
        assert_eq!(suggestion("reddit-threads"), None);
        assert_eq!(suggestion(""), None);
        assert_eq!(suggestion(&"a".repeat(100_000)), None);
    }

    #[test]
    fn paths_are_refused_as_names() {
        for name in [
            "../MUTAG",
            "/MUTAG",
            "MUTAG/",
            "MUTAG.zip",
            "C:MUTAG",
            "..\\MUTAG",
        ] {
            assert!(
                matches!(Registry::builtin().get(name), Err(Error::UnknownDataset { .. })),
                "{name}"
            );
        }
    }

    #[test]
    fn layout_names_are_spelled_as_in_the_registry() {
        for layout in Layout::ALL {
            assert_eq!(
                serde_json::to_string(layout).unwrap(),
                format!("\"{}\"", layout.name())
            );
        }
    }

    #[test]
    fn another_format_or_field_is_refused() {
        assert!(Registry::parse("format = 2\ndataset = []").is_err());
        assert!(Registry::parse("format = 1\ndataset = []\nmore = 1").is_err());
        let misspelt = BUILTIN.replacen("sha256 =", "sha265 =", 1);
        assert!(
            Registry::parse(&misspelt)
                .unwrap_err()
                .to_string()
                .contains("sha265")
        );
    }
}
