//! Files that are there whole or not at all.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// [`egg_files::write_with`], with the file's name if it fails.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    egg_files::write_with(path, content).map_err(Error::io(path))
}
