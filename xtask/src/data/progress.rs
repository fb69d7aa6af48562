//! How far a download is: a line that changes at a terminal, a few lines elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::size;

const REFRESH: Duration = Duration::from_millis(100);
/// Where lines stay: one so often.
const REPORT: Duration = Duration::from_secs(10);

pub(super) struct Progress {
    label: String,
    terminal: bool,
    shown: Instant,
    written: bool,
}

impl Progress {
    pub(super) fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            terminal: std::io::stderr().is_terminal() && !cfg!(test),
            shown: Instant::now(),
            written: false,
        }
    }

    pub(super) fn at(&mut self, bytes: u64, total: Option<u64>) {
        let pause = if self.terminal { REFRESH } else { REPORT };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let text = text(&self.label, bytes, total);
        if self.terminal {
            self.written = true;
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[K{text}").and_then(|()| out.flush());
        } else {
            eprintln!("{text}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.written {
            eprint!("\r\x1b[K");
        }
    }
}

fn text(label: &str, bytes: u64, total: Option<u64>) -> String {
    match total {
        Some(total) if total > 0 => format!(
            "{label}  {:>3} %  {} of {}",
            (u128::from(bytes) * 100 / u128::from(total)).min(100),
            size::bytes(bytes),
            size::bytes(total)
        ),
        _ => format!("{label}  {}", size::bytes(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_shown_if_there_is_one() {
        assert_eq!(text("x", 500, Some(2000)), "x   25 %  500 B of 2.0 kB");
        assert_eq!(text("x", 500, None), "x  500 B");
        assert_eq!(text("x", 3, Some(0)), "x  3 B");
    }
}
