//! `egg`: graphs on the Grassmann manifold, from the command line.
//!
//! One file per command; `arguments.rs` has what they share on the command line.

// Input is never trusted: what may fail returns an error. Exceptions say why.
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "numbers that tests make up"
    )
)]

mod angles;
mod arguments;
mod cluster;
mod console;
mod data;
mod datasets;
mod demo;
mod embed;
mod environment;
mod failure;
mod generate;
mod info;
mod interrupt;
mod model;
mod output;
mod predict;
mod progress;
mod record;
mod report;
mod run_folder;
mod sweep;
mod table;
mod train;

use std::process::ExitCode;

use arguments::{Cli, Command};
use clap::Parser;
use failure::{Failure, Result};

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            for line in arguments::format_usage_error(&error) {
                match error.use_stderr() {
                    true => console::warn(&line),
                    false => console::print(&line),
                }
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    if cli.command.computes() {
        environment::reexec_with_env();
    }
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            for line in failure.lines(cli.verbose) {
                console::warn(&line);
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(cli: &Cli) -> Result<()> {
    if let Some(threads) = cli.threads {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global();
        pool.map_err(|error| Failure::other(format!("--threads {threads}: {error}")))?;
    }
    // On a thread of the pool: from outside, the pool's threads and this one
    // would share the cores.
    rayon::scope(|_| command(&cli.command))
}

fn command(command: &Command) -> Result<()> {
    match command {
        Command::Info(arguments) => info::run(arguments),
        Command::Data(arguments) => datasets::run(arguments),
        Command::Train(arguments) => train::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Embed(arguments) => embed::run(arguments),
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Angles(arguments) => angles::run(arguments),
        Command::Sweep(arguments) => sweep::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Completions(arguments) => generate::completions(arguments),
        Command::Man(arguments) => generate::man(arguments),
    }
}
