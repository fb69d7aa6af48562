//! Set-up, checks, data sets, benchmarks and the demo. `cargo xtask --help` lists them.
//!
//! This program must build in seconds on a fresh machine and must not need
//! BLAS: it is what finds out whether there is one. What needs more is in other programs, which
//! are built when they are first called.

mod backend;
mod bench;
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
mod program;
mod setup;
mod terminal;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

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
    /// List, fetch and verify the benchmark data sets: `egg data`, built first
    #[command(disable_help_flag = true)]
    Data(Words),
    Fuzz(fuzz::Options),
    Demo(demo::Options),
    Bench(bench::Options),
}

/// `egg`, which downloads on any backend.
const PROGRAM: [&str; 4] = ["-p", "egg-cli", "--features", "fetch"];

fn main() -> ExitCode {
    process_group::forward_signals();
    match dispatch(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
        // The command has printed its errors already, `test` down to the last
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
        Command::Data(words) => program::run(&workspace, &PROGRAM, &["data"], &words.words),
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
    fn arguments_of_other_programs_are_passed_on() {
        for line in [
            "bench paper --table gcn --dataset MUTAG --reps 1",
            "bench paper --help",
            "bench scale --rounds 3",
            "data fetch MUTAG --datasets x",
            "data --help",
        ] {
            assert!(parsed(line).is_ok(), "{line:?}");
        }
    }

    #[test]
    fn invalid_arguments_are_usage_errors() {
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
