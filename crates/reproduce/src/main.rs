//! The program; `cargo xtask bench paper` and `cargo xtask bench scale` start it.

#![allow(clippy::print_stderr, reason = "a program for people")]

use std::process::ExitCode;

use clap::Parser;
use egg_reproduce::command::Command;

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match Command::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
