//! A long-lived child that does tasks on request: one task name per line in,
//! one line of JSON out. Both sides of a comparison are such children, and
//! take the time themselves, so neither pays for the pipe or for starting up.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::process::lines_of;

/// The slowest task takes seconds; the first request also warms up.
const TIMEOUT: Duration = Duration::from_secs(180);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answer {
    pub(super) seconds: f64,
    pub(super) calls: u64,
    /// A sum over the result; `None` where the sides compute different things.
    pub(super) check: Option<f64>,
}

pub(super) struct TaskChild {
    name: &'static str,
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<Vec<u8>>,
    /// What it said when it was ready: versions and the like.
    pub(super) ready: Value,
}

impl TaskChild {
    /// Starts the child and waits until it says it is ready.
    pub(super) fn start(name: &'static str, command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name} could not be started: {error}"))?;
        let mut started = Self {
            name,
            requests: child.stdin.take(),
            answers: lines_of(&mut child),
            child,
            ready: Value::Null,
        };
        started.ready = started.answer()?;
        if started.ready["ready"] != Value::Bool(true) {
            return Err(format!("{name} did not say it was ready but: {}", started.ready));
        }
        Ok(started)
    }

    /// The number of its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn answer(&mut self) -> Result<Value, String> {
        let name = self.name;
        let line = self.answers.recv_timeout(TIMEOUT).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                format!("{name} gave no answer in {} s", TIMEOUT.as_secs())
            }
            RecvTimeoutError::Disconnected => {
                format!("{name} ended early; its last words are above")
            }
        })?;
        serde_json::from_slice(&line).map_err(|_| {
            let line = String::from_utf8_lossy(&line);
            format!("{name} answered with no JSON: {}", line.trim_end())
        })
    }

    pub(super) fn run(&mut self, task: &str) -> Result<Answer, String> {
        self.ask(task)?;
        self.hear(task)
    }

    fn ask(&mut self, task: &str) -> Result<(), String> {
        let name = self.name;
        let requests = self
            .requests
            .as_mut()
            .ok_or_else(|| format!("{name} takes no tasks"))?;
        writeln!(requests, "{task}")
            .and_then(|()| requests.flush())
            .map_err(|error| format!("{name} takes no more tasks: {error}"))
    }

    fn hear(&mut self, task: &str) -> Result<Answer, String> {
        let answer = self.answer()?;
        parse(task, &answer).map_err(|error| format!("{}: {error}", self.name))
    }
}

/// Children that do the same task at the same time, as repetitions of an
/// experiment do that are run side by side.
pub(super) struct SideBySide {
    children: Vec<TaskChild>,
    /// What the first said when it was ready.
    pub(super) ready: Value,
}

impl SideBySide {
    /// Starts one after the other, each by the command that `of` gives for its number.
    pub(super) fn start(
        name: &'static str,
        count: usize,
        mut of: impl FnMut(usize) -> Command,
    ) -> Result<Self, String> {
        let children = (0..count).map(|number| TaskChild::start(name, &mut of(number)));
        let children = children.collect::<Result<Vec<_>, _>>()?;
        let ready = children.first().map_or(Value::Null, |first| first.ready.clone());
        Ok(Self { children, ready })
    }

    /// The answer of the slowest.
    pub(super) fn run(&mut self, task: &str) -> Result<Answer, String> {
        self.children.iter_mut().try_for_each(|child| child.ask(task))?;
        // All are heard, even after an error: an answer that was not taken would be the next
        // task's.
        let answers: Vec<_> = self.children.iter_mut().map(|child| child.hear(task)).collect();
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let slowest = answers.into_iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        slowest.ok_or_else(|| format!("{task}: no process to run it"))
    }
}

