//! `cargo xtask fuzz`: random input for everything that reads files.

mod libfuzzer;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::process;
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// The targets are the folders of the saved inputs.
const CORPUS: &str = "fuzz/corpus";

/// Random input for everything that reads files
///
/// Gives every reader, and the decomposition, inputs that are nearly sound, and says how many there were. Each target
/// has the same share of the time. An input that makes one panic, take over 20 seconds, ask for more than a gigabyte of
/// memory, or give something that breaks a promise of its type is kept in target/fuzz; the exit code is then 1.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run for so long in all, compiling apart
    #[arg(long, value_name = "N", default_value = "60", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Only this one; may be repeated
    #[arg(long = "target", value_name = "NAME", value_parser = known)]
    targets: Vec<String>,
    /// What makes the inputs
    #[arg(long, default_value = "random")]
    engine: Engine,
    /// Of the random engine: the same seed makes the same inputs
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Run this input of the one target that is named
    #[arg(long, value_name = "FILE", requires = "targets", value_parser = absolute)]
    input: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// The driver of our own, on any compiler
    Random,
    /// libFuzzer with the address sanitizer, led by coverage: needs a nightly compiler and cargo-fuzz
    #[value(name = "libfuzzer")]
    LibFuzzer,
}

pub(crate) fn command(workspace: &Workspace, options: &Options) -> Result<()> {
    if options.input.is_some() && options.targets.len() != 1 {
        return Err(Error::Failed("--input needs one --target".into()));
    }
    match options.engine {
        Engine::Random => random(workspace, options),
        Engine::LibFuzzer => libfuzzer::run(workspace, options),
    }
}

fn absolute(path: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(path)
}

/// The names of all targets.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root.join(CORPUS);
    let names = std::fs::read_dir(&folder).and_then(|entries| {
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect::<std::io::Result<Vec<_>>>()
    });
    let mut names = names.map_err(|e| Error::while_doing(folder.display(), e))?;
    names.sort();
    Ok(names)
}

fn known(name: &str) -> std::result::Result<String, String> {
    let targets = Workspace::find().and_then(|workspace| targets(&workspace));
    let targets = targets.map_err(|error| error.to_string())?;
    match targets.iter().any(|target| target == name) {
        true => Ok(name.to_owned()),
        false => Err(format!("there are {}", targets.join(", "))),
    }
}

/// The driver of our own: a test program of the workspace, which is compiled
/// with what the tests have compiled already if all of it is named.
fn random(workspace: &Workspace, options: &Options) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Not)?;
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--quiet", "--workspace", "--exclude", "xtask"]);
    cargo.args(backend.cargo_flags());
    cargo.args(["--test", "fuzz", "--", "--seconds", &options.seconds.to_string()]);
    cargo.arg("--crashes").arg(workspace.scratch("fuzz")?);
    for target in &options.targets {
        cargo.args(["--target", target]);
    }
    if let Some(seed) = options.seed {
        cargo.args(["--seed", &seed.to_string()]);
    }
    if let Some(input) = &options.input {
        cargo.arg("--input").arg(input);
    }
    backend.apply(&mut cargo);
    match process::status_of(&mut cargo)?.success() {
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
        assert_eq!(table.matches("::TARGET,").count(), listed.len());
    }

    #[test]
    fn counts_of_libfuzzer_are_found() {
        let line = "stat::number_of_executed_units: 123456";
        assert_eq!(libfuzzer::executions(line), Some(123_456));
        assert_eq!(libfuzzer::executions("#123 NEW cov: 12"), None);
    }
}
