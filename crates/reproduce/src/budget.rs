//! How long a program may run.

use std::str::FromStr;
use std::time::{Duration, Instant};

/// A length of time on the command line: `30s`, `60m` or `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length(pub Duration);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text.char_indices().last().and_then(|(end, unit)| {
            let unit = match unit {
                's' => 1,
                'm' => 60,
                'h' => 3600,
                _ => return None,
            };
            text[..end].parse::<u64>().ok()?.checked_mul(unit)
        });
        let seconds = seconds.ok_or("a time is like 30s, 60m or 2h")?;
        Ok(Self(Duration::from_secs(seconds)))
    }
}

/// Time that began to run when this was made.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    begin: Instant,
    /// `None`: for ever.
    length: Option<Duration>,
}

impl Budget {
    /// From now on.
    pub fn new(length: Option<Length>) -> Self {
        Self {
            begin: Instant::now(),
            length: length.map(|length| length.0),
        }
    }

    /// Whether nothing more is to be begun.
    pub fn is_over(&self) -> bool {
        self.length.is_some_and(|length| self.begin.elapsed() >= length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text: &str| text.parse::<Length>().map(|length| length.0.as_secs());
        assert_eq!(seconds("30s"), Ok(30));
        assert_eq!(seconds("2h"), Ok(7200));
        for bad in ["2d", "é", "", "60", "m"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_budget_of_zero_is_over_at_once() {
        assert!(Budget::new(Some(Length(Duration::ZERO))).is_over());
        assert!(!Budget::new(None).is_over());
    }
}
