//! The folder that data are fetched into: one writer at a time, and nothing under its
//! final name before it is complete and checked.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::error::{Error, Result};

const STAGING: &str = ".staging-";

pub(crate) struct Destination {
    folder: PathBuf,
    /// Held for as long as this lives.
    _lock: File,
}

impl Destination {
    /// Makes the folder if need be. It must not lie in the mirror.
    pub(crate) fn open(folder: &Path, mirror: Option<&Path>) -> Result<Self> {
        if let Some(mirror) = mirror
            && inside(folder, mirror)?
        {
            return Err(Error::InsideMirror {
                folder: folder.to_owned(),
                mirror: mirror.to_owned(),
            });
        }
        fs::create_dir_all(folder).map_err(unwritable(folder))?;
        let folder = canonical(folder)?;
        let lock = lock(&folder)?;
        let destination = Self { folder, _lock: lock };
        destination.remove_old_staging()?;
        Ok(destination)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A folder on the same file system that goes away by itself.
    pub(crate) fn stage(&self) -> Result<TempDir> {
        tempfile::Builder::new()
            .prefix(STAGING)
            .tempdir_in(&self.folder)
            .map_err(unwritable(&self.folder))
    }

    /// Where downloads wait to be complete; kept, so that they can be resumed.
    pub(crate) fn downloads(&self) -> Result<PathBuf> {
        let folder = self.folder.join(".downloads");
        fs::create_dir_all(&folder).map_err(unwritable(&folder))?;
        Ok(folder)
    }

    /// Gives a staged file, which is on disk already, its final name.
    pub(crate) fn install(&self, staged: &Path, path: &Path) -> Result<()> {
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(unwritable(path))?;
        // A linked folder could lead anywhere, into the mirror for one.
        if !canonical(parent)?.starts_with(&self.folder) {
            return Err(Error::LeadsOut {
                path: parent.to_owned(),
                folder: self.folder.clone(),
            });
        }
        fs::rename(staged, path).map_err(unwritable(path))?;
        sync_folder(parent);
        Ok(())
    }

    /// Removes staging folders of runs that were killed; under the lock nothing uses them.
    fn remove_old_staging(&self) -> Result<()> {
        let entries = fs::read_dir(&self.folder).map_err(Error::io(&self.folder))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(STAGING) {
                let path = entry.path();
                fs::remove_dir_all(&path).map_err(Error::io(&path))?;
            }
        }
        Ok(())
    }
}

/// How long to wait for a lock. A program that another thread is just starting holds it too, for
/// a moment: between `fork` and `exec` it has every open file.
const PATIENCE: Duration = Duration::from_secs(1);

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(".lock");
    let file = File::create(&path).map_err(unwritable(&path))?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Busy {
                    folder: folder.to_owned(),
                });
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}

/// A file in a staging folder, with errors that name it: what is read at the same time
/// has errors of its own.
pub(crate) struct NewFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> NewFile<'a> {
    /// Makes the file, and folders for it.
    pub(crate) fn create(path: &'a Path) -> io::Result<Self> {
        let create = || {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            File::create_new(path)
        };
        let file = create().map_err(|e| written(path, e))?;
        Ok(Self { path, file })
    }

    /// Waits until it is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all().map_err(|e| written(self.path, e))
    }
}

impl Write for NewFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|e| written(self.path, e))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// That a file could not be written, and what to do.
fn written(path: &Path, error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    let error = with_remedy(error);
    io::Error::new(
        error.kind(),
        format!("{} can't be written: {error}", path.display()),
    )
}

/// For `map_err` on what is written to a path.
fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    move |error| Error::io(path)(with_remedy(error))
}

fn with_remedy(error: io::Error) -> io::Error {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "make room, or choose a folder on another disk; what was fetched before is kept"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "choose a folder that can be written to"
        }
        _ => return error,
    };
    io::Error::new(error.kind(), format!("{error}; {remedy}"))
}

/// Whether `folder`, which need not exist, would lie in `mirror`.
fn inside(folder: &Path, mirror: &Path) -> Result<bool> {
    let mirror = canonical(mirror)?;
    let folder = std::path::absolute(folder).map_err(Error::io(folder))?;
    let existing = folder.ancestors().find(|ancestor| ancestor.exists());
    Ok(canonical(existing.unwrap_or(&folder))?.starts_with(mirror))
}

fn canonical(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(Error::io(path))
}

/// Makes a rename last. Not every system can; then it lasts anyway, soon.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_writer_is_refused_and_old_staging_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        fs::create_dir_all(folder.join(".staging-old/deep")).unwrap();
        fs::write(folder.join("keep"), "x").unwrap();
        let first = Destination::open(&folder, None).unwrap();
        assert!(!folder.join(".staging-old").exists() && folder.join("keep").exists());
        let second = Destination::open(&folder, None).map(|_| ()).unwrap_err();
        assert!(second.to_string().contains("another"), "{second}");
        drop(first);
        assert!(Destination::open(&folder, None).is_ok());
    }

    #[test]
    fn the_mirror_is_never_a_destination() {
        let mirror = tempfile::tempdir().unwrap();
        for folder in ["", "new", "new/deeper", "x/../new"] {
            let refused = Destination::open(&mirror.path().join(folder), Some(mirror.path()));
            assert!(refused.is_err(), "{folder}");
        }
        assert_eq!(fs::read_dir(mirror.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_into_the_mirror() {
        let (mirror, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(mirror.path(), data.path().join("planetoid")).unwrap();
        let destination = Destination::open(data.path(), Some(mirror.path())).unwrap();
        let staged = destination.stage().unwrap();
        fs::write(staged.path().join("x"), "x").unwrap();
        let path = destination.folder().join("planetoid/x");
        assert!(destination.install(&staged.path().join("x"), &path).is_err());
        assert_eq!(fs::read_dir(mirror.path()).unwrap().count(), 0);
    }
}
