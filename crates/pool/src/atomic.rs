//! Files that are there whole or not at all.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

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

/// [`egg_nn::atomic::write`], with the file's name if it fails.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    egg_nn::atomic::write(path, bytes).map_err(failed(path))
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

/// Writes a value with its checksum.
pub(crate) fn write_sealed(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = egg_results::seal(value).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: format!("it can't be written as JSON: {error}"),
    })?;
    write(path, text.as_bytes())
}

/// Reads what [`write_sealed`] wrote, if nobody has changed it.
pub(crate) fn read_sealed<T: Serialize + DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path).map_err(failed(path))?;
    egg_results::unseal(&text).map_err(|reason| Error::Format {
        path: path.to_owned(),
        reason: format!("{reason}; remove it, and it is made anew"),
    })
}

/// Reads what [`write_json`] wrote.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = std::fs::read(path).map_err(failed(path))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Format {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}
