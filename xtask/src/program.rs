//! Programs of the workspace that do what was asked for in our place: `egg` for data sets,
//! `egg-reproduce` for the paper's tables and figures.

use std::ffi::OsStr;

use crate::backend::limit_candle_threads;
use crate::error::Result;
use crate::process;
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// Builds the program of the `package` that the words for cargo name, and calls it: `ours` first, then the user's `words`.
pub(crate) fn run(
    workspace: &Workspace,
    package: &[&str],
    ours: &[impl AsRef<OsStr>],
    words: &[String],
) -> Result<()> {
    let (backend, lines) = setup::examine(workspace, Install::Allowed)?;
    // Standard output is the program's.
    lines.iter().for_each(|line| eprintln!("{line}"));
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--release"]).args(package);
    cargo.args(backend.cargo_flags()).arg("--").args(ours).args(words);
    backend.apply(&mut cargo);
    limit_candle_threads(&mut cargo);
    process::run_and_exit(&mut cargo)
}
