//! Bytes and counts, for people.

use std::fmt;

/// A number of bytes, with a unit of 1000 and one digit after the point.
///
/// ```
/// assert_eq!(egg_datasets::Bytes(23_985).to_string(), "24.0 kB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// A count, with a comma between groups of three digits.
///
/// ```
/// assert_eq!(egg_datasets::Grouped(12_286_079).to_string(), "12,286,079");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grouped(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0..1_000 => return f.pad(&format!("{} B", self.0)),
            1_000..1_000_000 => (1e3, "kB"),
            1_000_000..1_000_000_000 => (1e6, "MB"),
            _ => (1e9, "GB"),
        };
        f.pad(&format!("{:.1} {name}", self.0 as f64 / unit))
    }
}

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_formatted_with_units() {
        assert_eq!(
            [0, 12, 999, 1_000, 12_286_079].map(|count| Grouped(count).to_string()),
            ["0", "12", "999", "1,000", "12,286,079"]
        );
        assert_eq!(
            [5, 23_985, 366_307_031].map(|count| Bytes(count).to_string()),
            ["5 B", "24.0 kB", "366.3 MB"]
        );
    }
}
