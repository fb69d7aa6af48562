//! What a record says of the program and the machine that made it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use egg_results::Machine;

/// This machine, with what decides how sums are rounded.
pub(crate) fn machine() -> Machine {
    let kernels = egg_geometry::blas_kernels();
    Machine::here(rayon::current_num_threads()).with_backend(egg_geometry::backend(), kernels.as_deref())
}

/// The processor.
pub(crate) fn processor() -> String {
    egg_results::processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The revision of the sources that cargo started this from, or that are here; with a mark if they were changed since.
/// `EGG_REVISION` says it for a program that was built earlier than the sources are now.
pub(crate) fn revision() -> String {
    if let Ok(revision) = std::env::var("EGG_REVISION") {
        return revision;
    }
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map_or(PathBuf::from("."), PathBuf::from);
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        let output = command.current_dir(&folder).args(words).stdin(Stdio::null());
        let output = output.stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    };
    let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".into();
    };
    // `:/`: from the root of the sources.
    let sources = [":/crates", ":/Cargo.lock"];
    let changes = git(&[
        &["status", "--porcelain", "--untracked-files=no", "--"],
        &sources[..],
    ]
    .concat());
    match changes {
        Some(changes) if changes.is_empty() => revision,
        _ => format!("{revision}-changed"),
    }
}
