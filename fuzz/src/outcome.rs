//! The outcome of an input, as a text that is the same for similar inputs.

use std::fmt::Display;

/// A note of what a target made of an input. Inputs whose notes differ went
/// different ways through a reader: where the compiler can't count branches,
/// this decides which inputs are mutated further.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Outcome(String);

impl Outcome {
    /// It was read; the numbers say how large it is and what it has.
    pub fn read(sizes: &[usize]) -> Self {
        let magnitudes = sizes
            .iter()
            .map(|size| size.checked_ilog2().map_or(0, |log| log + 1));
        Self(format!("read {:?}", magnitudes.collect::<Vec<_>>()))
    }

    /// It was refused. Of the message's last line only the words count: numbers
    /// and what is between the first and the last quote come from the input, as do
    /// the lines before it; the part before the first colon is a path.
    pub fn refused(error: &impl Display) -> Self {
        let text = error.to_string();
        let last = text.trim_end().lines().last().unwrap_or_default();
        let message = last.split_once(": ").map_or(last, |(_, message)| message);
        let mut words = message.to_owned();
        for quote in ['`', '"', '\''] {
            if let (Some(first), Some(last)) = (words.find(quote), words.rfind(quote)) {
                words.drain(first..=last);
            }
        }
        words.retain(|letter| letter.is_ascii_alphabetic() || letter == ' ');
        words.truncate(200);
        Self(words)
    }
}

impl Display for Outcome {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_ignore_numbers_and_quoted_text() {
        let refused = |text: &str| Outcome::refused(&text);
        assert_eq!(
            refused("/tmp/a, line 3: `x7` is not a number"),
            refused("/tmp/a, line 12: `yy` is not a number")
        );
        assert_ne!(refused("a: one"), refused("a: another"));
        assert_eq!(Outcome::read(&[3, 0]), Outcome::read(&[2, 0]));
        assert_ne!(Outcome::read(&[3, 0]), Outcome::read(&[3, 1]));
    }
}
