//! Output files of commands.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// Refuses what can't be written, or what the command reads, before the work whose
/// result goes there. Folders that are missing will be made.
pub(crate) fn check(option: &str, path: &Path, read: &[PathBuf]) -> Result<()> {
    let mut folder = folder_of(path);
    let mut target = path.to_owned();
    while !folder.exists() {
        // The first that is missing will have to be made in the one above it.
        target = folder.to_owned();
        folder = folder_of(folder);
    }
    egg_files::check(&target).map_err(Failure::file(path))?;
    if let Some(own) = read.iter().find(|own| is_in(path, own)) {
        return Err(Failure::other(format!(
            "{option} {}: this belongs to the data that are read ({})\nhelp: name another file",
            path.display(),
            own.display()
        )));
    }
    Ok(())
}

/// Writes a file atomically, and makes its folder if need be.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    make_folder(path)?;
    egg_files::write(path, bytes).map_err(Failure::file(path))
}

/// The folder that a file is to be in, without what was left there half written when a
/// program was killed.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    egg_files::sweep(folder);
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether a path is a file that is read, or in a folder that is.
fn is_in(path: &Path, read: &Path) -> bool {
    let (path, read) = (real(path), real(read));
    path == read || (read.is_dir() && path.exists() && path.starts_with(read))
}

/// Without links, as far as the path exists.
fn real(path: &Path) -> PathBuf {
    let real = std::fs::canonicalize(path).or_else(|_| {
        let folder = std::fs::canonicalize(folder_of(path))?;
        Ok(folder.join(path.file_name().unwrap_or_default()))
    });
    real.unwrap_or_else(|_: std::io::Error| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_never_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir(at("data")).unwrap();
        std::fs::write(at("data/A.txt"), "").unwrap();
        std::fs::write(at("net.csv"), "").unwrap();
        let read = [at("data"), at("net.csv"), at("net.labels.csv")];
        for fine in ["new.csv", "data/new.csv", "deep/er/new.csv"] {
            check("--out", &at(fine), &read).unwrap();
        }
        assert!(!at("deep").exists());
        for wrong in ["data/A.txt", "data/../net.csv", "net.labels.csv"] {
            let error = check("--out", &at(wrong), &read).unwrap_err();
            assert!(error.to_string().contains("belongs to the data"), "{error}");
        }
        for wrong in ["data", "net.csv/below"] {
            let error = check("--out", &at(wrong), &[]).unwrap_err();
            assert!(error.to_string().contains(wrong), "{error}");
        }
    }
}
