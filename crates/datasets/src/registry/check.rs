//! What must hold of a registry before anything relies on it.

use std::collections::HashMap;

use super::entry::{ArchiveEntry, DatasetEntry, FileEntry};
use super::normal;

type Checked = Result<(), String>;

/// The first thing that is wrong, if any.
pub(super) fn entries(entries: &[DatasetEntry]) -> Checked {
    let mut spellings = HashMap::new();
    let mut paths = HashMap::new();
    for entry in entries {
        let name = &entry.name;
        self::entry(entry).map_err(|problem| format!("data set `{name}`: {problem}"))?;
        for spelling in entry.spellings() {
            if let Some(other) = spellings.insert(normal(spelling), name)
                && other != name
            {
                return Err(format!("`{spelling}` could be `{name}` or `{other}`"));
            }
        }
        let archive = entry.archive.iter().map(|archive| &archive.path);
        for path in entry.files.iter().map(|file| &file.path).chain(archive) {
            // Some file systems ignore case.
            if let Some(other) = paths.insert(path.to_lowercase(), name) {
                return Err(format!("`{path}` is a file of `{name}` and of `{other}`"));
            }
        }
    }
    Ok(())
}

fn entry(entry: &DatasetEntry) -> Checked {
    for spelling in entry.spellings() {
        if normal(spelling).is_empty() || spelling.contains(['/', '\\', ':']) {
            return Err(format!("`{spelling}` is not a name"));
        }
    }
    relative(&entry.path)?;
    require(!entry.stem.contains(['/', '\\']), "stem is a path")?;
    require(!entry.licence.is_empty(), "no licence")?;
    require(!entry.citations.is_empty(), "no citation")?;
    let counts = &entry.counts;
    require(
        counts.graphs > 0 && counts.nodes > 0 && counts.classes > 0,
        "counts of zero",
    )?;
    require(
        counts.edges.or(counts.quoted_edges).is_some(),
        "neither edges nor quoted_edges",
    )?;
    entry.fingerprint.as_deref().map_or(Ok(()), hexadecimal)?;
    entry.archive.as_ref().map_or(Ok(()), archive)?;
    require(
        entry.files.iter().any(|file| !file.optional),
        "no file that is needed",
    )?;
    let inside = format!("{}/", entry.path);
    for file in &entry.files {
        self::file(file)?;
        match (&entry.archive, &file.url) {
            (Some(_), None) => require(
                file.path.starts_with(&inside),
                "a file of the archive is not below path",
            )?,
            (None, Some(url)) => https(url)?,
            _ => return Err(format!("{} needs a url or an archive, not both", file.path)),
        }
    }
    Ok(())
}

fn archive(archive: &ArchiveEntry) -> Checked {
    relative(&archive.path)?;
    relative(&archive.root)?;
    https(&archive.url)?;
    archive.mirror_sha256.as_deref().map_or(Ok(()), hexadecimal)
}

fn file(file: &FileEntry) -> Checked {
    relative(&file.path)?;
    require(file.size != Some(0), "a file of no bytes")?;
    file.sha256.as_deref().map_or(Ok(()), hexadecimal)
}

fn require(holds: bool, problem: &str) -> Checked {
    if holds { Ok(()) } else { Err(problem.into()) }
}

fn https(url: &str) -> Checked {
    require(
        url.starts_with("https://"),
        &format!("{url} does not begin with https://"),
    )
}

fn hexadecimal(sum: &str) -> Checked {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    require(
        sum.len() == 64 && sum.bytes().all(lower),
        &format!("`{sum}` is not a SHA-256 in lower case"),
    )
}

/// Nothing that could lead out of a data folder, on any system.
fn relative(path: &str) -> Checked {
    let plain =
        |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '\0']);
    require(
        path.split('/').all(plain),
        &format!("`{path}` is not a plain relative path"),
    )
}

#[cfg(test)]
mod tests {
    use crate::Registry;

    const TEXT: &str = include_str!("../../registry.toml");

    /// The builtin registry with its first `from` replaced.
    fn refusal(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from), "{from}");
        let changed = Registry::parse(&TEXT.replacen(from, to, 1));
        changed.unwrap_err().to_string()
    }

    #[test]
    fn invalid_registry_entries_are_refused() {
        for (from, to, says) in [
            ("name = \"MUTAG\"", "name = \"../MUTAG\"", "not a name"),
            (
                "name = \"PROTEINS\"",
                "name = \"mutag\"",
                "could be `mutag` or `MUTAG`",
            ),
            ("\"Mutagen\"", "\"dd\"", "could be `DD` or `Mutagenicity`"),
            (
                "path = \"MUTAG/MUTAG_A.txt\"",
                "path = \"MUTAG/../../x\"",
                "relative",
            ),
            (
                "path = \"MUTAG/MUTAG_A.txt\"",
                "path = \"/etc/passwd\"",
                "relative",
            ),
            ("path = \"MUTAG/MUTAG_A.txt\"", "path = \"MUTAG/c:x\"", "relative"),
            ("path = \"MUTAG/MUTAG_A.txt\"", "path = \"other/x\"", "below path"),
            ("path = \"MUTAG.zip\"", "path = \"DD.zip\"", "and of `MUTAG`"),
            ("https://www", "http://www", "https"),
            ("sha256 = \"d965", "sha256 = \"D965", "lower case"),
            ("sha256 = \"d965", "sha256 = \"965", "SHA-256"),
            ("graphs = 188", "graphs = 0", "zero"),
            ("edges = 3721", "", "quoted_edges"),
            ("url = \"https://github.com/kimiyoung", "# ", "needs a url"),
            (
                "licence = \"none stated by the collection\"",
                "licence = \"\"",
                "licence",
            ),
        ] {
            let refusal = refusal(from, to);
            assert!(refusal.contains(says), "{to}: {refusal}");
        }
    }
}
