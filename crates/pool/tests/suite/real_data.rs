//! Where the real benchmark data are, if they are here at all.

use std::io::Write;
use std::path::PathBuf;

/// A file or folder of the benchmark data: below `EGG_DATASETS`, or below
/// `shared/datasets` beside the project. `None`, with a line that says so, if
/// there are no data; a name that is missing from data that are there fails.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/datasets"));
    let folder = match std::env::var_os("EGG_DATASETS") {
        Some(folder) => PathBuf::from(folder),
        None => beside,
    };
    if !folder.is_dir() {
        // Not by the macro, which the test harness would keep to itself.
        let line = format!("skipped: no data ({name}); set EGG_DATASETS to the folder that has them\n");
        let _ = std::io::stdout().write_all(line.as_bytes());
        return None;
    }
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing", path.display());
    Some(path)
}
