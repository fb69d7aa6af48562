//! Values in files of JSON, written atomically.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Writes a value as JSON that people can read.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: format!("it can't be written as JSON: {error}"),
    })?;
    bytes.push(b'\n');
    egg_files::write(path, &bytes).map_err(Error::file(path))
}

/// Writes a value with its checksum.
pub(crate) fn write_sealed(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = egg_results::seal(value).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: format!("it can't be written as JSON: {error}"),
    })?;
    egg_files::write(path, text.as_bytes()).map_err(Error::file(path))
}

/// Reads what [`write_sealed`] wrote, if it has not been changed.
pub(crate) fn read_sealed<T: Serialize + DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    egg_results::unseal(&text).map_err(|reason| Error::Format {
        path: path.to_owned(),
        reason: format!("{reason}; remove it, and it is made anew"),
    })
}

/// Reads what [`write`] wrote.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = std::fs::read(path).map_err(Error::file(path))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}
