//! `cargo xtask test`: every check of the project, cheapest first.

mod counts;
mod only_geometry;
mod package;
mod run;
mod stage;
mod summary;
mod supply;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::terminal;
use crate::workspace::Workspace;

use stage::{STAGES, Stage};

const HELP: &str = "\
cargo xtask test [--full] [--stage NAME]...

Runs every check, cheapest first, and goes on after a failure so that one run
shows everything. Ends with a table of the stages and the line
`N passed, N failed`. The exit code is 1 if anything failed.

Options:
  --full         more random cases and the slow tests: sets EGG_TEST_FULL=1 and
                 PROPTEST_CASES=2000; also the pure-Rust doctests, both backends in one
                 process, the documentation on all features, and crates compiled from
                 their packages
  --stage NAME   only this stage; may be given several times
";

const HELP_END: &str = "
Each stage has a time budget. Going over it is a warning; a stage that takes
several times its budget is ended and has failed.

What cargo does not come with is used where it is installed, and skipped
otherwise: cargo install cargo-deny cargo-machete

Without OpenBLAS its stages are skipped. EGG_BACKEND=pure-rust skips them too;
EGG_BACKEND=openblas makes a missing OpenBLAS a failure.
";

/// What was asked for on the command line.
struct Request {
    full: bool,
    /// Empty means all.
    only: Vec<&'static Stage>,
}

pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let mut request = Request {
        full: false,
        only: Vec::new(),
    };
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--full" => request.full = true,
            "--stage" => {
                let name = arguments.value("--stage", HELP)?;
                request.only.push(named(&name)?);
            }
            word if arguments::is_help(word) => {
                terminal::show(help().as_bytes());
                return Ok(());
            }
            word => return Err(arguments::unknown(word, HELP)),
        }
    }

    let finished = run::all(workspace, &request);
    // Last of all, and to standard output, because scripts read the last line.
    terminal::show(summary::text(&finished, request.full).as_bytes());
    if summary::failed(&finished) {
        Err(Error::Reported)
    } else {
        Ok(())
    }
}

fn help() -> String {
    let stages = STAGES
        .iter()
        .map(|stage| format!("  {:<18} {}\n", stage.name, stage.about));
    format!("{HELP}\nStages:\n{}{HELP_END}", stages.collect::<String>())
}

fn named(name: &str) -> Result<&'static Stage> {
    STAGES.iter().find(|stage| stage.name == name).ok_or_else(|| {
        let names: Vec<_> = STAGES.iter().map(|stage| stage.name).collect();
        Error::usage(
            format!("there is no stage `{name}`; there are {}", names.join(", ")),
            "`cargo xtask test --help` describes them.",
        )
    })
}
