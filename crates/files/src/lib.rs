#![doc = include_str!("../README.md")]
// Input is never trusted: what may fail returns an error.
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// The most symbolic links followed on the way to a file; more count as a cycle.
const MAX_LINKS: usize = 40;

/// Prefix and suffix of temporary files, before the atomic rename.
const TEMPORARY: (&str, &str) = (".egg-", ".part");

/// How often a temporary file is created again because a concurrent [`sweep`] removed it.
const MAX_TRIES: usize = 100;

/// Writes a file atomically: after a crash or an error at any point, the path has either its old
/// content or all of the new one.
///
/// A symbolic link is followed, and what is neither a file nor a folder (a device,
/// a pipe) is written to as it is.
///
/// # Errors
/// Those of the file system, without the name of any temporary file.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.json");
/// egg_files::write(&path, b"{}")?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |out| out.write_all(bytes))
}

/// [`write()`] for content that is streamed instead of held in memory.
///
/// # Errors
/// As [`write()`], and those of `content`: then the file is as it was.
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers");
/// egg_files::write_with(&path, |out| (0..3).try_for_each(|number| writeln!(out, "{number}")))?;
/// assert_eq!(std::fs::read(&path)?, b"0\n1\n2\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_with(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    match Place::from_path(path)? {
        Place::Open(file) => fill(file, content).map(drop),
        Place::Special => {
            let file = OpenOptions::new().write(true).open(path)?;
            fill(file, content).map(drop)
        }
        Place::File { target, replaced } => {
            let temporary = temporary_in(folder_of(&target))?;
            let temporary = fill(temporary, content)?;
            if let Some(replaced) = replaced {
                temporary.as_file().set_permissions(replaced.permissions())?;
            }
            temporary.as_file().sync_all()?;
            temporary
                .persist(&target)
                .map_err(|error| without_temporary_name(error.error))?;
            // The new name is on the disk once the folder is.
            #[cfg(unix)]
            File::open(folder_of(&target))?.sync_all()?;
            Ok(())
        }
    }
}

/// Checks whether [`write()`] could write a file, without changing anything. The answer may be out
/// of date by the time of the write.
///
/// # Errors
/// As [`write()`] would give.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// assert!(egg_files::check(&folder.path().join("new")).is_ok());
/// assert!(egg_files::check(&folder.path().join("no folder").join("new")).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn check(path: &Path) -> Result<()> {
    match Place::from_path(path)? {
        // A pipe would wait for its reader.
        Place::Open(_) | Place::Special => Ok(()),
        Place::File { target, .. } => temporary_in(folder_of(&target)).map(drop),
    }
}

/// Removes the temporary files that writers left in a folder when they were killed.
/// Temporary files that are being written stay, and so do all other files.
///
/// What can't be removed stays too: nothing depends on it.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join(".egg-4f2a.part"), "half of")?;
/// std::fs::write(folder.path().join("notes.json"), "{}")?;
/// egg_files::sweep(folder.path());
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && is_temporary(&entry.file_name().to_string_lossy()) {
            let path = entry.path();
            // A writer holds its lock until the file has its name.
            if let Ok(file) = File::open(&path)
                && file.try_lock().is_ok()
            {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

/// Whether a file of this name is one that [`write()`] had not finished: such a file
/// says nothing, and [`sweep`] removes it.
///
/// ```
/// assert!(egg_files::is_temporary(".egg-4f2a.part"));
/// assert!(!egg_files::is_temporary("notes.json"));
/// ```
pub fn is_temporary(name: &str) -> bool {
    let (prefix, suffix) = TEMPORARY;
    name.strip_prefix(prefix)
        .is_some_and(|rest| rest.ends_with(suffix))
}

/// What a path refers to.
enum Place {
    /// A regular file, existing or to be created; `target` has its links resolved.
    File {
        target: PathBuf,
        replaced: Option<Metadata>,
    },
    /// The program's own standard output or error: a second handle would have another position and
    /// overwrite it.
    Open(File),
    /// A device, a pipe.
    Special,
}

impl Place {
    fn from_path(path: &Path) -> Result<Self> {
        if path.file_name().is_none() {
            return Err(Error::new(ErrorKind::IsADirectory, "this path has no file name"));
        }
        // Follows links, and those of /proc that can't be read as paths.
        let there = match std::fs::metadata(path) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self::File {
                    target: resolve_links(path)?,
                    replaced: None,
                });
            }
            Err(error) => return Err(error),
        };
        if there.is_dir() {
            return Err(Error::new(ErrorKind::IsADirectory, "this is a folder"));
        }
        if let Some(file) = already_open(&there) {
            return Ok(Self::Open(file));
        }
        if !there.is_file() {
            return Ok(Self::Special);
        }
        // A name could be replaced even where the file may not be written.
        OpenOptions::new().write(true).open(path)?;
        Ok(Self::File {
            target: resolve_links(path)?,
            replaced: Some(there),
        })
    }
}

