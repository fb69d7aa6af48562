//! Building and starting our side of a suite: one of the project's own bench
//! targets.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::child::TaskChild;
use super::suite::Suite;
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

pub(super) fn build(workspace: &Workspace, suite: &Suite, backend: Option<&Backend>) -> Result<PathBuf> {
    println!("Building the bench `{}` of {}", suite.bench, suite.package);
    let mut cargo = workspace.cargo();
    cargo.args(["bench", "-p", suite.package, "--bench", suite.bench]);
    cargo.args(["--no-run", "--message-format=json-render-diagnostics"]);
    if let Some(backend) = backend {
        cargo.args(backend.cargo_flags());
        backend.apply(&mut cargo);
    }
    let output = cargo
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| Error::while_doing("could not start cargo", e))?;
    if !output.status.success() {
        return Err(Error::Failed(format!(
            "the bench `{}` of {} does not build; the compiler's messages are above",
            suite.bench, suite.package
        )));
    }
    executable(&String::from_utf8_lossy(&output.stdout), suite.bench).ok_or_else(|| {
        Error::Failed(format!(
            "cargo named no executable for the bench `{}`",
            suite.bench
        ))
    })
}

/// The program that cargo's messages, one JSON object per line, say was built
/// for a bench target.
fn executable(messages: &str, bench: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact"
                && message["target"]["name"] == bench
                && message["target"]["kind"][0] == "bench"
        })
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// Starts our side, which first writes the inputs of all tasks to `inputs` for
/// the peer to read.
pub(super) fn start(
    program: &Path,
    inputs: &Path,
    backend: Option<&Backend>,
    threads: usize,
) -> std::result::Result<TaskChild, String> {
    TaskChild::start("our side", &mut command(program, inputs, backend, threads))
}

/// The command that starts it.
pub(super) fn command(program: &Path, inputs: &Path, backend: Option<&Backend>, threads: usize) -> Command {
    let mut command = Command::new(program);
    command.arg("--export").arg(inputs);
    if let Some(backend) = backend {
        backend.apply(&mut command);
    }
    command.env("RAYON_NUM_THREADS", threads.to_string());
    // candle's own threads wait for work in a busy loop, on the cores that
    // rayon's threads need.
    if std::env::var_os("CANDLE_NUM_THREADS").is_none() {
        command.env("CANDLE_NUM_THREADS", "1");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_found_among_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"ratio"},"executable":null}"#,
            "\nnot json\n",
            r#"{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"other"},"executable":"x"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"ratio"},"executable":"deps/ratio-1"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(executable(messages, "ratio"), Some(PathBuf::from("deps/ratio-1")));
        assert_eq!(executable(messages, "absent"), None);
    }
}