impl Drop for TaskChild {
    fn drop(&mut self) {
        // The end of its input is the signal to leave; one that is stuck in a
        // task won't see it.
        drop(self.requests.take());
        for _ in 0..20 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parse(task: &str, answer: &Value) -> Result<Answer, String> {
    if let Some(error) = answer["error"].as_str() {
        return Err(format!("{task}: {error}"));
    }
    if answer["task"] != task {
        return Err(format!("asked for {task}, answered {answer}"));
    }
    let seconds = answer["seconds"].as_f64().filter(|s| *s > 0.0);
    Ok(Answer {
        seconds: seconds.ok_or_else(|| format!("{task}: no time in {answer}"))?,
        calls: answer["calls"].as_u64().unwrap_or(1),
        check: answer["check"].as_f64(),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn malformed_answers_are_refused() {
        let good = json!({"task": "a", "seconds": 0.5, "calls": 3, "check": 2.0});
        assert_eq!(
            parse("a", &good).map(|answer| (answer.seconds, answer.calls, answer.check)),
            Ok((0.5, 3, Some(2.0)))
        );
        assert!(parse("b", &good).is_err());
        assert!(parse("a", &json!({"task": "a", "seconds": 0.0})).is_err());
        let unknown = json!({"task": "a", "error": "unknown task"});
        assert!(parse("a", &unknown).unwrap_err().contains("unknown task"));
        let incomparable = json!({"task": "a", "seconds": 1e-3, "calls": 1, "check": null});
        assert_eq!(parse("a", &incomparable).unwrap().check, None);
    }

    fn shell(script: &str) -> Result<TaskChild, String> {
        TaskChild::start("sh", Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn a_child_speaks_the_protocol() {
        let mut child = shell(
            r#"echo '{"ready":true,"backend":"none"}'
            while read task; do echo "{\"task\":\"$task\",\"seconds\":0.25,\"calls\":2,\"check\":1}"; done"#,
        )
        .unwrap();
        assert_eq!(child.ready["backend"], "none");
        for task in ["one", "two"] {
            assert_eq!(child.run(task).unwrap().seconds, 0.25);
        }
    }

    #[test]
    fn side_by_side_all_work_at_once_and_the_slowest_counts() {
        // Each waits for the file of the other, so one after the other would wait for ever.
        let folder = std::env::temp_dir().join(format!("egg-side-by-side-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let of = |number: usize| {
            let script = format!(
                r#"echo '{{"ready":true}}'; read task; touch {number}; until [ -e {} ]; do sleep 0.01; done
                echo "{{\"task\":\"$task\",\"seconds\":0.{},\"calls\":1,\"check\":1}}""#,
                1 - number,
                [7, 3][number],
            );
            let mut command = Command::new("sh");
            command.args(["-c", &script]).current_dir(&folder);
            command
        };
        let mut both = SideBySide::start("sh", 2, of).unwrap();
        assert_eq!(both.run("one").unwrap().seconds, 0.7);
        assert!(both.run("two").is_err(), "they have left");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// One that can't do a task does not put the others out of step.
    #[test]
    fn a_failed_task_does_not_affect_the_next() {
        let of = |number: usize| {
            let first = match number {
                0 => r#"{"task":"one","error":"no"}"#,
                _ => r#"{"task":"one","seconds":0.1}"#,
            };
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!(
                r#"echo '{{"ready":true}}'; read task; echo '{first}'; read task; echo '{{"task":"two","seconds":0.2}}'"#
            ));
            command
        };
        let mut both = SideBySide::start("sh", 2, of).unwrap();
        assert!(both.run("one").unwrap_err().contains("no"));
        assert_eq!(both.run("two").unwrap().seconds, 0.2);
    }

    #[test]
    fn a_child_that_dies_or_prints_no_json_is_an_error() {
        assert!(shell("exit 1").is_err());
        assert!(shell("echo hello").err().unwrap().contains("hello"));
        let mut child = shell(r#"echo '{"ready":true}'; read task; exit 1"#).unwrap();
        assert!(child.run("one").is_err());
    }
}
