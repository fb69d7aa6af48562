//! Passing on to `egg-reproduce`, which makes the paper's tables and figures.

use std::ffi::OsStr;

use crate::error::Result;
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
    process::hand_over(&mut cargo)
}
