//! Bytes and counts, for people.

/// With a unit of 1000 and one digit after the point.
pub(super) fn bytes(count: u64) -> String {
    let (unit, name) = match count {
        0..1_000 => return format!("{count} B"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{:.1} {name}", count as f64 / unit)
}

/// With a comma between groups of three digits.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 12, 999, 1_000, 12_286_079].map(grouped),
            ["0", "12", "999", "1,000", "12,286,079"]
        );
        assert_eq!(
            [5, 23_985, 366_307_031].map(bytes),
            ["5 B", "24.0 kB", "366.3 MB"]
        );
    }
}
