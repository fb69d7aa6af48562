//! What the numbers were measured on.

use std::process::Command;

use serde_json::{Value, json};

use super::Options;
use super::suite::Suite;
use crate::backend::Backend;
use crate::process::output_of;

pub(super) struct Conditions {
    cpu: String,
    cores: usize,
    /// Of each process.
    threads: usize,
    /// Of each side.
    processes: usize,
    rounds: usize,
    /// Seconds that a turn lasts at least.
    turn: f64,
    /// The linear algebra of our side, if it has any.
    backend: Option<String>,
    /// What each side said about itself when it was ready.
    ours: Value,
    /// The peer's, or why there is none.
    peer: Result<Value, String>,
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn cpu() -> String {
    egg_results::processor()
        .or_else(|| output_of(Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"])))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn describe(backend: &Backend) -> String {
    match backend.openblas() {
        Some(openblas) => format!(
            "OpenBLAS {}, {} kernels, {}",
            openblas.version,
            openblas.core,
            openblas.threading.name()
        ),
        None => "pure Rust (faer)".into(),
    }
}

impl Conditions {
    pub(super) fn new(
        options: &Options,
        suite: &Suite,
        backend: Option<&Backend>,
        ours: Value,
        peer: Result<Value, String>,
    ) -> Self {
        Self {
            cpu: cpu(),
            cores: cores(),
            threads: options.threads(),
            processes: options.processes.get(),
            rounds: options.rounds(),
            turn: suite.turn,
            backend: backend.map(describe),
            ours,
            peer,
        }
    }

    /// What is the same for all suites of a run.
    pub(super) fn common(&self) -> Vec<String> {
        let side_by_side = match self.processes {
            1 => String::new(),
            several => format!(" in each of {several} processes side by side"),
        };
        vec![
            format!("processor: {}, {} cores", self.cpu, self.cores),
            format!("threads: {} on each side{side_by_side}", self.threads),
            format!("rounds: {}, the sides taking turns", self.rounds),
        ]
    }

    /// What each suite has of its own.
    pub(super) fn own(&self) -> Vec<String> {
        let peer = match &self.peer {
            Ok(ready) => versions(ready),
            Err(why) => format!("not measured: {why}"),
        };
        let mut lines = vec![format!("turns: of at least {} s", self.turn)];
        if let Some(backend) = &self.backend {
            lines.push(format!("ours: {backend}"));
        }
        if let Some(data) = self.ours["data"].as_str() {
            lines.push(format!("graphs: {data}"));
        }
        lines.push(format!("peer: {peer}"));
        lines
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "processor": self.cpu,
            "cores": self.cores,
            "threads": self.threads,
            "processes": self.processes,
            "rounds": self.rounds,
            "turn_seconds": self.turn,
            "backend": self.backend,
            "ours": self.ours,
            "peer": match &self.peer {
                Ok(ready) => ready.clone(),
                Err(why) => json!({ "missing": why }),
            },
        })
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
    fn facts_are_read() {
        let ready = json!({"ready": true, "versions": {"numpy": "2.4.6", "scipy": "1.17.1"}});
        assert_eq!(versions(&ready), "numpy 2.4.6, scipy 1.17.1");
    }
}
