//! Adding up what test programs say of themselves.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) ignored: usize,
    /// Passed without having looked at anything: the benchmark data are not here.
    pub(super) without_data: usize,
}

impl Counts {
    /// Adds a line `test result: ok. 3 passed; 0 failed; 1 ignored; ...` as
    /// libtest and rustdoc print it; any other line adds nothing.
    pub(super) fn add_line(&mut self, line: &str) {
        self.without_data += usize::from(line.contains("skipped: no data"));
        // Not only at the start: a test may leave half a line before it.
        let Some((_, numbers)) = line
            .split_once("test result: ")
            .and_then(|(_, rest)| rest.split_once(". "))
        else {
            return;
        };
        for part in numbers.split(';') {
            let Some((number, what)) = part.trim().split_once(' ') else {
                continue;
            };
            let number = number.parse::<usize>().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.without_data += other.without_data;
    }

    pub(super) fn ran(self) -> usize {
        self.passed + self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_result_lines_are_counted() {
        let mut counts = Counts::default();
        for line in [
            "running 5 tests",
            "test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0.01s",
            "half a line from a testtest result: FAILED. 1 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
            "a test said: 9 passed; 9 failed",
            "skipped: no data (MUTAG.zip)",
            "test result: unknown",
        ] {
            counts.add_line(line);
        }
        assert_eq!(
            counts,
            Counts {
                passed: 4,
                failed: 4,
                ignored: 2,
                without_data: 1
            }
        );
    }
}
