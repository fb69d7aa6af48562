//! `cargo xtask data`: a program of egg-datasets, built when it is first called.

use crate::error::Result;
use crate::process;
use crate::workspace::Workspace;

pub(crate) fn command(workspace: &Workspace, words: &[String]) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--quiet", "-p", "egg-datasets", "--features", "fetch"]);
    cargo.args(["--example", "data", "--"]).args(words);
    process::hand_over(&mut cargo)
}
