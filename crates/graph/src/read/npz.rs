//! `.npz` archives: a zip of `.npy` files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::npy::Source;
use super::numpy::NumpyArray;
use super::options::ReadOptions;
use super::packed::open_zip;
use crate::error::{Error, Result};

/// An open `.npz` archive. Arrays are unpacked when they are asked for; the
/// others, which may hold pickled objects, are never read.
///
/// ```no_run
/// use egg_graph::{Npz, ReadOptions};
/// let mut archive = Npz::open("ms_academic_cs.npz".as_ref(), &ReadOptions::default())?;
/// let labels = archive.array("labels")?.to_integers()?;
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug)]
pub struct Npz {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    /// From the name of an array to its place in the archive.
    members: BTreeMap<String, usize>,
    /// How many more bytes may be unpacked.
    remaining: u64,
    limit: u64,
}

impl Npz {
    /// Opens an archive and reads its table of contents.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::File`] if it is not a zip archive, or
    /// [`Error::Inflated`] if its arrays claim to unpack to far more than it has.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let mut archive = open_zip(path, damaged)?;
        let mut members = BTreeMap::new();
        for index in 0..archive.len() {
            let member = archive
                .by_index_raw(index)
                .map_err(|error| damaged(path, error))?;
            let name = member.name().map_err(|error| damaged(path, error))?;
            if let Some(name) = name.strip_suffix(".npy") {
                members.insert(name.to_owned(), index);
            }
        }
        Ok(Self {
            path: path.to_owned(),
            archive,
            members,
            remaining: options.max_bytes,
            limit: options.max_bytes,
        })
    }

    /// What the arrays are called, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Whether there is an array of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Unpacks an array.
    ///
    /// # Errors
    /// [`Error::File`] if there is none of this name or the archive is damaged,
    /// [`Error::OverLimit`] if what was unpacked in all is more than
    /// [`ReadOptions::max_bytes`], and as [`crate::read_npy`].
    pub fn array(&mut self, name: &str) -> Result<NumpyArray<'static>> {
        let Some(&index) = self.members.get(name) else {
            let all: Vec<&str> = self.names().take(20).collect();
            return Err(Error::file(
                &self.path,
                format!("there is no array `{name}` among {}", all.join(", ")),
            ));
        };
        let member = self
            .archive
            .by_index(index)
            .map_err(|error| damaged(&self.path, error))?;
        let file = self.path.join(format!("{name}.npy"));
        let mut source = Source::new(member, &file);
        let array = source.array(self.remaining).map_err(|error| match error {
            Error::OverLimit { file, what, .. } => Error::OverLimit {
                file,
                what,
                limit: self.limit,
            },
            other => other,
        })?;
        self.remaining = self.remaining.saturating_sub(array.byte_len());
        Ok(array)
    }
}

fn damaged(path: &Path, error: zip::result::ZipError) -> Error {
    match error {
        zip::result::ZipError::Io(source) => Error::io(path)(source),
        other => Error::file(path, format!("this is not a sound .npz (zip) archive: {other}")),
    }
}
