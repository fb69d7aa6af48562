//! `cargo xtask demo`: the quickest way to see the project do something.

use clap::Args;

use crate::error::{Error, Result};
use crate::process;
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// Build `egg`, train, cluster, and write a report
///
/// Sets up, then builds the program `egg` and runs `egg demo`: EGG and the first-order poolings learn to distinguish
/// graphs that differ only in how their features vary together, the karate club is clustered, and the report is
/// written to target/demo/report.html, whose path is the last line. Needs no network and no data; if MUTAG is here
/// (`egg data path MUTAG` says where it is looked for), it is trained on as well.
///
/// Without OpenBLAS it runs on the pure-Rust backend. EGG_BACKEND=openblas or EGG_BACKEND=pure-rust forces one.
#[derive(Debug, Args)]
pub(crate) struct Options {}

pub(crate) fn command(workspace: &Workspace) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Allowed)?;
    println!("\nBuilding `egg` on the {} backend.", backend.name());
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--release", "-p", "egg-cli"]);
    cargo.args(backend.cargo_flags());
    cargo.args(["--bin", "egg", "--", "demo", "--out"]);
    cargo.arg(workspace.scratch("demo")?);
    backend.apply(&mut cargo);
    match process::status_of(&mut cargo)?.success() {
        true => Ok(()),
        false => Err(Error::Failed(
            "the demo failed; `cargo xtask test` shows what is wrong with this checkout".into(),
        )),
    }
}
