//! A Python environment with the peer's packages, kept below `target/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::TURN;
use super::suite::Suite;
use crate::process::output_of;
use crate::workspace::Workspace;

/// The environment's interpreter, with exactly the suite's packages in it.
/// Made anew when the list of packages has changed.
pub(super) fn environment(workspace: &Workspace, suite: &Suite) -> Result<PathBuf, String> {
    let requirements = workspace.root.join(suite.requirements);
    let wanted =
        std::fs::read_to_string(&requirements).map_err(|e| format!("{}: {e}", requirements.display()))?;
    let directory = workspace.target.join("bench").join("venv");
    let python = directory.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    // Written last, so it is there only after everything went well.
    let stamp = directory.join(format!("{}-installed.txt", suite.name));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) && works(&python) {
        return Ok(python);
    }

    println!("Preparing the Python environment ({})", suite.requirements);
    if !works(&python) {
        let _ = std::fs::remove_dir_all(&directory);
        quietly(Command::new("python3").args(["-m", "venv"]).arg(&directory))?;
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    quietly(pip.arg("-r").arg(&requirements))?;
    std::fs::write(&stamp, wanted).map_err(|e| format!("{}: {e}", stamp.display()))?;
    Ok(python)
}

/// The command that starts the peer's side, which reads what ours wrote to `inputs`.
pub(super) fn command(python: &Path, script: &Path, inputs: &Path, threads: usize, turn: f64) -> Command {
    let mut command = Command::new(python);
    command.arg(script).arg(inputs);
    command.env(TURN, turn.to_string());
    // NumPy's OpenBLAS, SciPy's, and MKL in case somebody's build has it.
    for variable in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(variable, threads.to_string());
    }
    // The script's folder is a part of the sources.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    // Meant for the system's OpenBLAS; NumPy and SciPy bring newer ones that
    // choose well by themselves.
    command.env_remove("OPENBLAS_CORETYPE");
    command
}

/// An environment stops working when the Python it was made from goes away.
fn works(python: &Path) -> bool {
    output_of(Command::new(python).args(["-m", "pip", "--version"])).is_some()
}

/// Runs a command whose output matters only if it fails.
fn quietly(command: &mut Command) -> Result<(), String> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let program = name.to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program} could not be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let why = last.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned());
    Err(format!("{program} failed: {why}"))
}
