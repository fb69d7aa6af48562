//! The command line of `cargo xtask data`, word by word. `--flag value` and `--flag=value` are the same.

use std::collections::VecDeque;

use crate::error::{Error, Result};

pub(crate) struct Arguments {
    words: VecDeque<String>,
}

impl Arguments {
    pub(crate) fn new(words: impl IntoIterator<Item = String>) -> Self {
        let mut split = VecDeque::new();
        for word in words {
            match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => {
                    split.push_back(flag.to_owned());
                    split.push_back(value.to_owned());
                }
                _ => split.push_back(word),
            }
        }
        Self { words: split }
    }

    pub(crate) fn next(&mut self) -> Option<String> {
        self.words.pop_front()
    }

    pub(crate) fn value(&mut self, flag: &str, help: &'static str) -> Result<String> {
        self.next()
            .ok_or_else(|| Error::usage(format!("{flag} needs a value"), help))
    }
}

pub(crate) fn unknown(word: &str, help: &'static str) -> Error {
    Error::usage(format!("`{word}` is not understood here"), help)
}

pub(crate) fn is_help(word: &str) -> bool {
    matches!(word, "--help" | "-h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_value() {
        for line in [&["--rounds", "5"][..], &["--rounds=5"][..]] {
            let mut arguments = Arguments::new(line.iter().map(|word| word.to_string()));
            assert_eq!(arguments.next().as_deref(), Some("--rounds"));
            assert_eq!(arguments.value("--rounds", "").unwrap(), "5");
            assert!(arguments.next().is_none());
        }
    }
}
