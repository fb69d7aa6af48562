//! Files that are there whole or not at all.

use std::path::Path;

use crate::error::{Error, Result};

/// [`egg_files::write()`], with the file's name if it fails.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    egg_files::write(path, bytes).map_err(Error::io(path))
}
