//! `cargo xtask demo`: the quickest way to see the project do something.

use std::process::Stdio;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

const HELP: &str = "\
cargo xtask demo

Sets up, then builds and runs the example of the geometry crate: subspaces are
made, compared, and averaged. The graph models are not part of the project yet.

Without OpenBLAS it runs on the pure-Rust backend. EGG_BACKEND=openblas or
EGG_BACKEND=pure-rust forces one.
";

pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    if let Some(word) = arguments.next() {
        if arguments::is_help(&word) {
            terminal::show(HELP.as_bytes());
            return Ok(());
        }
        return Err(arguments::unknown(&word, HELP));
    }

    let backend = setup::prepare(workspace, Install::Allowed)?;
    println!(
        "\nRunning the example of the geometry crate on the {} backend.\n\
         The graph models are not part of the project yet.\n",
        backend.name()
    );
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--release", "-p", "egg-geometry"]);
    cargo.args(backend.cargo_flags());
    cargo.args(["--example", "compare_subspaces"]);
    backend.apply(&mut cargo);
    let status = cargo
        .stdin(Stdio::null())
        .status()
        .map_err(|e| Error::while_doing("could not start cargo", e))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed(
            "the example failed; `cargo xtask test` shows what is wrong with this checkout".into(),
        ))
    }
}
