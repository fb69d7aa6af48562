//! Building and starting our side of a suite: one of the project's own bench
//! targets.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::TURN;
use super::suite::Suite;
use crate::backend::{Backend, calm_candle};
use crate::error::{Error, Result};
use crate::process::output_of;
use crate::workspace::Workspace;

/// The bench program of every package.
const BENCH: &str = "ratio";

/// Our side of a suite, to be measured.
pub(super) fn build(workspace: &Workspace, suite: &Suite, backend: Option<&Backend>) -> Result<PathBuf> {
    println!("Building the bench program of {}", suite.package);
    let messages = messages(workspace, &["bench", "-p", suite.package], backend)?;
    program(&messages, suite.package)
}

/// Builds the bench programs of the packages that `words` name, and returns what cargo says of it.
pub(super) fn messages(workspace: &Workspace, words: &[&str], backend: Option<&Backend>) -> Result<String> {
    let mut cargo = workspace.cargo();
    cargo.args(words).args(["--bench", BENCH, "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics");
    if let Some(backend) = backend {
        cargo.args(backend.cargo_flags());
        backend.apply(&mut cargo);
    }
    output_of(cargo.stderr(Stdio::inherit())).ok_or_else(|| {
        Error::Failed("the bench programs do not build; the compiler's messages are above".into())
    })
}

/// The bench program of a package in cargo's messages, one JSON object per line.
pub(super) fn program(messages: &str, package: &str) -> Result<PathBuf> {
    // `path+file:///somewhere#egg-pool@0.1.0`
    let id = format!("#{package}@");
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut programs = messages.filter_map(|message: Value| {
        let target = &message["target"];
        let is_meant = message["package_id"].as_str()?.contains(&id)
            && target["name"] == BENCH
            && target["kind"][0] == "bench";
        is_meant.then(|| message["executable"].as_str().map(PathBuf::from))?
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
    calm_candle(&mut command);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","package_id":"p#egg@1","target":{"kind":["lib"],"name":"ratio"},"executable":null}"#,
            "\nnot json\n",
            r#"{"reason":"compiler-artifact","package_id":"p#egg@1","target":{"kind":["bench"],"name":"other"},"executable":"x"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"p#egg@1","target":{"kind":["bench"],"name":"ratio"},"executable":"deps/ratio-1"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(program(messages, "egg").unwrap(), PathBuf::from("deps/ratio-1"));
        assert!(program(messages, "eg").is_err());
    }
}
