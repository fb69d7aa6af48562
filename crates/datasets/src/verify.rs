//! Whether the files of a data set are what the registry says.

use std::fmt;
use std::path::Path;

use crate::checksum::{self, Verdict};
use crate::counts;
use crate::registry::DatasetEntry;
use crate::status;
use crate::unpack::{self, Limits};

/// What was found to be right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Files whose checksum is the registry's.
    pub checked: usize,
    /// Files of which no checksum is known.
    pub unknown: usize,
    /// What the user should know: optional files that differ from the registry's, files that
    /// could not be checked.
    pub notes: Vec<String>,
    /// The content's fingerprint; `None` for an archive that is only read once it is unpacked.
    pub fingerprint: Option<String>,
}

/// The result of verifying a data set in a data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verification {
    /// It is the data set of the registry.
    Right(Verified),
    /// Some of its files exist, but they are not the data set of the registry.
    Wrong {
        /// A sentence for each file or count that differs.
        problems: Vec<String>,
    },
    /// None of its files exist.
    NotThere,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = match self.checked {
            1 => "checksum",
            _ => "checksums",
        };
        let counts = match &self.fingerprint {
            Some(_) => "counts agree",
            None => "counts not read: it must be unpacked first",
        };
        write!(f, "{} {files}, {counts}", self.checked)
    }
}

/// Compares what a data folder has of a data set, unpacked and in its archive, with the registry:
/// the SHA-256 of every file, the counts and the fingerprint of what is read.
///
/// ```
/// use egg_datasets::{Registry, Verification, verify};
///
/// let folder = tempfile::tempdir()?;
/// let entry = &Registry::builtin().entries()[0];
/// assert_eq!(verify(entry, folder.path()), Verification::NotThere);
/// std::fs::write(folder.path().join("MUTAG.zip"), "no archive")?;
/// assert!(matches!(verify(entry, folder.path()), Verification::Wrong { .. }));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn verify(entry: &DatasetEntry, folder: &Path) -> Verification {
    if !touched(entry, folder) {
        return Verification::NotThere;
    }
    match check(entry, folder) {
        Ok(verified) => Verification::Right(verified),
        Err(problems) => Verification::Wrong { problems },
    }
}

/// Whether any of its files exist.
fn touched(entry: &DatasetEntry, folder: &Path) -> bool {
    status::offers(entry, folder) || entry.files.iter().any(|file| file.path_below(folder).exists())
}

/// Whether all files that are needed exist and are as the registry says; where it has no
/// checksum, the counts decide.
pub(crate) fn sound(entry: &DatasetEntry, folder: &Path) -> std::result::Result<(), String> {
    let mut by_content = false;
    for file in entry.files.iter().filter(|file| !file.optional) {
        let summed = checksum::of_file(&file.path_below(folder)).map_err(|error| error.to_string())?;
        match checksum::judge(file, &summed) {
            Verdict::Good => {}
            Verdict::Unknown | Verdict::Reordered => by_content = true,
            Verdict::Bad(why) => return Err(why),
        }
    }
    if by_content {
        counts::check(entry, &entry.path_below(folder))?;
    }
    Ok(())
}

