//! Files that are there whole or not at all.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// An error of the file system, with the file's name.
pub(crate) fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    |source| Error::File {
        path: path.to_owned(),
        source,
    }
}

/// Writes beside `path`, flushes to the disk, and renames.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let written = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".egg-").suffix(".part");
        #[cfg(unix)]
        {
            // As an ordinary file would be; the user's umask still applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    written().map_err(failed(path))
}

/// Writes a value as JSON that people can read.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: format!("it can't be written as JSON: {error}"),
    })?;
    bytes.push(b'\n');
    write(path, &bytes)
}

/// Reads what [`write_json`] wrote.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = std::fs::read(path).map_err(failed(path))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}
