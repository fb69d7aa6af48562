//! `cargo xtask data` in a build without it: builds it and passes the call on.

use crate::arguments::Arguments;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--quiet", "--features", "data", "--manifest-path"]);
    cargo
        .arg(workspace.root.join("xtask").join("Cargo.toml"))
        .args(["--", "data"]);
    while let Some(word) = arguments.next() {
        cargo.arg(word);
    }
    // The paths on the command line are relative to where the user is.
    if let Ok(here) = std::env::current_dir() {
        cargo.current_dir(here);
    }
    let status = cargo
        .status()
        .map_err(|e| Error::while_doing("could not start cargo", e))?;
    match status.code() {
        Some(0) => Ok(()),
        // It has said what was wrong, and how it was called is its business too.
        Some(code) => std::process::exit(code),
        None => Err(Error::Reported),
    }
}
