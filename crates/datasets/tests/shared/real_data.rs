//! Where the real benchmark data are, if they are here at all. Other crates' tests take this in
//! by its path.

use std::io::Write;
use std::path::{Path, PathBuf};

use egg_datasets::{DataFolders, VARIABLE};

/// The folder that has the archives and files as they are published. `None`, with a line that
/// says so, if there is none.
pub(crate) fn folder(what: &str) -> Option<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mirror = DataFolders::locate_from(project).mirror;
    let found = mirror.filter(|folder| folder.is_dir());
    if found.is_none() {
        // Not by the macro, which the test harness would keep to itself.
        let line = format!("skipped: no data ({what}); set {VARIABLE} to the folder that has them\n");
        let _ = std::io::stdout().write_all(line.as_bytes());
    }
    found
}

/// A file or folder in it; one that is missing from data that are there fails.
#[allow(dead_code, reason = "not every suite that takes this in needs single files")]
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = folder(name)?.join(name);
    assert!(path.exists(), "{} is missing", path.display());
    Some(path)
}
