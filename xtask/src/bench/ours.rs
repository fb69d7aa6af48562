//! Building and starting our side of a suite: one of the project's own bench
//! targets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::suite::Suite;
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// The bench program of every package.
const BENCH: &str = "ratio";

/// Our side of a suite, to be measured.
pub(super) fn build(workspace: &Workspace, suite: &Suite, backend: Option<&Backend>) -> Result<PathBuf> {
    println!("Building the bench program of {}", suite.package);
    let built = programs(workspace, &["bench", "-p", suite.package], backend)?;
    of_package(&built, suite)
}

/// The program of a suite among others.
pub(super) fn of_package(programs: &BTreeMap<String, PathBuf>, suite: &Suite) -> Result<PathBuf> {
    let program = programs.get(suite.package).cloned();
    program.ok_or_else(|| Error::Failed(format!("cargo named no bench program of {}", suite.package)))
}

/// Builds the bench programs of the packages that `words` name, by package.
pub(super) fn programs(
    workspace: &Workspace,
    words: &[&str],
    backend: Option<&Backend>,
) -> Result<BTreeMap<String, PathBuf>> {
    let mut cargo = workspace.cargo();
    cargo.args(words).args(["--bench", BENCH, "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics");
    if let Some(backend) = backend {
        cargo.args(backend.cargo_flags());
        backend.apply(&mut cargo);
    }
    let output = cargo
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| Error::while_doing("could not start cargo", e))?;
    match output.status.success() {
        true => Ok(executables(&String::from_utf8_lossy(&output.stdout), BENCH)),
        false => Err(Error::Failed(
            "the bench programs do not build; the compiler's messages are above".into(),
        )),
    }
}

/// The programs that cargo's messages, one JSON object per line, say were built
/// for the bench targets of a name, by package.
fn executables(messages: &str, bench: &str) -> BTreeMap<String, PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact"
                && message["target"]["name"] == bench
                && message["target"]["kind"][0] == "bench"
        })
        .filter_map(|message| {
            let program = PathBuf::from(message["executable"].as_str()?);
            Some((package(message["package_id"].as_str()?).to_owned(), program))
        })
        .collect()
}

/// `path+file:///somewhere#egg-pool@0.1.0`; if the folder has the package's name,
/// `path+file:///somewhere/xtask#0.1.0`.
fn package(id: &str) -> &str {
    let (path, name) = id.rsplit_once('#').unwrap_or(("", id));
    match name.split_once('@') {
        Some((name, _)) => name,
        None => path.rsplit('/').next().unwrap_or(name),
    }
}

/// The command that starts our side, which first writes the inputs of all tasks
/// to `inputs` for the peer to read.
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
    fn the_executables_are_found_among_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","package_id":"p#egg@1","target":{"kind":["lib"],"name":"ratio"},"executable":null}"#,
            "\nnot json\n",
            r#"{"reason":"compiler-artifact","package_id":"p#egg@1","target":{"kind":["bench"],"name":"other"},"executable":"x"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"p#egg@1","target":{"kind":["bench"],"name":"ratio"},"executable":"deps/ratio-1"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = executables(messages, "ratio");
        assert_eq!(found.get("egg"), Some(&PathBuf::from("deps/ratio-1")));
        assert!(executables(messages, "absent").is_empty());
        assert_eq!(package("path+file:///a/crates/pool#egg-pool@0.1.0"), "egg-pool");
        assert_eq!(package("path+file:///a/xtask#0.1.0"), "xtask");
    }
}
