//! Standard output: help texts, and colour only for a person at a terminal.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// Plain when the output is piped, in CI, or where the user asked for it
/// (<https://no-color.org>).
pub(crate) fn coloured() -> bool {
    static COLOURED: OnceLock<bool> = OnceLock::new();
    *COLOURED.get_or_init(|| {
        std::io::stdout().is_terminal()
            && std::env::var_os("CI").is_none()
            && std::env::var_os("NO_COLOR").is_none()
    })
}

fn paint(code: &str, text: &str) -> String {
    if coloured() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

pub(crate) fn bold(text: &str) -> String {
    paint("1", text)
}

pub(crate) fn good(text: &str) -> String {
    paint("32", text)
}

pub(crate) fn bad(text: &str) -> String {
    paint("1;31", text)
}

pub(crate) fn doubtful(text: &str) -> String {
    paint("33", text)
}

/// Prints what a reader such as `head` may cut short without harm.
pub(crate) fn show(text: &[u8]) {
    if cfg!(test) {
        // The test harness captures the macro only.
        print!("{}", String::from_utf8_lossy(text));
        return;
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text).and_then(|()| out.flush());
}
