//! Records on disk: JSON, written atomically.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Writes a file, and the folder it is in if need be.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    }
    egg_files::write(path, text.as_bytes()).map_err(Error::file(path))
}

/// Writes a value as JSON that people can read.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(Error::format(path))?;
    write(path, &(text + "\n"))
}

/// Reads a value from JSON.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = std::fs::read(path).map_err(Error::file(path))?;
    serde_json::from_slice(&bytes).map_err(Error::format(path))
}

/// The same; `None` if there is no such file.
pub(crate) fn find<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match path.exists() {
        true => read(path).map(Some),
        false => Ok(None),
    }
}
