//! How much memory an epoch of training needs at most, against PyTorch
//! Geometric, or of clustering, against dense PyTorch.
//!
//! The peak of a process is that of all it ever did, so every figure is of a
//! process of its own, which loads one data set and trains two epochs. The
//! interpreter and the libraries count, on both sides.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::child::{Runner, TaskChild};
use super::report::save;
use super::suite::{Comparison, Suite};
use super::svg::{Bar, bars_about};
use super::{NO_EXPORT, ONLY, Request, TURN};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::workspace::Workspace;

pub(super) const SUITE: Suite = Suite {
    name: "memory",
    package: "egg-pool",
    bench: "ratio",
    needs_backend: true,
    script: "xtask/peers/train.py",
    requirements: "xtask/peers/torch-requirements.txt",
    // Once to warm up, and once more.
    turn: 0.0,
    datasets: &["PROTEINS", "DD", "Pubmed"],
    comparisons: &[
        peak("GCN-EGG, PROTEINS", "gcn_egg_PROTEINS", "gcn_egg_eigh_PROTEINS"),
        peak("GCN-SUM, PROTEINS", "gcn_sum_PROTEINS", "gcn_sum_PROTEINS"),
        peak("GCN-EGG, DD", "gcn_egg_DD", "gcn_egg_eigh_DD"),
        peak("GCN-SUM, DD", "gcn_sum_DD", "gcn_sum_DD"),
        peak("clustering, all pairs, Pubmed", "epoch_Pubmed", "epoch_Pubmed"),
    ],
};

const fn peak(name: &'static str, ours: &'static str, peer: &'static str) -> Comparison {
    Comparison::with_peer(name, ours, peer).at_least(1.0)
}

/// Peaks in MB; `None` where a side could not be measured.
struct Measured {
    comparison: &'static Comparison,
    ours: std::result::Result<f64, String>,
    peer: std::result::Result<f64, String>,
}

/// The suite whose programs do a task.
pub(super) fn source(comparison: &Comparison) -> &'static Suite {
    match comparison.ours.starts_with("epoch_") {
        true => &super::cluster::SUITE,
        false => &super::train::SUITE,
    }
}

impl Measured {
    fn ratio(&self) -> Option<f64> {
        let (ours, peer) = (self.ours.as_ref().ok()?, self.peer.as_ref().ok()?);
        Some(peer / ours)
    }
}

pub(super) fn run(workspace: &Workspace, request: &Request, chosen: &[&'static Comparison]) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Allowed)?;
    let mut programs = BTreeMap::new();
    let mut results = Vec::new();
    for &comparison in chosen {
        let suite = source(comparison);
        if !programs.contains_key(suite.name) {
            programs.insert(suite.name, super::ours::build(workspace, suite, Some(&backend))?);
        }
        println!("  {}", comparison.name);
        let program = &programs[suite.name];
        results.push(measured(
            workspace, request, suite, program, &backend, comparison,
        )?);
    }
    let rows = table(&results);
    println!("\nthreads: {} on each side", request.threads);
    println!("peak resident memory of a process that trains two epochs\n");
    rows.iter().for_each(|line| println!("{line}"));
    write(workspace, request, &results, &rows)?;
    match results.iter().find_map(|row| row.ours.as_ref().err()) {
        Some(error) => Err(Error::Failed(error.clone())),
        None => Ok(()),
    }
}

fn measured(
    workspace: &Workspace,
    request: &Request,
    suite: &'static Suite,
    program: &Path,
    backend: &Backend,
    comparison: &'static Comparison,
) -> Result<Measured> {
    let data = suite.dataset_of(comparison).unwrap_or_default();
    let inputs = workspace.scratch(&format!("bench/inputs/memory-{data}"))?;
    let ours = |folder: &Path, quiet: bool| {
        let mut command = super::ours::command(program, folder, Some(backend), request.threads);
        command.env(ONLY, data).env(TURN, SUITE.turn.to_string());
        if quiet {
            command.env(NO_EXPORT, "1");
        }
        TaskChild::start("our side", &mut command)
    };
    // Once for the inputs alone; the process that is measured exports nothing.
    let peer = match request.peers {
        false => Err("--no-peers".into()),
        true => ours(&inputs, false).and_then(|exported| {
            drop(exported);
            let python = super::python::environment(workspace, suite)?;
            let mut command = super::peer_command(&python, workspace, suite, request.threads, &inputs);
            command.env(ONLY, data).env(TURN, SUITE.turn.to_string());
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

fn write(workspace: &Workspace, request: &Request, results: &[Measured], rows: &[String]) -> Result<()> {
    let number = |side: &std::result::Result<f64, String>| match side {
        Ok(megabytes) => json!(megabytes),
        Err(why) => json!({ "missing": why }),
    };
    let comparisons: Vec<_> = results
        .iter()
        .map(|row| json!({"name": row.comparison.name, "ours_mb": number(&row.ours), "peer_mb": number(&row.peer)}))
        .collect();
    let document = json!({"suite": "memory", "threads": request.threads, "comparisons": comparisons});
    let bars: Vec<Bar> = results
        .iter()
        .filter_map(|row| {
            Some(Bar {
                label: row.comparison.name.to_owned(),
                ratio: row.ratio()?,
                spread: None,
                target: row.comparison.target,
            })
        })
        .collect();
    let folder = workspace.scratch("bench")?;
    let text = format!("# memory, measured\n\n{}\n", rows.join("\n"));
    save(&folder.join("memory.json"), &format!("{document:#}\n"))?;
    save(&folder.join("memory.md"), &text)?;
    let about = "Their peak memory over ours. Right of 1 (blue): ours needs less. Black mark: the target.";
    save(
        &folder.join("memory.svg"),
        &bars_about("cargo xtask bench memory", &[about], &bars),
    )
}

/// Runs a task (the first request is answered by the second epoch) and asks the
/// system for the most memory that the process ever held.
fn peak_of(mut child: TaskChild, task: &str) -> std::result::Result<f64, String> {
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
    let side = |side: &std::result::Result<f64, String>| match side {
        Ok(megabytes) => format!("{megabytes:.0} MB"),
        Err(why) => format!("- ({why})"),
    };
    let mut lines = vec![
        "| epoch | ours | PyTorch | ratio | target | verdict |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(results.iter().map(|row| {
        let ratio = row.ratio();
        let verdict = match ratio {
            None => "not compared",
            Some(ratio) if ratio > 1.0 => "MET",
            Some(_) => "MISSED",
        };
        format!(
            "| {} | {} | {} | {} | > 1 | {verdict} |",
            row.comparison.name,
            side(&row.ours),
            side(&row.peer),
            ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"))
        )
    }));
    lines
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
        let comparison = &SUITE.comparisons[0];
        let row = |ours, peer| {
            table(&[Measured {
                comparison,
                ours,
                peer,
            }])
            .remove(2)
        };
        assert!(row(Ok(100.0), Ok(400.0)).ends_with("| 4.00 | > 1 | MET |"));
        assert!(row(Ok(400.0), Ok(100.0)).ends_with("MISSED |"));
        assert!(row(Ok(400.0), Err("--no-peers".into())).contains("not compared"));
    }
}
