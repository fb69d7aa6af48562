//! What is said where: results on standard output, the rest on standard error.

use std::borrow::Cow;
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
    pub(crate) fn new(json: bool) -> Self {
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
            print(&printable(line.as_ref(), true));
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

/// Set once standard output is no longer read.
static OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// A line on standard output. If it is no longer read, the work continues in
/// silence: a training whose pipe has ended is not lost. Any other failure (a full
/// disk) ends the program, since what was asked for can't be had.
pub(crate) fn print(line: &str) {
    if OUTPUT_CLOSED.load(Ordering::Relaxed) {
        return;
    }
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => OUTPUT_CLOSED.store(true, Ordering::Relaxed),
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

/// A line on standard error; a failure of that can be reported nowhere.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(line, true));
}

/// A text that moves no cursor and changes no colour, whatever a file calls its labels:
/// control characters, and those that turn the direction of writing, are written out.
/// Lines may stay lines.
pub(crate) fn printable(text: &str, lines: bool) -> Cow<'_, str> {
    let is_harmless = |c: char| {
        let is_line = lines && matches!(c, '\n' | '\t');
        let changes_direction =
            matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        is_line || !(c.is_control() || changes_direction)
    };
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_harmless(c) {
            true => plain.push(c),
            false => plain.extend(c.escape_default()),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_sequences_are_escaped() {
        assert_eq!(printable("a\tb\n", true), "a\tb\n");
        assert_eq!(printable("a\tb\n", false), "a\\tb\\n");
        assert_eq!(
            printable("\u{1b}[31mred\u{9b}0m\u{7f}", true),
            "\\u{1b}[31mred\\u{9b}0m\\u{7f}"
        );
        assert_eq!(printable("x\u{202e}txt.exe", true), "x\\u{202e}txt.exe");
        assert_eq!(printable("Müller \u{1f95a}", true), "Müller \u{1f95a}");
    }
}
