//! `cargo xtask demo`: the quickest way to see the project do something.

use std::process::Stdio;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

const HELP: &str = "\
cargo xtask demo

Sets up, then builds the program `egg` and runs `egg demo`: EGG and the
first-order poolings learn to tell apart graphs that differ only in how their
features vary together, the karate club is clustered, and the report is written
to target/demo/report.html, whose path is the last line. Needs no network and no
data; if MUTAG is here (`egg data path MUTAG` says where it is looked for), it
is trained on as well.

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
    println!("\nBuilding `egg` on the {} backend.", backend.name());
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--release", "-p", "egg-cli"]);
    cargo.args(backend.cargo_flags());
    cargo.args(["--bin", "egg", "--", "demo", "--out"]);
    cargo.arg(workspace.scratch("demo")?);
    backend.apply(&mut cargo);
    let status = cargo
        .stdin(Stdio::null())
        .status()
        .map_err(|e| Error::while_doing("could not start cargo", e))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed(
            "the demo failed; `cargo xtask test` shows what is wrong with this checkout".into(),
        ))
    }
}
