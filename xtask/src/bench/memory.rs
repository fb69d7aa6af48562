//! How much memory an epoch of training needs at most, against PyTorch
//! Geometric.
//!
//! The peak of a process is that of all it ever did, so every figure is of a
//! process of its own, which loads one data set and trains two epochs. The
//! interpreter and the libraries count, on both sides.

use std::path::Path;

use serde_json::json;

use super::Request;
use super::child::{Runner, TaskChild};
use super::suite::{Comparison, Suite};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

pub(super) const SUITE: Suite = Suite {
    name: "memory",
    package: "egg-pool",
    bench: "ratio",
    needs_backend: true,
    script: "xtask/peers/train.py",
    requirements: "xtask/peers/torch-requirements.txt",
    comparisons: &[
        peak("GCN-EGG, PROTEINS", "gcn_egg_PROTEINS", "gcn_egg_eigh_PROTEINS"),
        peak("GCN-SUM, PROTEINS", "gcn_sum_PROTEINS", "gcn_sum_PROTEINS"),
        peak("GCN-EGG, DD", "gcn_egg_DD", "gcn_egg_eigh_DD"),
        peak("GCN-SUM, DD", "gcn_sum_DD", "gcn_sum_DD"),
    ],
};

/// Names the only data set that both sides load; see `crates/pool/benches/ratio.rs`
/// and `peers/train.py`.
const ONLY: &str = "EGG_BENCH_DATA";

/// Tells our side to write nothing for the peer, which would be memory too.
const NO_EXPORT: &str = "EGG_BENCH_NO_EXPORT";

const fn peak(name: &'static str, ours: &'static str, peer: &'static str) -> Comparison {
    Comparison::with_peer(name, ours, peer).at_least(1.0)
}

/// Peaks in MB; `None` where a side could not be measured.
struct Measured {
    comparison: &'static Comparison,
    ours: std::result::Result<f64, String>,
    peer: std::result::Result<f64, String>,
}

pub(super) fn run(
    workspace: &Workspace,
    request: &Request,
    program: &Path,
    backend: Option<&Backend>,
    chosen: &[&'static Comparison],
) -> Result<()> {
    let mut results = Vec::new();
    for &comparison in chosen {
        println!("  {}", comparison.name);
        let data = comparison.ours.rsplit('_').next().unwrap_or_default();
        let inputs = workspace.scratch(&format!("bench/inputs/memory-{data}"))?;
        let ours = |folder: &Path, quiet: bool| {
            let mut command = super::ours::command(program, folder, backend, request.threads);
            command.env(ONLY, data);
            if quiet {
                command.env(NO_EXPORT, "1");
            }
            TaskChild::start("our side", &mut command)
        };
        // Once for the inputs alone; the process that is measured exports nothing.
        let exported = ours(&inputs, false).map(drop);
        let peer = exported.and_then(|()| {
            if !request.peers {
                return Err("--no-peers".into());
            }
            let mut command = super::peer_command(workspace, request, &inputs)?;
            command.env(ONLY, data);
            TaskChild::start("the peer", &mut command).and_then(|child| peak_of(child, comparison.other.name))
        });
        let nowhere = workspace.scratch("bench/inputs/memory-none")?;
        let ours = ours(&nowhere, true).and_then(|child| peak_of(child, comparison.ours));
        results.push(Measured {
            comparison,
            ours,
            peer,
        });
    }
    let lines = table(&results);
    println!("\npeak resident memory of a process that trains two epochs\n");
    lines.iter().for_each(|line| println!("{line}"));
    let path = workspace.scratch("bench")?.join("memory.json");
    let number = |side: &std::result::Result<f64, String>| match side {
        Ok(megabytes) => json!(megabytes),
        Err(why) => json!({ "missing": why }),
    };
    let rows: Vec<_> = results
        .iter()
        .map(|row| json!({"name": row.comparison.name, "ours_mb": number(&row.ours), "peer_mb": number(&row.peer)}))
        .collect();
    std::fs::write(
        &path,
        format!("{:#}\n", json!({"suite": "memory", "comparisons": rows})),
    )
    .map_err(|e| Error::while_doing(path.display(), e))?;
    match results.iter().find_map(|row| row.ours.as_ref().err()) {
        Some(error) => Err(Error::Failed(error.clone())),
        None => Ok(()),
    }
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
        "| epoch | ours | PyTorch Geometric | ratio | target | verdict |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(results.iter().map(|row| {
        let ratio = row
            .ours
            .as_ref()
            .ok()
            .zip(row.peer.as_ref().ok())
            .map(|(ours, peer)| peer / ours);
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
