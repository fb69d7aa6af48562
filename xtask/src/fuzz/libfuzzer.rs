//! libFuzzer, through cargo-fuzz: nightly, sanitizers, coverage.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{CORPUS, Options, targets};
use crate::error::{Error, Result};
use crate::process::{self, Ended};
use crate::workspace::Workspace;

const FOLDER: &str = "fuzz/libfuzzer";

/// Compiling everything for a sanitizer takes its time.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

pub(super) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if process::output_of(cargo_fuzz(workspace).arg("--version")).is_none() {
        return Err(Error::Failed(
            "libFuzzer needs a nightly compiler and cargo-fuzz: `rustup toolchain install nightly`, \
             `cargo install cargo-fuzz`; without them use --engine random"
                .into(),
        ));
    }
    let all = targets(workspace)?;
    let chosen = if options.targets.is_empty() {
        &all
    } else {
        &options.targets
    };
    let scratch = workspace.scratch("fuzz")?;
    let programs = scratch.join("libfuzzer");
    let mut build = cargo_fuzz(workspace);
    build
        .args(["build", "--fuzz-dir", FOLDER, "--target-dir"])
        .arg(&programs);
    if let [only] = &chosen[..] {
        build.arg(only);
    }
    if process::run(&mut build, BUILD_LIMIT, |_| ()).map_err(|e| Error::while_doing("cargo-fuzz", e))?
        != Ended::Well
    {
        return Err(Error::Failed("the targets can't be built for libFuzzer".into()));
    }

    let mut lines = Vec::new();
    let (mut total, mut failed) = (0, false);
    for name in chosen {
        let program = find(&programs, name)
            .ok_or_else(|| Error::Failed(format!("cargo-fuzz has built no program {name}")))?;
        let (executions, well) = one(workspace, options, &scratch, &program, name, chosen.len())?;
        let verdict = if well { "ok" } else { "FAILED" };
        lines.push(format!("{name:<14} {verdict}: {executions:>9} executions"));
        total += executions;
        failed |= !well;
    }
    println!("\n{}\n{total} executions in all", lines.join("\n"));
    match failed {
        false => Ok(()),
        true => Err(Error::Failed(format!(
            "something went wrong; the inputs are in {}, and `cargo xtask fuzz --target NAME --input FILE` runs one",
            scratch.display()
        ))),
    }
}

/// Not the cargo that runs us: that is another compiler's.
fn cargo_fuzz(workspace: &Workspace) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "fuzz"]);
    command.current_dir(&workspace.root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO") && text != "CARGO_HOME"
            || text.starts_with("RUST") && text != "RUSTUP_HOME"
        {
            command.env_remove(&name);
        }
    }
    command
}

/// `TARGETS/TRIPLE/release/NAME`.
fn find(programs: &Path, name: &str) -> Option<PathBuf> {
    let triples = std::fs::read_dir(programs).ok()?;
    let mut paths = triples.filter_map(|triple| Some(triple.ok()?.path().join("release").join(name)));
    paths.find(|path| path.is_file())
}

/// Runs one target for its share of the time: how often, and whether all was well.
fn one(
    workspace: &Workspace,
    options: &Options,
    scratch: &Path,
    program: &Path,
    name: &str,
    sharing: usize,
) -> Result<(u64, bool)> {
    let seconds = (options.seconds / sharing.max(1) as u64).max(1);
    // What is found to be new stays for the next time; the saved inputs are
    // only read.
    let found = workspace.scratch(&format!("fuzz/found/{name}"))?;
    let folder = workspace.scratch(&format!("fuzz/files/{name}"))?;
    let memory = Path::new("/dev/shm");
    let files = match memory.is_dir() {
        true => memory.join(format!("egg-fuzz-{}", std::process::id())),
        false => folder,
    };
    // It says everything on standard error.
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" 2>&1"]).arg(program);
    match &options.input {
        Some(input) => {
            command.arg(input);
        }
        None => {
            command.arg(&found).arg(workspace.root.join(CORPUS).join(name));
            command.arg(format!("-max_total_time={seconds}"));
            command.args(["-max_len=4096", "-print_final_stats=1", "-verbosity=1"]);
        }
    }
    command.args(["-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"]);
    command.arg(format!("-artifact_prefix={}/{name}-", scratch.display()));
    command.env("EGG_FUZZ_FOLDER", &files);
    command.env("RAYON_NUM_THREADS", "2");
    let mut count = 0;
    let limit = Duration::from_secs(seconds * 2 + 120);
    let ended = process::run(&mut command, limit, |line| {
        count = executions(line).unwrap_or(count);
    })
    .map_err(|e| Error::while_doing(program.display(), e))?;
    let _ = std::fs::remove_dir_all(&files);
    Ok((count, ended == Ended::Well))
}

/// The number in the line that libFuzzer ends with.
pub(super) fn executions(line: &str) -> Option<u64> {
    let number = line.strip_prefix("stat::number_of_executed_units:")?;
    number.trim().parse().ok()
}
