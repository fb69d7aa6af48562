//! All targets one after the other, each in processes of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use egg_fuzz::Target;

use crate::request::Request;
use crate::worker::{self, FOUND, PATIENCE, TOO_LONG};

/// What a worker may take of the address space, in KiB: an allocation that a
/// number in a file has driven ends it.
const MEMORY: u64 = 1 << 20;
/// How often a target is begun anew after its process was ended.
const RESTARTS: u64 = 5;

/// What came of a target.
#[derive(Default)]
struct Tally {
    executions: u64,
    kinds: u64,
    failures: Vec<String>,
}

pub(crate) fn run(request: &Request) -> ExitCode {
    let start = Instant::now();
    let scratch = scratch();
    let mut executions = 0;
    let mut failed = 0;
    for target in &request.targets {
        let time = request
            .time
            .map(|time| time / u32::try_from(request.targets.len()).unwrap_or(1));
        let tally = tally(target, request, time, &scratch);
        executions += tally.executions;
        failed += usize::from(!tally.failures.is_empty());
        let verdict = if tally.failures.is_empty() { "ok" } else { "FAILED" };
        println!(
            "test {:<14} ... {verdict}: {:>9} executions, {:>4} kinds of outcome",
            target.name, tally.executions, tally.kinds
        );
        for failure in &tally.failures {
            println!("    {}", failure.replace("\\n", "\n      "));
        }
    }
    let _ = fs::remove_dir_all(&scratch);
    println!("{executions} executions in all, seed {}", request.seed);
    println!(
        "\ntest result: {}. {} passed; {failed} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s",
        if failed == 0 { "ok" } else { "FAILED" },
        request.targets.len() - failed,
        request.filtered,
        start.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}

/// In memory, where there is such a place.
fn scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    place.join(format!("egg-fuzz-{}", std::process::id()))
}

fn tally(target: &'static Target, request: &Request, time: Option<Duration>, scratch: &Path) -> Tally {
    let mut tally = Tally::default();
    let start = Instant::now();
    for restart in 0..=RESTARTS {
        let remaining = time.map(|time| time.saturating_sub(start.elapsed()));
        if restart > 0 && remaining.is_none_or(|remaining| remaining.is_zero()) {
            break;
        }
        let folder = scratch.join(target.name);
        let _ = fs::remove_dir_all(&folder);
        let ended = fs::create_dir_all(&folder)
            .and_then(|()| work(target, request, remaining, restart, &folder, &mut tally));
        match ended {
            Ok(None) => break,
            Ok(Some(how)) => {
                let input = match worker::current(&folder) {
                    Some((count, input)) => {
                        tally.executions += count;
                        match worker::keep(&request.crashes, target.name, &input) {
                            Ok(path) => path.display().to_string(),
                            Err(error) => format!("its input could not be kept: {error}"),
                        }
                    }
                    None => "before any input".to_owned(),
                };
                tally.failures.push(format!("{how}: {}", repeat(target, &input)));
            }
            Err(error) => {
                tally.failures.push(format!("could not be run: {error}"));
                break;
            }
        }
        let _ = fs::remove_dir_all(&folder);
    }
    tally
}

fn repeat(target: &Target, input: &str) -> String {
    format!(
        "{input}\\ncargo xtask fuzz --target {} --input {input}",
        target.name
    )
}

/// Runs a worker to its end; how it ended if that was not by itself.
fn work(
    target: &Target,
    request: &Request,
    time: Option<Duration>,
    restart: u64,
    folder: &Path,
    tally: &mut Tally,
) -> io::Result<Option<String>> {
    let mut command = limited(&std::env::current_exe()?);
    command
        .args(["--worker", "--target", target.name])
        .args(["--seed", &(request.seed + restart).to_string()])
        .arg("--crashes")
        .arg(&request.crashes)
        .env("EGG_FUZZ_FOLDER", folder)
        // A few threads that each reserve memory would use up the limit.
        .env("MALLOC_ARENA_MAX", "2")
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(time) = time {
        command.args(["--seconds", &time.as_secs_f64().to_string()]);
    }
    if let Some(input) = &request.input {
        command.arg("--input").arg(input);
    }
    let output = command.output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    for line in stdout.lines() {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["crash", path, what] => tally.failures.push(format!("{what}\\n{}", repeat(target, path))),
            ["executions", count, rest] => {
                tally.executions += count.parse::<u64>().unwrap_or(0);
                let kinds = rest.strip_prefix("kinds ").and_then(|kinds| kinds.parse().ok());
                tally.kinds = tally.kinds.max(kinds.unwrap_or(0));
            }
            _ => {}
        }
    }
    let code = output.status.code().and_then(|code| u8::try_from(code).ok());
    if output.status.success() || code == Some(FOUND) {
        return Ok(None);
    }
    if code == Some(TOO_LONG) {
        return Ok(Some(format!("an input took over {} s", PATIENCE.as_secs())));
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = words.lines().rev().take(3).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Ok(Some(format!(
        "the process was ended ({}): {}",
        output.status,
        last.join(" / ")
    )))
}

/// A call of this program with a limit on its memory, where there is a shell.
fn limited(program: &Path) -> Command {
    if !cfg!(unix) {
        return Command::new(program);
    }
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\""))
        .arg(program);
    command
}
