//! Running a child with a time limit, and reading along with what it prints.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::process_group;
use crate::terminal;

/// How often a child is asked whether it has ended.
const POLL: Duration = Duration::from_millis(50);
/// How long we wait for output after a child has ended. Something it left
/// behind may hold the pipe open.
const DRAIN_LIMIT: Duration = Duration::from_secs(3);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// The exit code, if it was not a signal.
    Badly(Option<i32>),
    TimedOut,
}

/// Runs a child in its own process group; each line of its standard output is
/// passed on to ours and to `on_line`. Past `limit` the whole group is killed.
pub(crate) fn run(
    command: &mut Command,
    limit: Duration,
    mut on_line: impl FnMut(&str),
) -> io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    process_group::separate(command);
    let mut child = command.spawn()?;
    process_group::watch(Some(&child));
    let ended = wait(&mut child, limit, &mut on_line);
    process_group::watch(None);
    ended
}

fn wait(child: &mut Child, limit: Duration, on_line: &mut dyn FnMut(&str)) -> io::Result<Ended> {
    let lines = lines_of(child);
    let start = Instant::now();
    let mut timed_out = false;
    let mut open = true;
    let mut ended = None;
    loop {
        if open {
            match lines.recv_timeout(POLL) {
                Ok(line) => {
                    terminal::show(&line);
                    on_line(String::from_utf8_lossy(&line).trim_end());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => open = false,
            }
        } else {
            thread::sleep(POLL);
        }
        if ended.is_none() {
            ended = child.try_wait()?.map(|status| (status, Instant::now()));
        }
        if let Some((status, at)) = ended {
            if !open || at.elapsed() > DRAIN_LIMIT {
                return Ok(match status {
                    _ if timed_out => Ended::TimedOut,
                    status if status.success() => Ended::Well,
                    status => Ended::Badly(status.code()),
                });
            }
        } else if !timed_out && start.elapsed() > limit {
            timed_out = true;
            process_group::kill_group(child);
        }
    }
}

/// What a child prints, line by line with their ends, as soon as it is there.
pub(crate) fn lines_of(child: &mut Child) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// Runs a program in the user's current directory, and exits with its code if it fails.
pub(crate) fn run_and_exit(command: &mut Command) -> Result<()> {
    // The paths on the command line are relative to where the user is.
    if let Ok(here) = std::env::current_dir() {
        command.current_dir(here);
    }
    match status_of(command)?.code() {
        Some(0) => Ok(()),
        // It has said what was wrong, and how it was called is its business too.
        Some(code) => std::process::exit(code),
        None => Err(Error::Reported),
    }
}

/// Runs a cargo that prints for itself, to its end.
pub(crate) fn status_of(cargo: &mut Command) -> Result<ExitStatus> {
    let status = cargo.stdin(Stdio::null()).status();
    status.map_err(|e| Error::while_doing("could not start cargo", e))
}

/// What a child printed, if it could be started and ended well.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_and_exit_codes_come_through() {
        let mut lines = Vec::new();
        let ended = run(
            &mut shell("echo one; echo two; exit 3"),
            Duration::from_secs(20),
            |line| lines.push(line.to_owned()),
        );
        assert_eq!(ended.unwrap(), Ended::Badly(Some(3)));
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn a_timeout_kills_grandchildren() {
        let mut grandchild = String::new();
        let start = Instant::now();
        let ended = run(
            &mut shell("sleep 60 & echo $!; wait"),
            Duration::from_millis(300),
            |line| grandchild = line.to_owned(),
        );
        assert_eq!(ended.unwrap(), Ended::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(20));
        assert!(process_group::tests::is_soon_gone(&grandchild), "{grandchild}");
    }
}
