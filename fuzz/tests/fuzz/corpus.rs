//! Saved inputs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folder `corpus`, where cargo says that this package is.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    package.join("corpus")
}

/// The saved inputs of a target, in the order of their names.
pub(crate) fn load(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let folder = root().join(target);
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?
    {
        paths.push(entry?.path());
    }
    paths.sort();
    paths.iter().map(fs::read).collect()
}

pub(crate) fn write_seeds() -> ExitCode {
    let seeds = match egg_fuzz::seeds::all() {
        Ok(seeds) => seeds,
        Err(error) => {
            eprintln!("error: a seed can't be made: {error}");
            return ExitCode::FAILURE;
        }
    };
    for (target, name, bytes) in seeds {
        let path = root().join(target).join(name);
        if let Err(error) = write(&path, &bytes) {
            eprintln!("error: {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("{} ({} bytes)", path.display(), bytes.len());
    }
    ExitCode::SUCCESS
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    fs::write(path, bytes)
}
