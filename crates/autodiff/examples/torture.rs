//! How far projectors and gradients are off on degenerate matrices, over what the
//! conditioning of each matrix allows.
//!
//! ```text
//! cargo run -p egg-autodiff --example torture
//! cargo run -p egg-autodiff --example torture -- 10000 7
//! ```
//!
//! Takes how many matrices (100,000 if not said) and a seed (0), and writes the
//! table of docs/HARDENING.md. Ends with an error if a limit is passed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;
use std::time::Instant;

#[path = "../tests/suite/torture/mod.rs"]
mod torture;

use torture::tally::{self, Findings, Measure};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut number = |otherwise: u64| match words.next() {
        None => Ok(otherwise),
        Some(word) => word.parse().map_err(|_| word),
    };
    let (count, seed) = match (number(100_000), number(0)) {
        (Ok(count), Ok(seed)) => (usize::try_from(count).unwrap_or(usize::MAX), seed),
        (Err(word), _) | (_, Err(word)) => {
            eprintln!("{word} is no number; give how many matrices and a seed, or nothing");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let findings = torture::run(count, seed);
    let all = tally::total(&findings);
    println!(
        "{} matrices, {} decompositions, {} derivatives, {} ranks on the edge, backend {}, {:.0} seconds\n",
        all.matrices,
        all.decompositions,
        all.derivatives,
        all.on_the_edge,
        egg_geometry::backend(),
        start.elapsed().as_secs_f64()
    );
    print!("{}", tally::table(&findings));
    println!();
    for measure in Measure::ALL {
        let (name, worst, limit) = (measure.name(), all.worst(measure), measure.limit());
        println!("{name}: at most {worst:.2}, limit {limit}");
    }
    let failures: Vec<String> = findings.iter().flat_map(Findings::failures).collect();
    for failure in &failures {
        eprintln!("{failure}");
    }
    ExitCode::from(u8::from(!failures.is_empty()))
}
