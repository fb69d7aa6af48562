//! How much memory an epoch of training needs at most, against PyTorch
//! Geometric, or of clustering, against dense PyTorch.
//!
//! The peak of a process is that of all it ever did, so every figure is of a
//! process of its own, which loads one data set and trains two epochs. The
//! interpreter and the libraries count, on both sides.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::child::TaskChild;
use super::machine::Conditions;
use super::measure::{Figures, Measured};
use super::report::{Section, Unit};
use super::suite::{Comparison, Suite};
use super::suites::{CLUSTER, MEMORY, TRAIN};
use super::{NO_EXPORT, ONLY, Options, ours, python};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// In MB and with what the process said of itself, or why it could not be measured.
type Peak = std::result::Result<(f64, Value), String>;

/// The suite whose programs do a task.
pub(super) fn source(comparison: &Comparison) -> &'static Suite {
    match comparison.ours.starts_with("epoch_") {
        true => &CLUSTER,
        false => &TRAIN,
    }
}

pub(super) fn measured(
    workspace: &Workspace,
    options: &Options,
    chosen: &[&'static Comparison],
) -> Result<Section> {
    if options.processes.get() > 1 {
        let message = "--processes is for times; `memory` is of one process";
        return Err(Error::Failed(message.into()));
    }
    let backend = setup::prepare(workspace, Install::Allowed)?;
    let mut programs = BTreeMap::new();
    let (mut results, mut skipped) = (Vec::new(), Vec::new());
    let (mut ours_ready, mut peer_ready) = (Value::Null, Err("not measured".to_owned()));
    for &comparison in chosen {
        let suite = source(comparison);
        if !programs.contains_key(suite.name) {
            programs.insert(suite.name, ours::build(workspace, suite, Some(&backend))?);
        }
        println!("  {}", comparison.name);
        let (ours, peer) = peaks(workspace, options, &programs[suite.name], &backend, comparison)?;
        results.push(Measured {
            comparison: *comparison,
            ours: ours.as_ref().ok().map(|(peak, _)| Figures::one(*peak)),
            other: peer.as_ref().ok().map(|(peak, _)| Figures::one(*peak)),
            error: ours.as_ref().err().cloned(),
        });
        if let Err(why) = &peer {
            skipped.push(format!("the peer of {}: {why}", comparison.name));
        }
        ours_ready = ours.map_or(ours_ready, |(_, ready)| ready);
        peer_ready = peer.map(|(_, ready)| ready).or(peer_ready);
    }
    let conditions = Conditions::new(options, &MEMORY, Some(&backend), &ours_ready, peer_ready.as_ref());
    Ok(Section {
        suite: MEMORY.name,
        unit: Unit::Megabytes,
        conditions,
        results,
        skipped,
    })
}

/// Of our side and of the peer.
fn peaks(
    workspace: &Workspace,
    options: &Options,
    program: &Path,
    backend: &Backend,
    comparison: &'static Comparison,
) -> Result<(Peak, Peak)> {
    let suite = source(comparison);
    let data = suite.dataset_of(comparison).unwrap_or_default();
    let inputs = workspace.scratch(&format!("bench/inputs/memory-{data}"))?;
    let (threads, turn) = (options.threads(), MEMORY.turn);
    let ours = |folder: &Path, quiet: bool| {
        let mut command = ours::command(program, folder, Some(backend), threads, turn);
        if quiet {
            command.env(NO_EXPORT, "1");
        }
        TaskChild::start("our side", command.env(ONLY, data))
    };
    // Once for the inputs alone; the process that is measured exports nothing.
    let peer = match options.no_peers {
        true => Err("--no-peers".into()),
        false => ours(&inputs, false).and_then(|exported| {
            drop(exported);
            let python = python::environment(workspace, suite)?;
            let script = workspace.root.join(suite.script);
            let mut command = python::command(&python, &script, &inputs, threads, turn);
            let child = TaskChild::start("the peer", command.env(ONLY, data))?;
            peak_of(child, comparison.other)
        }),
    };
    let nowhere = workspace.scratch("bench/inputs/memory-none")?;
    let ours = ours(&nowhere, true).and_then(|child| peak_of(child, comparison.ours));
    Ok((ours, peer))
}

/// Runs a task (the first request is answered by the second epoch) and asks the
/// system for the most memory that the process ever held.
fn peak_of(mut child: TaskChild, task: &str) -> Peak {
    child.run(task)?;
    let path = format!("/proc/{}/status", child.id());
    let status =
        std::fs::read_to_string(path).map_err(|_| "only Linux says how much memory a process had")?;
    let peak = high_water(&status).ok_or("the system did not say how much memory it had")?;
    Ok((peak, child.ready.clone()))
}

/// `VmHWM:   12345 kB` in MB.
fn high_water(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_is_read_from_proc_status() {
        let status = "Name:\tratio\nVmPeak:\t  999 kB\nVmHWM:\t  250000 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(high_water(status), Some(256.0));
        assert_eq!(high_water("VmPeak: 3 kB"), None);
    }
}
