//! What the numbers were measured on.

use std::process::Command;

use serde_json::{Value, json};

use super::Options;
use super::suite::Suite;
use crate::backend::Backend;
use crate::process::output_of;

pub(super) struct Conditions {
    /// What is the same for all suites of a run.
    pub(super) common: Vec<String>,
    /// What each suite has of its own.
    pub(super) own: Vec<String>,
    pub(super) json: Value,
}

fn cpu() -> String {
    egg_results::processor()
        .or_else(|| output_of(Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"])))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

impl Conditions {
    /// `ours` and `peer` are what each side said of itself when it was ready; or why there is no peer.
    pub(super) fn new(
        options: &Options,
        suite: &Suite,
        backend: Option<&Backend>,
        ours: &Value,
        peer: Result<&Value, &String>,
    ) -> Self {
        let (threads, processes, rounds) = (options.threads(), options.processes.get(), options.rounds());
        let (cpu, cores) = (cpu(), egg_results::cores());
        let backend = backend.map(|backend| match backend.openblas() {
            Some(openblas) => openblas.to_string(),
            None => "pure Rust (faer)".to_owned(),
        });
        let side_by_side = match processes {
            1 => String::new(),
            several => format!(" in each of {several} processes side by side"),
        };
        let common = vec![
            format!("processor: {cpu}, {cores} cores"),
            format!("threads: {threads} on each side{side_by_side}"),
            format!("rounds: {rounds}, the sides taking turns"),
        ];
        let mut own = vec![format!("turns: of at least {} s", suite.turn)];
        own.extend(backend.iter().map(|backend| format!("ours: {backend}")));
        own.extend(ours["data"].as_str().map(|data| format!("graphs: {data}")));
        own.push(match peer {
            Ok(ready) => format!("peer: {}", versions(ready)),
            Err(why) => format!("peer: not measured: {why}"),
        });
        let peer = peer.cloned().unwrap_or_else(|why| json!({ "missing": why }));
        let json = json!({"processor": cpu, "cores": cores, "threads": threads, "processes": processes, "rounds": rounds,
            "turn_seconds": suite.turn, "backend": backend, "ours": ours, "peer": peer});
        Self { common, own, json }
    }
}

/// `{"versions": {"numpy": "2.4", ...}}` as `numpy 2.4, ...`.
fn versions(ready: &Value) -> String {
    let Some(versions) = ready["versions"].as_object() else {
        return "of unknown version".into();
    };
    let words: Vec<_> = versions
        .iter()
        .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or("?")))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_peers_are_read() {
        let ready = json!({"ready": true, "versions": {"numpy": "2.4.6", "scipy": "1.17.1"}});
        assert_eq!(versions(&ready), "numpy 2.4.6, scipy 1.17.1");
    }
}
