//! `cargo xtask test`: every check of the project, cheapest first.

mod counts;
mod kernels;
mod outside;
mod package;
mod run;
mod stage;
mod summary;
mod supply;
mod words;

use clap::Args;

use crate::error::{Error, Result};
use crate::terminal;
use crate::workspace::Workspace;

use stage::{STAGES, Stage};

/// Run every check, cheapest first
///
/// Continues after a failure, so that one run shows everything. Ends with a table of the stages, their times and
/// budgets, and the line
/// `N passed, N failed`. The exit code is 1 if anything failed.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct Options {
    /// More random cases and the slow tests: sets EGG_TEST_FULL=1 and PROPTEST_CASES=2000; also the pure-Rust
    /// doctests, both backends in one process, the documentation on all features, and crates compiled from their
    /// packages
    #[arg(long)]
    full: bool,
    /// Only this stage; may be repeated
    #[arg(long = "stage", value_name = "NAME", value_parser = named)]
    only: Vec<&'static Stage>,
}

fn after_help() -> String {
    let stages = STAGES.iter().map(|stage| {
        let seconds = stage.budget(false).as_secs();
        format!("  {:<18} {seconds:>4} s  {}\n", stage.name, stage.about)
    });
    format!(
        "Stages, each with its time budget on two cores from nothing:\n{}
Going over a budget is a warning; a stage that takes several times its budget
is stopped and fails. The table at the end has the time of each stage.

cargo-machete is installed below target/tools if it is missing; cargo-deny is
used where it is installed: cargo install cargo-deny

Without OpenBLAS its stages are skipped. EGG_BACKEND=pure-rust skips them too;
EGG_BACKEND=openblas makes a missing OpenBLAS a failure.",
        stages.collect::<String>()
    )
}

fn named(name: &str) -> std::result::Result<&'static Stage, String> {
    STAGES.iter().find(|stage| stage.name == name).ok_or_else(|| {
        let names: Vec<_> = STAGES.iter().map(|stage| stage.name).collect();
        format!("there is no such stage; there are {}", names.join(", "))
    })
}

pub(crate) fn command(workspace: &Workspace, options: &Options) -> Result<()> {
    let finished = run::all(workspace, options);
    // Last of all, and to standard output, because scripts read the last line.
    terminal::show(summary::text(&finished, options.full).as_bytes());
    match summary::failed(&finished) {
        true => Err(Error::Reported),
        false => Ok(()),
    }
}
