//! Zip archives from untrusted sources: names that stay inside, sizes that stay within
//! limits, and every member at most once.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::checksum::{self, Summed};
use crate::destination::NewFile;
use crate::error::{Error, Result};

pub(crate) struct Limits {
    pub(crate) members: usize,
    /// Bytes of all members, unpacked.
    pub(crate) total: u64,
    /// Of those to the archive's own. (Of a single member's it would say
    /// little: a file of equal lines shrinks by hundreds.)
    pub(crate) ratio: u64,
}

impl Limits {
    /// Some times what the largest data set needs: 6 members of 366 MB, from a
    /// sixth of that.
    pub(crate) const DATASET: Self = Self {
        members: 200,
        total: 4 << 30,
        ratio: 60,
    };
}

/// Writes the members for which `target` has a place, and sums them. Everything
/// in the archive is checked first, members that are not wanted as well.
pub(crate) fn unpack(
    path: &Path,
    limits: &Limits,
    target: impl Fn(&str) -> Option<PathBuf>,
) -> Result<Vec<(String, Summed)>> {
    each(path, limits, |name, member| {
        let Some(place) = target(name) else {
            return Ok(None);
        };
        let mut file = NewFile::create(&place)?;
        let summed = checksum::copy(&mut { member }, &mut file)?;
        file.sync()?;
        Ok(Some(summed))
    })
}

/// Sums the wanted members without writing them.
pub(crate) fn sum(
    path: &Path,
    limits: &Limits,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Summed)>> {
    each(path, limits, |name, member| {
        if !wanted(name) {
            return Ok(None);
        }
        checksum::copy(&mut { member }, &mut io::sink()).map(Some)
    })
}

fn each(
    path: &Path,
    limits: &Limits,
    mut take: impl FnMut(&str, &mut dyn Read) -> io::Result<Option<Summed>>,
) -> Result<Vec<(String, Summed)>> {
    let failed = |problem: &dyn std::fmt::Display| Error::Archive {
        path: path.to_owned(),
        problem: problem.to_string(),
    };
    let file = File::open(path).map_err(Error::io(path))?;
    let packed = file.metadata().map_err(Error::io(path))?.len();
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|e| failed(&e))?;
    let members = inspect(&mut archive, packed, limits).map_err(|problem| failed(&problem))?;

    let mut taken = Vec::new();
    for (index, name, size) in members {
        let in_member = |problem: &dyn std::fmt::Display| failed(&format_args!("{name}: {problem}"));
        let member = archive.by_index(index).map_err(|e| in_member(&e))?;
        // One more than it claims, to see whether it lies.
        let mut member = member.take(size + 1);
        if let Some(summed) = take(&name, &mut member).map_err(|e| in_member(&e))? {
            if summed.bytes != size {
                return Err(in_member(&format_args!(
                    "unpacks to other than the {size} bytes it claims"
                )));
            }
            taken.push((name, summed));
        }
    }
    Ok(taken)
}

/// Index, name and claimed size of every file; or what is wrong.
fn inspect(
    archive: &mut ZipArchive<BufReader<File>>,
    packed: u64,
    limits: &Limits,
) -> std::result::Result<Vec<(usize, String, u64)>, String> {
    if archive.len() > limits.members {
        return Err(format!(
            "{} members are more than {}",
            archive.len(),
            limits.members
        ));
    }
    if archive.has_duplicate_names() {
        return Err("two members have the same name".into());
    }
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    let mut total = 0u64;
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|e| e.to_string())?;
        let name = std::str::from_utf8(member.name_raw())
            .map_err(|_| format!("the name of member {index} is not UTF-8"))?
            .to_owned();
        let folder = member.is_dir();
        check_name(name.strip_suffix('/').filter(|_| folder).unwrap_or(&name))
            .map_err(|problem| format!("member {name:?} {problem}"))?;
        // The file type in Unix's mode bits: none said, regular, or folder.
        let kind = member.unix_mode().unwrap_or(0) & 0o170_000;
        if member.is_symlink() || !matches!(kind, 0 | 0o100_000 | 0o040_000) {
            return Err(format!("member {name:?} is a link or a device"));
        }
        if member.encrypted() {
            return Err(format!("member {name:?} is encrypted"));
        }
        if !seen.insert(name.trim_end_matches('/').to_lowercase()) {
            return Err(format!("member {name:?} is there twice, but for case"));
        }
        total = total.saturating_add(member.size());
        if !folder {
            files.push((index, name, member.size()));
        }
    }
    if total > limits.total {
        return Err(format!("unpacks to {total} bytes, more than {}", limits.total));
    }
    if total > packed.saturating_mul(limits.ratio) {
        return Err(format!(
            "unpacks to {total} bytes, more than {} times its own {packed}",
            limits.ratio
        ));
    }
    if archive.has_overlapping_files().map_err(|e| e.to_string())? {
        return Err("members share their data".into());
    }
    Ok(files)
}

