//! Running the stages one after the other.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Options;
use super::counts::Counts;
use super::stage::{Check, On, STAGES, Stage, Step};
use super::{kernels, outside, package, supply, words};
use crate::backend::Backend;
use crate::process::{self, Ended};
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With a note for the table, or nothing.
    Ok(String),
    Failed(String),
    Skipped(String),
}

pub(super) struct Finished {
    pub(super) stage: &'static Stage,
    pub(super) outcome: Outcome,
    pub(super) counts: Counts,
    pub(super) took: Duration,
}

/// What the stages so far have found out.
struct State<'a> {
    workspace: &'a Workspace,
    options: &'a Options,
    backend: Backend,
    /// Set-up went wrong: then the OpenBLAS stages have failed, not been skipped.
    setup_failed: bool,
    /// Backends whose tests did not compile, as the name of the stage.
    broken: HashSet<&'static str>,
}

pub(super) fn all(workspace: &Workspace, options: &Options) -> Vec<Finished> {
    let is_chosen = |name| options.only.is_empty() || options.only.iter().any(|stage| stage.name == name);
    let chosen: Vec<_> = STAGES.iter().filter(|stage| is_chosen(stage.name)).collect();
    let mut state = State {
        workspace,
        options,
        backend: Backend::PureRust("set-up has not run".into()),
        setup_failed: false,
        broken: HashSet::new(),
    };
    // Every stage needs to know the backend; only the set-up stage may
    // install anything.
    if !chosen.iter().any(|stage| stage.check == Check::Setup) {
        state.set_up(Install::Not, false);
    }

    let mut finished = Vec::new();
    for (index, stage) in chosen.iter().copied().enumerate() {
        let title = format!("[{}/{}] {}: {}", index + 1, chosen.len(), stage.name, stage.about);
        println!("\n{}", terminal::bold(&title));
        let start = Instant::now();
        let mut counts = Counts::default();
        let outcome = state.run(stage, &mut counts);
        match &outcome {
            Outcome::Ok(_) => {}
            Outcome::Failed(why) => println!("{}", terminal::bad(&format!("FAILED: {why}"))),
            Outcome::Skipped(why) => println!("skipped: {why}"),
        }
        finished.push(Finished {
            stage,
            outcome,
            counts,
            took: start.elapsed(),
        });
    }
    finished
}

