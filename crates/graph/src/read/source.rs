//! A set of files that lie in a folder or in a zip archive.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::read::packed::open_zip;
use crate::read::text::Lines;

/// Large enough that reading, not calling, takes the time.
const BUFFER: usize = 1 << 18;

/// Where the files of a data set are.
pub(crate) struct Source {
    path: PathBuf,
    place: Place,
    /// Paths of the files, relative to the folder or as in the archive.
    names: Vec<String>,
}

enum Place {
    Folder,
    Zip(Box<ZipArchive<BufReader<File>>>),
}

impl Source {
    /// Opens a folder, of which only the files directly in it count, or a zip
    /// archive.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Ok(Self {
                path: path.to_owned(),
                place: Place::Folder,
                names: file_names(path)?,
            });
        }
        let archive = open_zip(path, |path, error| {
            Error::file(path, format!("not a zip archive that can be read: {error}"))
        })?;
        Ok(Self {
            path: path.to_owned(),
            // A name that is no text can't be the name of a file we want.
            names: archive
                .file_names()
                .filter_map(|name| name.ok().map(String::from))
                .filter(|name| !is_hidden(name))
                .collect(),
            place: Place::Zip(Box::new(archive)),
        })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The path of one of the files, for messages.
    pub(crate) fn describe(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads a file line by line; `None` if it is not there.
    pub(crate) fn lines(
        &mut self,
        name: &str,
        max_bytes: u64,
    ) -> Result<Option<Lines<Box<dyn BufRead + '_>>>> {
        if !self.names.iter().any(|known| known == name) {
            return Ok(None);
        }
        let described = self.describe(name);
        let input: Box<dyn BufRead> = match &mut self.place {
            Place::Folder => {
                let file = File::open(&described).map_err(Error::io(&described))?;
                Box::new(BufReader::with_capacity(BUFFER, file))
            }
            Place::Zip(archive) => {
                let member = archive
                    .by_name(name)
                    .map_err(|error| Error::file(&described, format!("can't be unpacked: {error}")))?;
                Box::new(BufReader::with_capacity(BUFFER, member))
            }
        };
        Ok(Some(Lines::new(input, described, max_bytes)))
    }
}

/// The files directly in a folder.
pub(crate) fn file_names(folder: &Path) -> Result<Vec<String>> {
    names(folder, Path::is_file)
}

/// The folders directly in a folder.
pub(crate) fn folder_names(folder: &Path) -> Result<Vec<String>> {
    names(folder, Path::is_dir)
}

/// Sorted names; hidden ones, our own cache files among them, don't count.
fn names(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder))? {
        let entry = entry.map_err(Error::io(folder))?;
        if let Ok(name) = entry.file_name().into_string()
            && !is_hidden(&name)
            && wanted(&entry.path())
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Hidden files, and what macOS adds to every file of an archive.
fn is_hidden(name: &str) -> bool {
    name.split('/')
        .any(|part| part.starts_with('.') || part == "__MACOSX")
}
