//! `cargo xtask data verify`: whether what is there is what it should be.

use std::path::Path;

use egg_graph::DatasetEntry;

use crate::error::{Error, Result};
use crate::terminal;

use super::checksum::{self, Verdict};
use super::counts;
use super::folders::Folders;
use super::unpack::{self, Limits};
use super::{Request, list};

/// What was found to be right.
#[derive(Debug, PartialEq, Eq)]
struct Verified {
    checked: usize,
    /// Files of which no checksum is known.
    unknown: usize,
    /// Optional files that differ from the registry's.
    notes: Vec<String>,
    /// `None`: an archive that is only read once it is unpacked.
    fingerprint: Option<String>,
}

pub(super) fn run(entries: &[&DatasetEntry], folders: &Folders, request: &Request) -> Result<()> {
    let folder = match &request.mirror {
        Some(_) => folders.mirror.as_deref().unwrap_or(&folders.to),
        None => &folders.to,
    };
    println!("in {}", folder.display());
    let (mut good, mut bad) = (0, 0);
    for entry in entries {
        let name = &entry.name;
        if !touched(entry, folder) {
            // Without names, only what is there is verified.
            bad += usize::from(!request.names.is_empty());
            println!("{name:<14} not there");
            continue;
        }
        match verify(entry, folder) {
            Ok(verified) => {
                let unread = request.print_fingerprints && verified.fingerprint.is_none();
                bad += usize::from(unread);
                good += usize::from(!unread);
                report(name, &verified, request.print_fingerprints);
            }
            Err(problems) => {
                bad += 1;
                for problem in problems {
                    println!("{name:<14} {}: {problem}", terminal::bad("wrong"));
                }
            }
        }
    }
    if good + bad == 0 {
        println!("nothing to verify; `cargo xtask data prepare --all` gets it");
        return Err(Error::Reported);
    }
    println!("{good} right, {bad} wrong or missing");
    if bad > 0 { Err(Error::Reported) } else { Ok(()) }
}

fn report(name: &str, verified: &Verified, print_fingerprints: bool) {
    let files = match verified.checked {
        1 => "1 checksum".to_owned(),
        checked => format!("{checked} checksums"),
    };
    let counts = match &verified.fingerprint {
        Some(_) => "counts agree",
        None => "counts not read: prepare it first",
    };
    println!("{name:<14} {} {files}, {counts}", terminal::good("right"));
    if verified.unknown > 0 {
        let note = format!("note: of {} files no checksum is known", verified.unknown);
        println!("{:<14} {}", "", terminal::doubtful(&note));
    }
    for note in &verified.notes {
        println!("{:<14} {}", "", terminal::doubtful(&format!("note: {note}")));
    }
    if print_fingerprints {
        match &verified.fingerprint {
            Some(fingerprint) => println!("{:<14} fingerprint = \"{fingerprint}\"", ""),
            None => println!("{:<14} no fingerprint: prepare it first", ""),
        }
    }
}

/// Whether anything of it is there.
fn touched(entry: &DatasetEntry, folder: &Path) -> bool {
    list::offers(entry, folder) || entry.files.iter().any(|file| file.path_below(folder).exists())
}

/// Whether all files that are needed are there and as the registry says; where
/// it has no checksum, the counts decide.
pub(super) fn sound(entry: &DatasetEntry, folder: &Path) -> std::result::Result<(), String> {
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
fn verify(entry: &DatasetEntry, folder: &Path) -> std::result::Result<Verified, Vec<String>> {
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
    Ok(verified)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::unpack::tests::zipped;
    use egg_graph::Registry;
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
        let verified = verify(entry, folder).unwrap();
        assert_eq!(verified.checked, 3);
        assert!(verified.fingerprint.is_some());
        for bad in [
            archive(b"1, 2\n2, 2\n"),
            zipped(&[("P/P_A.txt", EDGES), ("P/P_graph_labels.txt", LABELS)]),
            b"x".to_vec(),
        ] {
            fs::write(folder.join("P.zip"), bad).unwrap();
            assert_eq!(verify(entry, folder).unwrap_err().len(), 1);
        }
        fs::remove_file(folder.join("P.zip")).unwrap();

        unpack_into(folder);
        fs::write(folder.join("P/readme"), EDGES).unwrap();
        assert_eq!(verify(entry, folder).unwrap_err(), ["P/P_A.txt is missing"]);
        fs::write(folder.join("P/P_A.txt"), EDGES).unwrap();
        assert_eq!(verify(entry, folder).unwrap().checked, 4);
        assert_eq!(sound(entry, folder), Ok(()));
        // Of the same size, but not the same.
        fs::write(folder.join("P/readme"), b"1, 2\n2, 2\n").unwrap();
        assert_eq!(verify(entry, folder).unwrap().notes.len(), 1);
        assert_eq!(sound(entry, folder), Ok(()), "an optional file");
        fs::write(folder.join("P/P_A.txt"), b"1, 2\n2, 2\n").unwrap();
        assert!(sound(entry, folder).is_err());
        assert!(verify(entry, folder).unwrap_err()[0].contains("SHA-256"));
    }

    #[test]
    fn what_is_asked_for_by_name_must_be_there() {
        let registry = registry();
        let entries: Vec<_> = registry.entries().iter().collect();
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders {
            to: folder.path().into(),
            mirror: None,
        };
        let named = Request {
            names: vec!["p".into()],
            ..Request::default()
        };
        // Nothing at all to verify is not a success either.
        assert!(run(&entries, &folders, &Request::default()).is_err());
        assert!(run(&entries, &folders, &named).is_err());
        unpack_into(folder.path());
        assert!(run(&entries, &folders, &named).is_err());
        fs::write(folder.path().join("P/P_A.txt"), EDGES).unwrap();
        assert!(run(&entries, &folders, &named).is_ok());
    }
}
