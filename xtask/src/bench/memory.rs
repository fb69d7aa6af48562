//! How much memory an epoch of training needs at most, against PyTorch
//! Geometric, or of clustering, against dense PyTorch.
//!
//! The peak of a process is that of all it ever did, so every figure is of a
//! process of its own, which loads one data set and trains two epochs. The
//! interpreter and the libraries count, on both sides.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::bars::{Bar, bars};
use super::child::{Runner, TaskChild};
use super::measure::{Verdict, verdict};
use super::report::{aligned, save};
use super::suite::{Comparison, Suite};
use super::suites::{CLUSTER, MEMORY, TRAIN};
use super::{NO_EXPORT, ONLY, Options, TURN, ours};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// In MB, or why it could not be measured.
type Peak = std::result::Result<f64, String>;

struct Measured {
    comparison: &'static Comparison,
    ours: Peak,
    peer: Peak,
}

/// The suite whose programs do a task.
pub(super) fn source(comparison: &Comparison) -> &'static Suite {
    match comparison.ours.starts_with("epoch_") {
        true => &CLUSTER,
        false => &TRAIN,
    }
}

impl Measured {
    fn ratio(&self) -> Option<f64> {
        let (ours, peer) = (self.ours.as_ref().ok()?, self.peer.as_ref().ok()?);
        Some(peer / ours)
    }

    fn verdict(&self) -> Verdict {
        verdict(self.ours.is_err(), self.ratio(), self.comparison.target)
    }
}

pub(super) fn run(workspace: &Workspace, options: &Options, chosen: &[&'static Comparison]) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Allowed)?;
    let mut programs = BTreeMap::new();
    let mut results = Vec::new();
    for &comparison in chosen {
        let suite = source(comparison);
        if !programs.contains_key(suite.name) {
            programs.insert(suite.name, ours::build(workspace, suite, Some(&backend))?);
        }
        println!("  {}", comparison.name);
        let program = &programs[suite.name];
        results.push(measured(
            workspace, options, suite, program, &backend, comparison,
        )?);
    }
    let rows = table(&results);
    println!("\nthreads: {} on each side", options.threads());
    println!("peak resident memory of a process that trains two epochs\n");
    rows.iter().for_each(|line| println!("{line}"));
    write(workspace, options, &results, &rows)?;
    match results.iter().find_map(|row| row.ours.as_ref().err()) {
        Some(error) => Err(Error::Failed(error.clone())),
        None => Ok(()),
    }
}

fn measured(
    workspace: &Workspace,
    options: &Options,
    suite: &'static Suite,
    program: &Path,
    backend: &Backend,
    comparison: &'static Comparison,
) -> Result<Measured> {
    let data = suite.dataset_of(comparison).unwrap_or_default();
    let inputs = workspace.scratch(&format!("bench/inputs/memory-{data}"))?;
    let ours = |folder: &Path, quiet: bool| {
        let mut command = ours::command(program, folder, Some(backend), options.threads());
        command.env(ONLY, data).env(TURN, MEMORY.turn.to_string());
        if quiet {
            command.env(NO_EXPORT, "1");
        }
        TaskChild::start("our side", &mut command)
    };
    // Once for the inputs alone; the process that is measured exports nothing.
    let peer = match options.no_peers {
        true => Err("--no-peers".into()),
        false => ours(&inputs, false).and_then(|exported| {
            drop(exported);
            let python = super::python::environment(workspace, suite)?;
            let mut command = super::peer_command(&python, workspace, suite, options.threads(), &inputs);
            command.env(ONLY, data).env(TURN, MEMORY.turn.to_string());
            TaskChild::start("the peer", &mut command).and_then(|child| peak_of(child, comparison.other.name))
        }),
    };
    let nowhere = workspace.scratch("bench/inputs/memory-none")?;
    let ours = ours(&nowhere, true).and_then(|child| peak_of(child, comparison.ours));
    Ok(Measured {
        comparison,
        ours,
        peer,
    })
}

fn write(workspace: &Workspace, options: &Options, results: &[Measured], rows: &[String]) -> Result<()> {
    let number = |side: &Peak| match side {
        Ok(megabytes) => json!(megabytes),
        Err(why) => json!({ "missing": why }),
    };
    let comparisons: Vec<_> = results
        .iter()
        .map(|row| json!({"name": row.comparison.name, "ours_mb": number(&row.ours), "peer_mb": number(&row.peer)}))
        .collect();
    let document = json!({"suite": "memory", "threads": options.threads(), "comparisons": comparisons});
    let bar = |row: &Measured| {
        Some(Bar {
            label: row.comparison.name.to_owned(),
            ratio: row.ratio()?,
            spread: None,
            target: row.comparison.target,
        })
    };
    let chart: Vec<Bar> = results.iter().filter_map(bar).collect();
    let folder = workspace.scratch("bench")?;
    let text = format!("# memory, measured\n\n{}\n", rows.join("\n"));
    save(&folder.join("memory.json"), &format!("{document:#}\n"))?;
    save(&folder.join("memory.md"), &text)?;
    let about = "Their peak memory over ours. Right of 1 (blue): ours needs less. Black mark: the target.";
    save(
        &folder.join("memory.svg"),
        &bars("cargo xtask bench memory", &[about], &chart),
    )
}

/// Runs a task (the first request is answered by the second epoch) and asks the
/// system for the most memory that the process ever held.
fn peak_of(mut child: TaskChild, task: &str) -> Peak {
    child.run(task)?;
    let path = format!("/proc/{}/status", child.id());
    let status =
        std::fs::read_to_string(path).map_err(|_| "only Linux says how much memory a process had")?;
    high_water(&status).ok_or_else(|| "the system did not say how much memory it had".into())
}

/// `VmHWM:   12345 kB` in MB.
fn high_water(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

fn table(results: &[Measured]) -> Vec<String> {
    let side = |side: &Peak| match side {
        Ok(megabytes) => format!("{megabytes:.0} MB"),
        Err(why) => format!("- ({why})"),
    };
    let mut rows = vec![["epoch", "ours", "PyTorch", "ratio", "target", "verdict"].map(String::from)];
    rows.extend(results.iter().map(|row| {
        [
            row.comparison.name.to_owned(),
            side(&row.ours),
            side(&row.peer),
            row.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}")),
            "> 1".to_owned(),
            row.verdict().word().to_owned(),
        ]
    }));
    aligned(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read() {
        let status = "Name:\tratio\nVmPeak:\t  999 kB\nVmHWM:\t  250000 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(high_water(status), Some(256.0));
        assert_eq!(high_water("VmPeak: 3 kB"), None);
    }

    #[test]
    fn less_than_the_peer_is_met() {
        let comparison = &MEMORY.comparisons[0];
        let row = |ours, peer| {
            table(&[Measured {
                comparison,
                ours,
                peer,
            }])
            .remove(2)
        };
        assert!(row(Ok(100.0), Ok(400.0)).contains("| 4.00  | > 1    | MET"));
        assert!(row(Ok(400.0), Ok(100.0)).contains("MISSED"));
        assert!(row(Ok(400.0), Err("--no-peers".into())).contains("not compared"));
    }
}