impl State<'_> {
    fn run(&mut self, stage: &'static Stage, counts: &mut Counts) -> Outcome {
        if stage.check == Check::Setup {
            return self.set_up(Install::Allowed, true);
        }
        if let Some(outcome) = self.skip_reason(stage) {
            return outcome;
        }
        let start = Instant::now();
        match stage.check {
            Check::Words => return words::check(self.workspace).map_or_else(Outcome::Failed, Outcome::Ok),
            Check::Kernels => {
                return kernels::run(
                    self.workspace,
                    &self.backend,
                    stage.limit(self.options.full),
                    counts,
                );
            }
            _ => {}
        }
        let outside = match outside::write(self.workspace, stage.check) {
            Ok(folder) => folder,
            Err(why) => return Outcome::Failed(why),
        };
        let (mut ran, mut skipped) = (0, Vec::new());
        for step in stage.steps(self.backend.openblas().is_none(), self.options.full) {
            if let Some(why) = step.need.and_then(|need| need.missing(self.workspace)) {
                println!("skipped: {why}");
                skipped.push(why);
                continue;
            }
            ran += 1;
            let limit = stage.limit(self.options.full).saturating_sub(start.elapsed());
            if let Err(why) = self.step(stage, &step, outside.as_deref(), limit, counts) {
                if step.compiles {
                    self.broken.insert(stage.name);
                }
                return Outcome::Failed(why);
            }
        }
        if stage.check == Check::Agree && counts.ran() == 0 {
            return Outcome::Failed("no test named backends_agree ran".into());
        }
        skipped.dedup();
        if ran == 0 {
            return Outcome::Skipped(skipped.join("; "));
        }
        if stage.check == Check::Package {
            return package::check(self.workspace).map_or_else(Outcome::Failed, Outcome::Ok);
        }
        Outcome::Ok(match counts.without_data {
            0 if skipped.is_empty() => String::new(),
            0 => format!("skipped: {}", skipped.join("; ")),
            count => format!("{count} without benchmark data skipped"),
        })
    }

    fn set_up(&mut self, install: Install, say: bool) -> Outcome {
        match setup::examine(self.workspace, install) {
            Ok((backend, lines)) => {
                if say {
                    lines.iter().for_each(|line| println!("{line}"));
                }
                let note = match &backend {
                    Backend::OpenBlas(openblas) => format!("OpenBLAS {}", openblas.version),
                    Backend::PureRust(why) => format!("pure-Rust backend: {why}"),
                };
                self.backend = backend;
                Outcome::Ok(note)
            }
            Err(error) => {
                if !say {
                    println!("{error}");
                }
                self.setup_failed = true;
                Outcome::Failed(error.to_string())
            }
        }
    }

    fn skip_reason(&self, stage: &Stage) -> Option<Outcome> {
        let needs_openblas = matches!(stage.on, On::OpenBlas | On::Both);
        if needs_openblas && self.setup_failed {
            return Some(Outcome::Failed("not run: set-up failed".into()));
        }
        if needs_openblas && let Backend::PureRust(reason) = &self.backend {
            return Some(Outcome::Skipped(reason.clone()));
        }
        let is_asked_for = self.options.full || !self.options.only.is_empty();
        if stage.needs_full(self.backend.openblas().is_none()) && !is_asked_for {
            return Some(Outcome::Skipped("only with --full".into()));
        }
        let depends_on: &[&str] = match (stage.check, stage.on) {
            (Check::Doctests, On::OpenBlas) | (Check::Kernels, _) => &["test-openblas"],
            (Check::Doctests, On::PureRust) => &["test-pure-rust"],
            (Check::Bench | Check::Fuzz, _) if self.backend.openblas().is_some() => &["test-openblas"],
            (Check::Bench | Check::Fuzz, _) => &["test-pure-rust"],
            (Check::Agree, _) => &["test-openblas", "test-pure-rust"],
            _ => &[],
        };
        depends_on
            .iter()
            .find(|name| self.broken.contains(*name))
            .map(|name| Outcome::Failed(format!("not run: {name} does not compile")))
    }

    fn step(
        &self,
        stage: &Stage,
        step: &Step,
        outside: Option<&Path>,
        limit: Duration,
        counts: &mut Counts,
    ) -> Result<(), String> {
        println!("$ cargo {}", step.line);
        let mut cargo = self.workspace.cargo();
        cargo.args(step.line.split(' '));
        if stage.check == Check::Supply {
            supply::add_tools(self.workspace, &mut cargo);
        }
        let outside = outside.filter(|_| step.outside);
        if let Some(folder) = outside {
            cargo.current_dir(folder);
        }
        // Or each would be compiled in a folder of its own.
        if outside.is_some() || stage.check == Check::Package {
            cargo.env("CARGO_TARGET_DIR", &self.workspace.target);
        }
        self.backend.apply(&mut cargo);
        if stage.check == Check::Docs {
            cargo.env("RUSTDOCFLAGS", "-D warnings");
        }
        if self.options.full {
            cargo.env("EGG_TEST_FULL", "1").env("PROPTEST_CASES", "2000");
        }
        if std::env::var_os("CI").is_some() {
            cargo.env("CARGO_TERM_PROGRESS_WHEN", "never");
        }

        let mut output = Vec::new();
        let before = counts.failed;
        let ended = process::run(&mut cargo, limit, |line| match stage.check {
            Check::GeometryOnly => output.push(line.to_owned()),
            _ => counts.add_line(line),
        });
        match ended {
            Err(error) => Err(format!("cargo could not be started: {error}")),
            Ok(Ended::TimedOut) => Err(format!("took over {} s and was stopped", limit.as_secs())),
            Ok(Ended::Badly(_)) if step.compiles => Err("does not compile".into()),
            Ok(Ended::Badly(_)) if counts.failed > before => {
                Err(format!("{} failed", tests(counts.failed - before)))
            }
            Ok(Ended::Badly(Some(code))) => Err(format!("exit code {code}")),
            Ok(Ended::Badly(None)) => Err("ended by a signal".into()),
            Ok(Ended::Well) if stage.check == Check::GeometryOnly => outside::judge(step, &output),
            Ok(Ended::Well) => Ok(()),
        }
    }
}

fn tests(count: usize) -> String {
    match count {
        1 => "1 test".into(),
        count => format!("{count} tests"),
    }
}
