//! `cargo xtask bench --smoke`: our side of every suite does every task once, on
//! inputs as small as they can be, without peers and without data. Nothing is said
//! about time; it is there so that the benchmarks can't rot.
//!
//! The programs are those that `cargo xtask test` builds anyway.

use super::child::TaskChild;
use super::suite::{Side, Suite};
use super::suites::{MEMORY, TIMED};
use super::{memory, ours};
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// Makes our side's inputs tiny; see `peers/protocol.rs`.
const TINY: &str = "EGG_BENCH_TINY";

pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Not)?;
    // As the tests have them: no other set of packages, features or options, so
    // that nothing heavy is compiled for it.
    let tests = ["test", "--workspace", "--exclude", "xtask"];
    let artifacts = ours::artifacts(workspace, &tests, Some(&backend))?;
    let (mut passed, mut failures) = (0, Vec::new());
    for suite in TIMED {
        let program = ours::program(&artifacts, suite.package)?;
        let inputs = workspace.scratch(&format!("bench/inputs/tiny-{}", suite.name))?;
        let mut command = ours::command(&program, &inputs, Some(&backend), 2, suite.turn);
        let mut child = TaskChild::start("our side", command.env(TINY, "1")).map_err(Error::Failed)?;
        for task in compared(suite) {
            match child.run(&task) {
                Ok(_) => passed += 1,
                Err(error) => failures.push(format!("{}: {error}", suite.name)),
            }
        }
    }
    failures.iter().for_each(|failure| println!("error: {failure}"));
    // As test programs say it, for whoever counts.
    let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {passed} passed; {} failed; 0 ignored",
        failures.len()
    );
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Error::Reported),
    }
}

/// What our side does in the comparisons of a suite, each task once.
fn compared(suite: &Suite) -> Vec<String> {
    let mut tasks = Vec::new();
    let of_memory = MEMORY.comparisons.iter();
    let of_memory = of_memory.filter(|comparison| memory::source(comparison).name == suite.name);
    for comparison in suite.comparisons.iter().chain(of_memory) {
        tasks.push(comparison.ours.to_owned());
        if comparison.side == Side::Ours {
            tasks.push(comparison.other.to_owned());
        }
    }
    tasks.sort();
    tasks.dedup();
    tasks
}

#[cfg(test)]
mod tests {
    use super::super::suites::{GEOMETRY, TRAIN};
    use super::*;

    #[test]
    fn every_task_of_ours_is_tried_once() {
        let tasks = compared(&TRAIN);
        assert!(tasks.contains(&"gcn_egg_DD".to_owned()) && tasks.contains(&"gin_sum_PROTEINS".to_owned()));
        assert_eq!(tasks.iter().filter(|task| *task == "gcn_egg_PROTEINS").count(), 1);
        let geometry = compared(&GEOMETRY);
        assert!(geometry.contains(&"projector_64x30_raw".to_owned()));
        assert!(!geometry.contains(&"scipy_angles_64x8".to_owned()));
    }
}
