//! The table at the end, what to repeat, and the line that scripts read.

use std::fmt::Write;

use super::counts::Counts;
use super::run::{Finished, Outcome};
use crate::terminal;

pub(super) fn failed(finished: &[Finished]) -> bool {
    totals(finished).failed > 0
}

/// Tests over all stages. A stage that failed without a failing test, such as
/// formatting, counts as one.
fn totals(finished: &[Finished]) -> Counts {
    let mut totals = Counts::default();
    for stage in finished {
        let mut counts = stage.counts;
        if matches!(stage.outcome, Outcome::Failed(_)) && counts.failed == 0 {
            counts.failed = 1;
        }
        totals.add(counts);
    }
    totals
}

pub(super) fn text(finished: &[Finished], full: bool) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = table(&mut text, finished, full);
    let _ = repeats(&mut text, finished, full);
    let totals = totals(finished);
    let _ = write!(text, "\n{} passed, {} failed", totals.passed, totals.failed);
    if totals.ignored > 0 {
        let _ = write!(text, ", {} skipped", totals.ignored);
    }
    text.push('\n');
    text
}

fn table(text: &mut String, finished: &[Finished], full: bool) -> std::fmt::Result {
    writeln!(
        text,
        "\n{:<18} {:<8} {:>8} {:>7}  note",
        "stage", "result", "seconds", "budget"
    )?;
    for Finished {
        stage,
        outcome,
        counts,
        took,
    } in finished
    {
        let budget = stage.budget(full);
        // Padded before it is painted: colour codes have width for `format!`.
        let (result, mut notes) = match outcome {
            Outcome::Ok(note) => (terminal::good("ok      "), vec![note.clone()]),
            Outcome::Failed(why) => {
                let first = why.lines().next().unwrap_or_default();
                (terminal::bad("FAILED  "), vec![first.to_owned()])
            }
            Outcome::Skipped(why) => (terminal::doubtful("skipped "), vec![format!("skipped: {why}")]),
        };
        if counts.ran() + counts.ignored > 0 {
            let mut note = format!("{} passed", counts.passed);
            if counts.failed > 0 {
                write!(note, ", {} failed", counts.failed)?;
            }
            if counts.ignored > 0 {
                write!(note, ", {} ignored", counts.ignored)?;
            }
            notes.push(note);
        }
        if *took > budget {
            notes.push(terminal::doubtful("warning: over its time budget"));
        }
        notes.retain(|note| !note.is_empty());
        let line = format!(
            "{:<18} {result} {:>8.1} {:>7}  {}",
            stage.name,
            took.as_secs_f64(),
            budget.as_secs(),
            notes.join("; ")
        );
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(())
}

fn repeats(text: &mut String, finished: &[Finished], full: bool) -> std::fmt::Result {
    let failed = finished
        .iter()
        .filter(|one| matches!(one.outcome, Outcome::Failed(_)));
    let full = if full { " --full" } else { "" };
    for (index, Finished { stage, .. }) in failed.enumerate() {
        if index == 0 {
            writeln!(text, "\nFailed stages, and the command that repeats each:")?;
        }
        writeln!(text, "  {0:<18} cargo xtask test{full} --stage {0}", stage.name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::stage::STAGES;
    use super::*;
    use std::time::Duration;

    fn finished(name: &str, outcome: Outcome, passed: usize, failed: usize, seconds: u64) -> Finished {
        Finished {
            stage: STAGES.iter().find(|stage| stage.name == name).unwrap(),
            outcome,
            counts: Counts {
                passed,
                failed,
                ..Counts::default()
            },
            took: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn a_clean_run_ends_with_the_totals() {
        let stages = [
            finished("format", Outcome::Ok(String::new()), 0, 0, 1),
            finished("test-openblas", Outcome::Ok(String::new()), 40, 0, 1),
            finished("kernels", Outcome::Skipped("no OpenBLAS".into()), 0, 0, 0),
        ];
        let text = text(&stages, false);
        assert_eq!(text.lines().last(), Some("40 passed, 0 failed"));
        assert!(text.contains("skipped: no OpenBLAS"));
        assert!(!text.contains("repeats"));
        assert!(!failed(&stages));
    }

    #[test]
    fn stages_without_tests_count_when_they_fail() {
        let stages = [
            finished("format", Outcome::Failed("unformatted\nmore".into()), 0, 0, 1),
            finished(
                "test-openblas",
                Outcome::Failed("2 tests failed".into()),
                38,
                2,
                1,
            ),
        ];
        let text = text(&stages, true);
        assert_eq!(text.lines().last(), Some("38 passed, 3 failed"));
        assert!(text.contains("cargo xtask test --full --stage format"));
        assert!(failed(&stages));
    }

    #[test]
    fn ignored_tests_and_slow_stages_show() {
        let mut stage = finished("xtask", Outcome::Ok(String::new()), 3, 0, 10_000);
        stage.counts.ignored = 2;
        let text = text(&[stage], false);
        assert_eq!(text.lines().last(), Some("3 passed, 0 failed, 2 skipped"));
        assert!(text.contains("over its time budget"));
    }
}
