//! Files that are there whole or not at all.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// Writes beside `path`, flushes to the disk, and renames: whatever happens in
/// between, the file that was there before is either still there or replaced.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".egg-").suffix(".part");
    #[cfg(unix)]
    {
        // As any new file, by the user's mask; temporary files are else private.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(Error::io(path))?;
    file.write_all(bytes).map_err(Error::io(path))?;
    file.as_file().sync_all().map_err(Error::io(path))?;
    file.persist(path).map_err(|error| Error::io(path)(error.error))?;
    Ok(())
}
