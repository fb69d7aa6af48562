//! What is said where: results on standard output, the rest on standard error.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// How a command talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// One JSON object a line, and nothing else.
    Json,
    /// A bar that moves, tables.
    Terminal,
    /// Lines without colours or movements.
    Plain,
}

impl Style {
    pub(crate) fn of(json: bool) -> Self {
        if json {
            Self::Json
        } else if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
            Self::Terminal
        } else {
            Self::Plain
        }
    }

    pub(crate) fn is_json(self) -> bool {
        self == Self::Json
    }

    /// A line for people, if they are listening.
    pub(crate) fn say(self, line: impl AsRef<str>) {
        if !self.is_json() {
            print(line.as_ref());
        }
    }

    /// A line for programs, if one is listening.
    pub(crate) fn emit(self, value: &serde_json::Value) {
        if self.is_json() {
            print(&value.to_string());
        }
    }
}

/// `1 graph`, `2 graphs`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// `1 epoch`, `2 epochs`.
pub(crate) fn epochs(number: u64) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), "epoch")
}

/// Set once nobody reads standard output any more.
static NOBODY_READS: AtomicBool = AtomicBool::new(false);

/// A line on standard output. If nobody reads it any more, the work goes on in
/// silence: a training whose pipe has ended is not lost. Any other failure (a full
/// disk) ends the program, since what was asked for can't be had.
pub(crate) fn print(line: &str) {
    if NOBODY_READS.load(Ordering::Relaxed) {
        return;
    }
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => NOBODY_READS.store(true, Ordering::Relaxed),
        Err(error) => {
            warn(&format!("egg: standard output can't be written: {error}"));
            std::process::exit(1);
        }
    }
}

/// Something to know that is no error, whatever the style.
pub(crate) fn note(line: &str) {
    warn(&format!("note: {line}"));
}

/// A line on standard error; there is nobody to tell if that fails.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
