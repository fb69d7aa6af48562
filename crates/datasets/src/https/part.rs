//! A download that is not complete yet.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use ureq::http::{HeaderMap, header};

/// The beginning of a file, and the tag that says of which version.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) tag: PathBuf,
}

impl Part {
    /// The part of a file, in the same folder.
    pub(super) fn for_file(file: &Path) -> Self {
        let with = |ending: &str| {
            let mut name = OsString::from(file);
            name.push(ending);
            PathBuf::from(name)
        };
        Self {
            path: with(".part"),
            tag: with(".part.tag"),
        }
    }

    pub(super) fn len(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |found| found.len())
    }

    pub(super) fn tag(&self) -> Option<String> {
        let text = fs::read_to_string(&self.tag).ok()?;
        Some(text).filter(|text| !text.is_empty() && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
    }

    pub(super) fn discard(&self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.tag);
    }

    /// Begins anew, with what the server calls this version. The old part goes
    /// first: the new tag must never belong to old bytes.
    pub(super) fn begin(&self, headers: &HeaderMap) -> io::Result<()> {
        self.discard();
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // A weak tag allows bytes to differ.
        let tag = text(header::ETAG)
            .filter(|tag| !tag.starts_with("W/"))
            .or_else(|| text(header::LAST_MODIFIED));
        match tag {
            Some(tag) => fs::write(&self.tag, tag),
            None => Ok(()),
        }
    }

    pub(super) fn append(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(&self.path)
    }
}
