//! Set-up, checks, data sets, benchmarks and the demo. `cargo xtask --help` lists them.
//!
//! This program must build in seconds on a fresh machine and must not need
//! BLAS: it is what finds out whether there is one. The one command that needs
//! more, `data`, is built when it is first called; what computes is in other programs.

#[cfg_attr(
    not(feature = "data"),
    expect(dead_code, reason = "only `data` looks at its words")
)]
mod arguments;
mod backend;
mod bench;
#[cfg(feature = "data")]
mod data;
#[cfg(not(feature = "data"))]
#[path = "data_on_demand.rs"]
mod data;
mod demo;
mod error;
mod fuzz;
mod kernel;
mod openblas;
mod package_manager;
#[cfg(test)]
mod pages;
mod process;
mod process_group;
mod setup;
mod terminal;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use arguments::Arguments;
use bench::Words;
use error::{Error, Result};
use workspace::Workspace;

const ENVIRONMENT: &str = "\
Environment:
  EGG_BACKEND=openblas|pure-rust   force the linear algebra backend; without
                                   it OpenBLAS is used where it can be had
  EGG_DATASETS=DIR                 a folder that has benchmark data already";

/// Set-up, checks, data sets, benchmarks and the demo.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = ENVIRONMENT)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Setup(setup::Options),
    Test(test::Options),
    /// List, fetch and verify the benchmark data sets
    #[command(disable_help_flag = true)]
    Data(Words),
    Fuzz(fuzz::Options),
    Demo(demo::Options),
    Bench(bench::Options),
}

fn main() -> ExitCode {
    process_group::forward_signals();
    match dispatch(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Usage { message, help }) => {
            eprintln!("error: {message}\n\n{help}");
            ExitCode::from(2)
        }
        Err(Error::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
        // The command has already told its story, `test` down to the last
        // line, which scripts read.
        Err(Error::Reported) => ExitCode::FAILURE,
    }
}

fn dispatch(cli: Cli) -> Result<()> {
    let Some(command) = cli.command else {
        terminal::show(Cli::command().render_help().to_string().as_bytes());
        return Ok(());
    };
    let workspace = Workspace::find()?;
    match command {
        Command::Setup(options) => setup::command(&workspace, &options),
        Command::Test(options) => test::command(&workspace, &options),
        Command::Data(words) => data::command(&workspace, Arguments::new(words.words)),
        Command::Fuzz(options) => fuzz::command(&workspace, &options),
        Command::Demo(_) => demo::command(&workspace),
        Command::Bench(options) => bench::command(&workspace, &options),
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn parsed(line: &str) -> std::result::Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once("xtask").chain(line.split_whitespace()))
    }

    #[test]
    fn every_command_has_help() {
        Cli::command().debug_assert();
        for line in [
            "--help",
            "help",
            "setup --help",
            "test -h",
            "demo --help",
            "fuzz --help",
            "fuzz --target npy --seconds 5 --help",
            "bench --help",
            "bench geometry --help",
        ] {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{line:?}");
        }
    }

    #[test]
    fn what_other_programs_do_is_passed_on() {
        for line in [
            "bench paper --table gcn --dataset MUTAG --reps 1",
            "bench paper --help",
            "bench scale --rounds 3",
            "data prepare MUTAG --to x",
            "data --help",
        ] {
            assert!(parsed(line).is_ok(), "{line:?}");
        }
    }

    #[cfg(feature = "data")]
    #[test]
    fn data_understands_what_it_should() {
        let run = |line: &str| dispatch(parsed(line).unwrap());
        for line in ["data --help", "data prepare -h", "data list --help"] {
            assert!(run(line).is_ok(), "{line:?}");
        }
        for line in [
            "data",
            "data fetch",
            "data prepare",
            "data prepare PROTIENS",
            "data prepare ../MUTAG",
            "data list MUTAG",
        ] {
            assert!(matches!(run(line), Err(Error::Usage { .. })), "{line:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_a_usage_error() {
        for line in [
            "tset",
            "setup --instal",
            "test --stage",
            "test --stage nothing",
            "demo now",
            "fuzz --target nothing",
            "fuzz --engine diesel",
            "fuzz --seconds 0",
            "fuzz --input x",
            "bench geology",
            "bench geometry --rounds 0",
            "bench geometry --rounds many",
            "bench --smoke --rounds 3",
            "bench geometry graph",
        ] {
            assert_eq!(parsed(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }
}
