//! Passing on to `egg-reproduce`, which makes the paper's tables and figures.

use std::ffi::OsStr;

use crate::error::{Error, Result};
use crate::process;
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// Builds the program and calls it: `ours` first, then the user's `words`.
pub(super) fn run(workspace: &Workspace, task: &str, ours: &[&OsStr], words: &[String]) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Allowed)?;
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--quiet", "--release", "-p", "egg-reproduce"]);
    cargo.args(backend.cargo_flags()).args(["--", task]);
    cargo.args(ours).args(words);
    backend.apply(&mut cargo);
    // candle's own threads wait for work in a busy loop, on the cores that
    // rayon's threads need.
    if std::env::var_os("CANDLE_NUM_THREADS").is_none() {
        cargo.env("CANDLE_NUM_THREADS", "1");
    }
    // The paths on the command line are relative to where the user is.
    if let Ok(here) = std::env::current_dir() {
        cargo.current_dir(here);
    }
    match process::status_of(&mut cargo)?.code() {
        Some(0) => Ok(()),
        // It has said what was wrong, and how it was called is its business too.
        Some(code) => std::process::exit(code),
        None => Err(Error::Reported),
    }
}
