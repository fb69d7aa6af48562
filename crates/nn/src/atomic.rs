//! Files that are there whole or not at all.

use std::io::{Result, Write};
use std::path::Path;

/// Writes beside `path`, flushes to the disk, and renames: whatever happens in
/// between, the file that was there before is either still there or replaced.
///
/// # Errors
/// Those of the file system.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.json");
/// egg_nn::atomic::write(&path, b"{}")?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
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
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The new name is on the disk once the folder is.
    #[cfg(unix)]
    std::fs::File::open(folder)?.sync_all()?;
    Ok(())
}
