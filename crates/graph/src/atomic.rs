//! Files that are there whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Writes a file through a temporary one in the same folder, which takes the
/// final name only when everything is on the disk.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".egg-").suffix(".part");
    #[cfg(unix)]
    {
        // As an ordinary file would be; the user's umask still applies.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder).map_err(Error::io(path))?;
    let mut buffered = BufWriter::with_capacity(1 << 20, temporary);
    content(&mut buffered).map_err(Error::io(path))?;
    let temporary = buffered
        .into_inner()
        .map_err(|error| Error::io(path)(error.into_error()))?;
    temporary.as_file().sync_all().map_err(Error::io(path))?;
    temporary
        .persist(path)
        .map_err(|error| Error::io(path)(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write(&path, |out| {
            out.write_all(b"half of the n")?;
            Err(std::io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
