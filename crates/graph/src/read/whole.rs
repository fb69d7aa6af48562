//! Files that have to be in memory as a whole.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// The bytes of a file, unless there are more than `limit`.
pub(crate) fn read_whole(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let over = || Error::OverLimit {
        file: path.to_owned(),
        what: "the number of bytes",
        limit,
    };
    let file = File::open(path).map_err(Error::io(path))?;
    // Before anything is read, if that is known.
    if file.metadata().is_ok_and(|metadata| metadata.len() > limit) {
        return Err(over());
    }
    let mut bytes = Vec::new();
    let read = file
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Error::io(path))?;
    if read as u64 > limit {
        return Err(over());
    }
    Ok(bytes)
}
