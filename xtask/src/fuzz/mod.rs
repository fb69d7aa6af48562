//! `cargo xtask fuzz`: random input for everything that reads files.

mod libfuzzer;

use std::path::PathBuf;
use std::process::Stdio;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

const HELP: &str = "\
cargo xtask fuzz [--seconds N] [--target NAME]... [--engine random|libfuzzer]
cargo xtask fuzz --target NAME --input FILE

Gives every reader, and the decomposition, inputs that are nearly sound, and says
how many there were. Each target has the same share of the time. An input that
makes one panic, take over 20 seconds, ask for more than a gigabyte of memory, or
give something that breaks a promise of its type is kept in target/fuzz; the exit
code is then 1.

Options:
  --seconds N       run for so long in all, compiling apart (default 60)
  --target NAME     only this one; may be given several times
  --engine random   the driver of our own, on any compiler (default)
  --engine libfuzzer
                    libFuzzer with the address sanitizer, led by coverage: needs
                    a nightly compiler and cargo-fuzz
  --seed N          of the random engine: the same seed makes the same inputs
  --input FILE      run this input of the one target that was named
";

/// The targets are the folders of the saved inputs.
const CORPUS: &str = "fuzz/corpus";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Random,
    LibFuzzer,
}

/// What was asked for on the command line.
struct Request {
    seconds: usize,
    /// Empty means all.
    targets: Vec<String>,
    engine: Engine,
    seed: Option<usize>,
    input: Option<PathBuf>,
}

pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let mut request = Request {
        seconds: 60,
        targets: Vec::new(),
        engine: Engine::Random,
        seed: None,
        input: None,
    };
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--seconds" => request.seconds = arguments.count("--seconds", HELP)?,
            "--target" => {
                let name = arguments.value("--target", HELP)?;
                request.targets.push(known(workspace, name)?);
            }
            "--engine" => {
                request.engine = match arguments.value("--engine", HELP)?.as_str() {
                    "random" => Engine::Random,
                    "libfuzzer" => Engine::LibFuzzer,
                    other => return Err(Error::usage(format!("there is no engine `{other}`"), HELP)),
                }
            }
            "--seed" => request.seed = Some(arguments.count("--seed", HELP)?),
            "--input" => {
                let path = arguments.value("--input", HELP)?;
                let path = std::path::absolute(&path).map_err(|e| Error::while_doing(path, e))?;
                request.input = Some(path);
            }
            word if arguments::is_help(word) => {
                terminal::show(HELP.as_bytes());
                return Ok(());
            }
            word => return Err(arguments::unknown(word, HELP)),
        }
    }
    if request.input.is_some() && request.targets.len() != 1 {
        return Err(Error::usage("--input needs one --target", HELP));
    }
    match request.engine {
        Engine::Random => random(workspace, &request),
        Engine::LibFuzzer => libfuzzer::run(workspace, &request),
    }
}

/// The names of all targets.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root.join(CORPUS);
    let entries = std::fs::read_dir(&folder).map_err(|e| Error::while_doing(folder.display(), e))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::while_doing(folder.display(), e))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn known(workspace: &Workspace, name: String) -> Result<String> {
    let targets = targets(workspace)?;
    if targets.contains(&name) {
        return Ok(name);
    }
    Err(Error::usage(
        format!("there is no target `{name}`; there are {}", targets.join(", ")),
        HELP,
    ))
}

/// The driver of our own: a test program of the workspace, which is compiled
/// with what the tests have compiled already if all of it is named.
fn random(workspace: &Workspace, request: &Request) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Not)?;
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--quiet", "--workspace", "--exclude", "xtask"]);
    cargo.args(backend.cargo_flags());
    cargo.args(["--test", "fuzz", "--", "--seconds", &request.seconds.to_string()]);
    cargo.arg("--crashes").arg(workspace.scratch("fuzz")?);
    for target in &request.targets {
        cargo.args(["--target", target]);
    }
    if let Some(seed) = request.seed {
        cargo.args(["--seed", &seed.to_string()]);
    }
    if let Some(input) = &request.input {
        cargo.arg("--input").arg(input);
    }
    backend.apply(&mut cargo);
    let status = cargo
        .stdin(Stdio::null())
        .status()
        .map_err(|e| Error::while_doing("could not start cargo", e))?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::Failed("something went wrong; see above".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_saved_inputs_and_a_program_for_libfuzzer() {
        let workspace = Workspace::find().unwrap();
        let listed = targets(&workspace).unwrap();
        assert!(listed.len() > 10, "{listed:?}");
        let manifest = std::fs::read_to_string(workspace.root.join("fuzz/libfuzzer/Cargo.toml")).unwrap();
        for name in &listed {
            let program = workspace
                .root
                .join(format!("fuzz/libfuzzer/fuzz_targets/{name}.rs"));
            let text = std::fs::read_to_string(program).unwrap();
            assert!(text.contains(&format!("run(\"{name}\", input)")), "{name}");
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
        let table = std::fs::read_to_string(workspace.root.join("fuzz/src/targets/mod.rs")).unwrap();
        assert_eq!(table.matches("    entry(\"").count(), listed.len());
    }

    #[test]
    fn counts_of_libfuzzer_are_found() {
        let line = "stat::number_of_executed_units: 123456";
        assert_eq!(libfuzzer::executions(line), Some(123_456));
        assert_eq!(libfuzzer::executions("#123 NEW cov: 12"), None);
    }
}