/// All that is wrong, or what is right.
fn check(entry: &DatasetEntry, folder: &Path) -> std::result::Result<Verified, Vec<String>> {
    let mut problems = Vec::new();
    let mut verified = Verified {
        checked: 0,
        unknown: 0,
        notes: Vec::new(),
        fingerprint: None,
    };
    let mut reordered = false;
    let mut judge = |file, summed: &_| match checksum::judge(file, summed) {
        Verdict::Good => verified.checked += 1,
        Verdict::Unknown => verified.unknown += 1,
        Verdict::Reordered => reordered = true,
        Verdict::Bad(why) if file.optional => verified.notes.push(why),
        Verdict::Bad(why) => problems.push(why),
    };

    let archive = entry.archive.as_ref().map(|archive| archive.path_below(folder));
    let archive = archive.filter(|path| path.is_file());
    let unpacked = entry.files.iter().any(|file| file.path_below(folder).exists());
    let mut lacking = Vec::new();
    if unpacked || archive.is_none() {
        for file in &entry.files {
            let path = file.path_below(folder);
            if path.is_file() {
                match checksum::of_file(&path) {
                    Ok(summed) => judge(file, &summed),
                    Err(error) => lacking.push(error.to_string()),
                }
            } else if !file.optional {
                lacking.push(format!("{} is missing", file.path));
            }
        }
    }
    if let Some(path) = &archive {
        let wanted = |name: &str| {
            let mut files = entry.files.iter();
            files.find(|file| entry.member(file).as_deref() == Some(name))
        };
        match unpack::sum(path, &Limits::DATASET, |name| wanted(name).is_some()) {
            Ok(members) => {
                for file in entry.files.iter().filter(|file| !file.optional) {
                    let member = entry.member(file).unwrap_or_default();
                    if !members.iter().any(|(name, _)| *name == member) {
                        lacking.push(format!("{} has no {member}", path.display()));
                    }
                }
                for (name, summed) in &members {
                    if let Some(file) = wanted(name) {
                        judge(file, summed);
                    }
                }
            }
            Err(error) => lacking.push(error.to_string()),
        }
    }
    problems.extend(lacking);
    if !problems.is_empty() {
        return Err(problems);
    }

    if let Some(path) = entry.find_below(folder) {
        if reordered {
            counts::same_content(entry, &path).map_err(|why| vec![why])?;
        }
        verified.fingerprint = Some(counts::check(entry, &path).map_err(|why| vec![why])?);
    }
    if verified.unknown > 0 {
        let note = format!("of {} files no checksum is known", verified.unknown);
        verified.notes.push(note);
    }
    Ok(verified)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::zipped::zipped;
    use std::fs;

    const EDGES: &[u8] = b"1, 2\n2, 1\n";
    const INDICATOR: &[u8] = b"1\n1\n";
    const LABELS: &[u8] = b"5\n";

    fn registry() -> Registry {
        let file = |name: &str, content: &[u8]| {
            let sum = checksum::copy(&mut { content }, &mut std::io::sink())
                .unwrap()
                .sha256;
            let size = content.len();
            format!("[[dataset.file]]\npath = 'P/{name}'\nsize = {size}\nsha256 = '{sum}'\n")
        };
        Registry::parse(&format!(
            "format = 1\n[[dataset]]\nname = 'P'\naliases = []\ntask = 'graph-classification'\n\
             layout = 'tu'\npath = 'P'\nstem = 'P'\nlicence = 'none'\ncitations = ['none']\n\
             [dataset.counts]\ngraphs = 1\nnodes = 2\nedges = 1\nfeatures = 0\nclasses = 1\n\
             [dataset.archive]\npath = 'P.zip'\nurl = 'https://localhost/P.zip'\nroot = 'P'\n{}{}{}{}optional = true\n",
            file("P_A.txt", EDGES),
            file("P_graph_indicator.txt", INDICATOR),
            file("P_graph_labels.txt", LABELS),
            file("readme", EDGES),
        ))
        .unwrap()
    }

    /// An archive with this edge list.
    fn archive(edges: &[u8]) -> Vec<u8> {
        zipped(&[
            ("P/P_A.txt", edges),
            ("P/P_graph_indicator.txt", INDICATOR),
            ("P/P_graph_labels.txt", LABELS),
        ])
    }

    fn unpack_into(folder: &Path) {
        fs::create_dir(folder.join("P")).unwrap();
        fs::write(folder.join("P/P_graph_indicator.txt"), INDICATOR).unwrap();
        fs::write(folder.join("P/P_graph_labels.txt"), LABELS).unwrap();
    }

    #[test]
    fn archives_and_files_are_checked_by_their_contents() {
        let registry = registry();
        let entry = registry.get("p").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert!(!touched(entry, folder));

        fs::write(folder.join("P.zip"), archive(EDGES)).unwrap();
        assert!(touched(entry, folder));
        let verified = check(entry, folder).unwrap();
        assert_eq!(verified.checked, 3);
        assert!(verified.fingerprint.is_some());
        for bad in [
            archive(b"1, 2\n2, 2\n"),
            zipped(&[("P/P_A.txt", EDGES), ("P/P_graph_labels.txt", LABELS)]),
            b"x".to_vec(),
        ] {
            fs::write(folder.join("P.zip"), bad).unwrap();
            assert_eq!(check(entry, folder).unwrap_err().len(), 1);
        }
        fs::remove_file(folder.join("P.zip")).unwrap();

        unpack_into(folder);
        fs::write(folder.join("P/readme"), EDGES).unwrap();
        assert_eq!(check(entry, folder).unwrap_err(), ["P/P_A.txt is missing"]);
        fs::write(folder.join("P/P_A.txt"), EDGES).unwrap();
        assert_eq!(check(entry, folder).unwrap().checked, 4);
        assert_eq!(sound(entry, folder), Ok(()));
        // Of the same size, but not the same.
        fs::write(folder.join("P/readme"), b"1, 2\n2, 2\n").unwrap();
        assert_eq!(check(entry, folder).unwrap().notes.len(), 1);
        assert_eq!(sound(entry, folder), Ok(()), "an optional file");
        fs::write(folder.join("P/P_A.txt"), b"1, 2\n2, 2\n").unwrap();
        assert!(sound(entry, folder).is_err());
        assert!(check(entry, folder).unwrap_err()[0].contains("SHA-256"));
    }
}
