//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Writes a file beside its place, has it reach the disk, and moves it there:
/// whoever looks sees the old file or the new one, never half of it.
pub(crate) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // A temporary file is for its owner's eyes only; this one is going to be an
    // ordinary file, so the umask decides.
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(Error::io(path))?;
    let mut buffered = BufWriter::new(file.as_file_mut());
    write(&mut buffered)
        .and_then(|()| buffered.flush())
        .map_err(Error::io(path))?;
    drop(buffered);
    file.as_file().sync_all().map_err(Error::io(path))?;
    file.persist(path)
        .map_err(|refused| Error::io(path)(refused.error))?;
    // The new name is in the folder, which is a file of its own.
    #[cfg(unix)]
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(Error::io(folder))?;
    Ok(())
}