/// The target of a path's last component, whether it exists or not.
fn resolve_links(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::symlink_metadata(&target) {
            Ok(there) if there.is_symlink() => {
                target = folder_of(&target).join(std::fs::read_link(&target)?);
            }
            _ => return Ok(target),
        }
    }
    Err(Error::other("symbolic links form a cycle"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary_in(folder: &Path) -> Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    #[cfg(unix)]
    {
        // As any new file, by the user's mask; temporary files are else private.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    for _ in 0..MAX_TRIES {
        let temporary = builder.tempfile_in(folder).map_err(without_temporary_name)?;
        if lock(temporary.as_file()) {
            return Ok(temporary);
        }
    }
    Err(Error::other(
        "temporary files keep being removed by another process",
    ))
}

/// Takes the lock that [`sweep`] respects; `false` if `sweep` holds it or has removed the file.
fn lock(file: &File) -> bool {
    match file.try_lock() {
        Ok(()) => is_linked(file),
        Err(TryLockError::WouldBlock) => false,
        // Some network file systems have no locks; there, nothing is swept.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Whether a file still has a name.
#[cfg(unix)]
fn is_linked(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|there| there.nlink() > 0)
}

/// Elsewhere a file that is open can't lose it.
#[cfg(not(unix))]
fn is_linked(_: &File) -> bool {
    true
}

fn fill<W: Write>(file: W, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<W> {
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    content(&mut buffered)?;
    buffered
        .into_inner()
        .map_err(|error| without_temporary_name(error.into_error()))
}

/// The system's message without the name of the temporary file, which means nothing to users.
fn without_temporary_name(error: Error) -> Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((system, _)) => Error::new(error.kind(), system),
        None => error,
    }
}

/// Standard output or standard error, if that is what the file is.
#[cfg(unix)]
fn already_open(there: &Metadata) -> Option<File> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let streams = [out.as_fd().try_clone_to_owned(), err.as_fd().try_clone_to_owned()];
    streams.into_iter().flatten().map(File::from).find(|open| {
        open.metadata()
            .is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()))
    })
}

/// Other systems have no paths for them.
#[cfg(not(unix))]
fn already_open(_: &Metadata) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_write_leaves_the_old_file_and_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, b"old").unwrap();
        let failed = write_with(&path, |out| {
            out.write_all(b"half of the n")?;
            Err(Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn check_fails_where_write_would() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        check(&file).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&file, b"x").unwrap();
        check(&file).unwrap();
        for wrong in [
            folder.path().to_owned(),
            folder.path().join("a/b"),
            file.join("c"),
            "/".into(),
        ] {
            let (checked, written) = (check(&wrong).unwrap_err(), write(&wrong, b"").unwrap_err());
            assert_eq!(checked.kind(), written.kind(), "{}", wrong.display());
            assert!(
                !format!("{checked} {written}").contains(".part"),
                "{checked}, {written}"
            );
        }
    }

    #[test]
    fn sweep_removes_only_abandoned_temporary_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".egg-dead.part", ".egg-other", "x.part", ".egg-.txt"] {
            std::fs::write(at(name), "x").unwrap();
        }
        std::fs::create_dir(at(".egg-folder.part")).unwrap();
        write_with(&at("file"), |out| {
            sweep(folder.path());
            out.write_all(b"whole")
        })
        .unwrap();
        assert_eq!(std::fs::read(at("file")).unwrap(), b"whole");
        let mut remaining: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        remaining.sort();
        assert_eq!(
            remaining,
            [".egg-.txt", ".egg-folder.part", ".egg-other", "file", "x.part"]
        );
    }

    /// One thread sweeps without a pause, two write.
    #[test]
    fn sweep_does_not_disturb_writers() {
        let folder = tempfile::tempdir().unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    sweep(folder.path());
                }
            });
            let writers = ["a", "b"].map(|name| {
                let path = folder.path().join(name);
                threads.spawn(move || (0..50).try_for_each(|round| write(&path, &[round; 100])))
            });
            for writer in writers {
                writer.join().unwrap().unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::io::Read;
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

        #[test]
        fn links_stay_and_their_targets_are_replaced() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            std::fs::create_dir(at("below")).unwrap();
            std::fs::write(at("below/real"), "old").unwrap();
            std::fs::set_permissions(at("below/real"), PermissionsExt::from_mode(0o600)).unwrap();
            symlink("below/real", at("one")).unwrap();
            symlink("one", at("two")).unwrap();
            symlink("below/later", at("dangling")).unwrap();
            for (link, real) in [("two", "below/real"), ("dangling", "below/later")] {
                write(&at(link), b"new").unwrap();
                assert!(
                    std::fs::symlink_metadata(at(link)).unwrap().is_symlink(),
                    "{link}"
                );
                assert_eq!(std::fs::read(at(real)).unwrap(), b"new", "{real}");
            }
            let mode = std::fs::metadata(at("below/real")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            symlink("circle", at("circle")).unwrap();
            assert!(write(&at("circle"), b"x").is_err());
        }

        #[test]
        fn devices_and_pipes_are_written_in_place() {
            write(Path::new("/dev/null"), b"x").unwrap();
            assert!(
                std::fs::metadata("/dev/null")
                    .unwrap()
                    .file_type()
                    .is_char_device()
            );
            let folder = tempfile::tempdir().unwrap();
            let pipe = folder.path().join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            if !made.is_ok_and(|status| status.success()) {
                return; // a system without mkfifo
            }
            check(&pipe).unwrap();
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || {
                    let mut text = String::new();
                    File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                    text
                }
            });
            write(&pipe, b"through").unwrap();
            assert_eq!(reader.join().unwrap(), "through");
            assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
        }
    }
}