/// A relative path that means the same on every system and stays inside.
fn check_name(name: &str) -> std::result::Result<(), &'static str> {
    if name.starts_with('/') {
        return Err("is an absolute path");
    }
    if name.contains(['\\', ':', '\0']) {
        return Err("has a backslash, colon or NUL in its name");
    }
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("leads out of its folder");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zipped::zipped;
    use std::fs;
    use zip::write::{SimpleFileOptions, ZipWriter};

    /// Changes every place where `from` stands; the lengths must be equal.
    fn patched(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let places: Vec<usize> = (0..=bytes.len() - from.len())
            .filter(|at| bytes[*at..].starts_with(from))
            .collect();
        assert!(!places.is_empty());
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
        bytes
    }

    /// Unpacks below `out` in a new folder; nothing may appear outside it.
    fn tried(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Summed)>> {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.zip");
        fs::write(&archive, bytes).unwrap();
        let out = folder.path().join("out");
        let taken = unpack(&archive, limits, |name| Some(out.join(name)));
        for entry in fs::read_dir(folder.path()).unwrap().flatten() {
            let name = entry.file_name();
            assert!(name == "a.zip" || name == "out", "{name:?} escaped");
        }
        if let Ok(taken) = &taken {
            for (name, summed) in taken {
                assert_eq!(fs::metadata(out.join(name)).unwrap().len(), summed.bytes);
            }
        }
        taken
    }

    fn refusal(bytes: &[u8]) -> String {
        tried(bytes, &Limits::DATASET).unwrap_err().to_string()
    }

    #[test]
    fn members_are_unpacked_unchanged() {
        let bytes = zipped(&[("D/a.txt", b"abc"), ("D/deep/b.txt", b"")]);
        let taken = tried(&bytes, &Limits::DATASET).unwrap();
        let names: Vec<_> = taken.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["D/a.txt", "D/deep/b.txt"]);
        assert!(taken[0].1.sha256.starts_with("ba7816bf"));
    }

    #[test]
    fn names_that_could_escape_are_refused() {
        for (name, says) in [
            ("../escape", "leads out"),
            ("D/../../escape", "leads out"),
            ("D/./x", "leads out"),
            ("D//x", "leads out"),
            ("/absolute", "absolute"),
            ("C:/drive", "colon"),
            ("C:drive", "colon"),
            ("..\\escape", "backslash"),
            ("\\\\host\\share", "backslash"),
        ] {
            // Packed under a harmless name: a careful writer might mend it.
            let harmless = "x".repeat(name.len());
            let bytes = patched(
                zipped(&[(&harmless, b"abc")]),
                harmless.as_bytes(),
                name.as_bytes(),
            );
            let refusal = refusal(&bytes);
            assert!(refusal.contains(says), "{name}: {refusal}");
        }
    }

    #[test]
    fn any_escaping_member_refuses_the_archive() {
        let bytes = patched(
            zipped(&[("good", b"abc"), ("xxx/evil", b"abc")]),
            b"xxx/",
            b".../",
        );
        assert!(tried(&bytes, &Limits::DATASET).is_ok(), "three dots are a name");
        let bytes = patched(zipped(&[("good", b"abc"), ("xx/evil", b"abc")]), b"xx/", b"../");
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.zip");
        fs::write(&archive, bytes).unwrap();
        let out = folder.path().join("out");
        let target = |name: &str| (name == "good").then(|| out.join(name));
        assert!(unpack(&archive, &Limits::DATASET, target).is_err());
        assert!(!out.exists());
    }

    #[test]
    fn links_are_refused() {
        let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
        writer
            .add_symlink("link", "/etc/passwd", SimpleFileOptions::default())
            .unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert!(refusal(&bytes).contains("link"));
    }

    #[test]
    fn names_that_repeat_are_refused() {
        let bytes = patched(zipped(&[("aaaa", b"1"), ("bbbb", b"2")]), b"bbbb", b"aaaa");
        assert!(refusal(&bytes).contains("same name"));
        let bytes = zipped(&[("readme", b"1"), ("README", b"2")]);
        assert!(refusal(&bytes).contains("twice"));
        let bytes = zipped(&[("a/", b""), ("a", b"2")]);
        assert!(refusal(&bytes).contains("twice"));
    }

    #[test]
    fn declared_zip_bomb_is_refused_by_size_ratio_or_count() {
        let zeros = vec![0; 1 << 20];
        let bytes = zipped(&[("bomb", &zeros)]);
        assert!(refusal(&bytes).contains("times its own"));
        let small = Limits {
            total: 1000,
            ..Limits::DATASET
        };
        assert!(
            tried(&bytes, &small)
                .unwrap_err()
                .to_string()
                .contains("more than 1000")
        );
        let few = Limits {
            members: 1,
            ..Limits::DATASET
        };
        let two = zipped(&[("a", b"1"), ("b", b"2")]);
        assert!(tried(&two, &few).unwrap_err().to_string().contains("2 members"));
        assert!(tried(&two, &Limits::DATASET).is_ok());
    }

    #[test]
    fn undeclared_zip_bomb_is_stopped_at_its_declared_size() {
        let zeros = vec![0; 1 << 20];
        let honest = zipped(&[("bomb", &zeros)]);
        let claimed = (1u32 << 20).to_le_bytes();
        for claim in [10u32, 0] {
            let bytes = patched(honest.clone(), &claimed, &claim.to_le_bytes());
            let folder = tempfile::tempdir().unwrap();
            let archive = folder.path().join("a.zip");
            fs::write(&archive, bytes).unwrap();
            let out = folder.path().join("out");
            let refused = unpack(&archive, &Limits::DATASET, |_| Some(out.clone()));
            assert!(refused.is_err(), "{claim}");
            assert!(fs::metadata(&out).map_or(0, |found| found.len()) <= u64::from(claim) + 1);
        }
    }

    #[test]
    fn a_damaged_or_short_archive_is_refused() {
        let text: Vec<u8> = (0..20_000u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let whole = zipped(&[("a", &text)]);
        assert!(tried(&whole, &Limits::DATASET).is_ok());
        assert!(tried(&whole[..whole.len() / 2], &Limits::DATASET).is_err());
        assert!(tried(b"not a zip", &Limits::DATASET).is_err());
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 1;
        assert!(tried(&damaged, &Limits::DATASET).is_err());
    }
}
