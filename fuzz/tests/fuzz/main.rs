//! Calls the targets with inputs that are nearly sound, on any compiler.
//!
//! Without arguments it does what a test does: the saved inputs and a fixed
//! number of others. `cargo xtask fuzz` gives it more time. Each target runs in
//! a process of its own (`worker.rs`) with a limit on its memory, so that what
//! ends a process is found as well; `campaign.rs` starts these and counts.

// A program: what it has to say goes to standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod campaign;
mod corpus;
mod request;
mod worker;

use std::process::ExitCode;

use request::{Request, Work};

fn main() -> ExitCode {
    let request = match Request::parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(problem) => {
            eprintln!("error: {problem}\n\n{}", request::HELP);
            return ExitCode::from(2);
        }
    };
    match &request.work {
        Work::Help => {
            print!("{}", request::HELP);
            ExitCode::SUCCESS
        }
        Work::List => {
            for target in egg_fuzz::TARGETS {
                println!("{}", target.name);
            }
            ExitCode::SUCCESS
        }
        Work::WriteSeeds => corpus::write_seeds(),
        Work::Worker => worker::run(&request),
        Work::Campaign => campaign::run(&request),
    }
}
