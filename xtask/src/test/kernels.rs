//! The geometry's tests with other kernels than those that OpenBLAS picks here. Each set of kernels sums in an order of
//! its own; with one of them projectors were not symmetric.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::counts::Counts;
use super::run::Outcome;
use super::stage::ALL;
use crate::backend::Backend;
use crate::kernel::VARIABLE;
use crate::openblas::{self, OpenBlas, Probe, Search};
use crate::process::{self, Ended};
use crate::workspace::Workspace;

const PACKAGE: &str = "egg-geometry";

/// How many other sets of kernels are tested.
const OTHERS: usize = 2;

pub(super) fn run(workspace: &Workspace, backend: &Backend, limit: Duration, counts: &mut Counts) -> Outcome {
    let (Some(in_use), Ok(Search::Found(probe))) = (backend.openblas(), openblas::find(workspace)) else {
        return Outcome::Skipped("no OpenBLAS".into());
    };
    let others = others(in_use, &probe);
    if others.is_empty() {
        return Outcome::Skipped(format!(
            "{in_use}: no other kernels for this processor (they need x86-64 and OpenBLAS with DYNAMIC_ARCH)"
        ));
    }
    let start = Instant::now();
    match tests(workspace, backend).and_then(|programs| {
        for core in &others {
            for (program, folder) in &programs {
                let limit = limit.saturating_sub(start.elapsed());
                run_program(backend, core, program, folder, limit, counts)?;
            }
        }
        Ok(())
    }) {
        Ok(()) => Outcome::Ok(others.join(" and ")),
        Err(why) => Outcome::Failed(why),
    }
}

/// Kernels that the processor can run, that differ from those `in_use`, and that OpenBLAS reports when asked for them:
/// a build for one processor ignores the variable.
fn others(in_use: &OpenBlas, probe: &Probe) -> Vec<&'static str> {
    let is_used = |core: &&str| {
        probe
            .run(core)
            .is_ok_and(|report| report.core.eq_ignore_ascii_case(core))
    };
    // Zen's kernels are Haswell's.
    let in_use = if in_use.core == "Zen" {
        "Haswell"
    } else {
        &in_use.core
    };
    let differs = |core: &&str| !core.eq_ignore_ascii_case(in_use);
    let others = runnable().into_iter().filter(differs).filter(is_used);
    others.take(OTHERS).collect()
}

/// With vectors of 256 bits and fused products, of 256 bits without them, of 512 bits. Not Prescott's, of processors
/// older than 2011: with them angles are off by 2.0e-14 where 1.4e-14 is promised (docs/GEOMETRY.md).
#[cfg(target_arch = "x86_64")]
fn runnable() -> Vec<&'static str> {
    let kernels = [
        (
            "Haswell",
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        ),
        ("Sandybridge", is_x86_feature_detected!("avx")),
        ("SkylakeX", is_x86_feature_detected!("avx512f")),
    ];
    let runnable = kernels.into_iter().filter(|(_, is_runnable)| *is_runnable);
    runnable.map(|(core, _)| core).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn runnable() -> Vec<&'static str> {
    Vec::new()
}

/// The geometry's test programs, and the folder that they run in. They are those of the stage `test-openblas`: the same
/// packages, features and targets are asked for, so that nothing is compiled twice.
fn tests(workspace: &Workspace, backend: &Backend) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let words: Vec<&str> = ["test"].into_iter().chain(ALL.split(' ')).collect();
    let artifacts = workspace.artifacts(&[&words[..], &["--all-targets"]].concat(), Some(backend));
    let artifacts = artifacts.map_err(|error| error.to_string())?;
    let programs: Vec<_> = artifacts.iter().filter_map(program).collect();
    match programs.is_empty() {
        true => Err(format!("cargo named no test programs of {PACKAGE}")),
        false => Ok(programs),
    }
}

/// The program of an artifact, if it is one with tests of the geometry, and the folder of the package.
fn program(artifact: &Value) -> Option<(PathBuf, PathBuf)> {
    let is_of_package = artifact["package_id"].as_str()?.contains(&format!("#{PACKAGE}@"));
    let kind = artifact["target"]["kind"][0].as_str()?;
    let has_tests = artifact["profile"]["test"] == true && matches!(kind, "lib" | "test");
    let folder = Path::new(artifact["manifest_path"].as_str()?).parent()?;
    let executable = artifact["executable"]
        .as_str()
        .filter(|_| is_of_package && has_tests)?;
    Some((executable.into(), folder.to_owned()))
}

fn run_program(
    backend: &Backend,
    core: &str,
    program: &Path,
    folder: &Path,
    limit: Duration,
    counts: &mut Counts,
) -> Result<(), String> {
    println!("$ {VARIABLE}={core} {}", program.display());
    let mut command = Command::new(program);
    backend.apply(&mut command);
    command.current_dir(folder).env(VARIABLE, core);
    match process::run(&mut command, limit, |line| counts.add_line(line)) {
        Ok(Ended::Well) => Ok(()),
        Ok(Ended::TimedOut) => Err(format!(
            "{core} kernels: took over {} s and was stopped",
            limit.as_secs()
        )),
        Ok(Ended::Badly(_)) => Err(format!("tests fail with {core} kernels")),
        Err(error) => Err(format!("{}: {error}", program.display())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_geometrys_tests_are_run() {
        let artifact = |package: &str, kind: &str, test: bool| {
            program(&json!({
                "package_id": format!("path+file:///here/geometry#{package}@0.1.0"),
                "manifest_path": "/here/geometry/Cargo.toml",
                "target": {"kind": [kind]},
                "profile": {"test": test},
                "executable": "/deps/a-1",
            }))
        };
        let expected = Some(("/deps/a-1".into(), "/here/geometry".into()));
        assert_eq!(artifact("egg-geometry", "lib", true), expected);
        assert_eq!(artifact("egg-geometry", "test", true), expected);
        assert_eq!(artifact("egg-geometry", "bench", true), None);
        assert_eq!(artifact("egg-geometry", "lib", false), None);
        assert_eq!(artifact("egg-graph", "lib", true), None);
    }

    #[test]
    fn kernels_differ_from_those_in_use_and_openblas_reports_them() {
        let Ok(Search::Found(probe)) = openblas::find(&Workspace::find().unwrap()) else {
            return;
        };
        for core in ["SkylakeX", "haswell", "Zen", "Prescott"] {
            let in_use = OpenBlas {
                core: core.into(),
                ..probe.report.clone()
            };
            let others = others(&in_use, &probe);
            assert!(others.len() <= OTHERS);
            for other in others {
                assert!(!other.eq_ignore_ascii_case(core));
                assert_eq!(probe.run(other).unwrap().core, other);
            }
        }
    }
}
