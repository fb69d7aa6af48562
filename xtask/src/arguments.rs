//! The command line, word by word. `--flag value` and `--flag=value` are the same.

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

    pub(crate) fn from_command_line() -> Self {
        Self::new(std::env::args().skip(1))
    }

    pub(crate) fn next(&mut self) -> Option<String> {
        self.words.pop_front()
    }

    /// Takes the next word if it is this one.
    pub(crate) fn next_if(&mut self, word: &str) -> bool {
        let found = self.words.front().is_some_and(|next| next == word);
        if found {
            self.words.pop_front();
        }
        found
    }

    pub(crate) fn value(&mut self, flag: &str, help: &'static str) -> Result<String> {
        self.next()
            .ok_or_else(|| Error::usage(format!("{flag} needs a value"), help))
    }

    /// A whole number of at least one.
    pub(crate) fn count(&mut self, flag: &str, help: &'static str) -> Result<usize> {
        let text = self.value(flag, help)?;
        match text.parse() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(Error::usage(
                format!("{flag} needs a whole number of at least 1, not `{text}`"),
                help,
            )),
        }
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
            assert_eq!(arguments.count("--rounds", "").unwrap(), 5);
            assert!(arguments.next().is_none());
        }
    }
}
