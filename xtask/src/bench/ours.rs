//! Building and starting our side of a suite: one of the project's own bench
//! targets.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::TURN;
use super::suite::Suite;
use crate::backend::{Backend, limit_candle_threads};
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// The bench program of every package.
const BENCH: &str = "ratio";

/// Our side of a suite, to be measured.
pub(super) fn build(workspace: &Workspace, suite: &Suite, backend: Option<&Backend>) -> Result<PathBuf> {
    println!("Building the bench program of {}", suite.package);
    let artifacts = artifacts(workspace, &["bench", "-p", suite.package], backend)?;
    program(&artifacts, suite.package)
}

/// Builds the bench programs of the packages that `words` name.
pub(super) fn artifacts(
    workspace: &Workspace,
    words: &[&str],
    backend: Option<&Backend>,
) -> Result<Vec<Value>> {
    workspace.artifacts(&[words, &["--bench", BENCH]].concat(), backend)
}

/// The bench program of a package among the artifacts.
pub(super) fn program(artifacts: &[Value], package: &str) -> Result<PathBuf> {
    // `path+file:///somewhere#egg-pool@0.1.0`
    let id = format!("#{package}@");
    let mut programs = artifacts.iter().filter_map(|artifact| {
        let target = &artifact["target"];
        let is_meant = artifact["package_id"].as_str()?.contains(&id)
            && target["name"] == BENCH
            && target["kind"][0] == "bench";
        is_meant.then(|| artifact["executable"].as_str().map(PathBuf::from))?
    });
    programs
        .next()
        .ok_or_else(|| Error::Failed(format!("cargo named no bench program of {package}")))
}

/// The command that starts our side, which first writes the inputs of all tasks
/// to `inputs` for the peer to read.
pub(super) fn command(
    program: &Path,
    inputs: &Path,
    backend: Option<&Backend>,
    threads: usize,
    turn: f64,
) -> Command {
    let mut command = Command::new(program);
    command.arg("--export").arg(inputs);
    if let Some(backend) = backend {
        backend.apply(&mut command);
    }
    command.env(TURN, turn.to_string());
    command.env("RAYON_NUM_THREADS", threads.to_string());
    limit_candle_threads(&mut command);
    command
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_program_is_found_among_the_artifacts() {
        let artifact = |kind: &str, name: &str, executable: Value| json!({"package_id": "p#egg@1", "target": {"kind": [kind], "name": name}, "executable": executable});
        let artifacts = [
            artifact("lib", BENCH, Value::Null),
            artifact("bench", "other", "x".into()),
            artifact("bench", BENCH, "deps/ratio-1".into()),
            json!({"reason": "build-finished", "success": true}),
        ];
        assert_eq!(program(&artifacts, "egg").unwrap(), PathBuf::from("deps/ratio-1"));
        assert!(program(&artifacts, "eg").is_err());
    }
}
