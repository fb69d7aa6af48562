//! Set-up, checks, data sets, benchmarks and the demo. `cargo xtask --help` lists them.
//!
//! This program must build in seconds on a fresh machine and must not need
//! BLAS: it is what finds out whether there is one. The one command that needs
//! more, `data`, is built when it is first called.

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

use arguments::Arguments;
use error::{Error, Result};
use workspace::Workspace;

const HELP: &str = "\
cargo xtask COMMAND [OPTIONS]

Commands:
  setup   find OpenBLAS, install it if it is missing, choose its kernels
  test    run every check, cheapest first
  data    list, fetch and verify the benchmark data sets
  fuzz    random input for everything that reads files
  demo    build `egg`, train, cluster, and write a report
  bench   measure against other libraries, interleaved, as ratios

`cargo xtask COMMAND --help` says more about one command.

Environment:
  EGG_BACKEND=openblas|pure-rust   force the linear algebra backend; without
                                   it OpenBLAS is used where it can be had
  EGG_DATASETS=DIR                 a folder that has benchmark data already
";

fn main() -> ExitCode {
    process_group::forward_signals();
    match dispatch(Arguments::from_command_line()) {
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

fn dispatch(mut arguments: Arguments) -> Result<()> {
    let Some(command) = arguments.next() else {
        terminal::show(HELP.as_bytes());
        return Ok(());
    };
    let run = match command.as_str() {
        "setup" => setup::command,
        "test" => test::command,
        "data" => data::command,
        "fuzz" => fuzz::command,
        "demo" => demo::command,
        "bench" => bench::command,
        "help" | "--help" | "-h" => {
            terminal::show(HELP.as_bytes());
            return Ok(());
        }
        _ => {
            return Err(Error::usage(format!("there is no command `{command}`"), HELP));
        }
    };
    run(&Workspace::find()?, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Result<()> {
        dispatch(Arguments::new(line.split_whitespace().map(String::from)))
    }

    #[test]
    fn help_succeeds_everywhere() {
        for line in ["", "--help", "help", "setup --help", "test -h"] {
            assert!(run(line).is_ok(), "{line:?}");
        }
        for line in [
            "demo --help",
            "fuzz --help",
            "fuzz --target npy --seconds 5 --help",
            "bench --help",
            "bench geometry --help",
        ] {
            assert!(run(line).is_ok(), "{line:?}");
        }
    }

    #[cfg(feature = "data")]
    #[test]
    fn data_understands_what_it_should() {
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
        ] {
            assert!(matches!(run(line), Err(Error::Usage { .. })), "{line:?}");
        }
    }
}
