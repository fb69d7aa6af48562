//! The results as a table to read and as JSON to keep.

use std::path::Path;

use serde_json::{Value, json};

use super::machine::Conditions;
use super::measure::{Measured, Times, Verdict};
use super::suite::Suite;
use crate::error::{Error, Result};
use crate::terminal;

const HEADINGS: [&str; 6] = [
    "comparison",
    "ours: median (best..worst)",
    "other: median (best..worst)",
    "ratio (of bests)",
    "target",
    "verdict",
];

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Met => "MET",
            Self::Missed => "MISSED",
            Self::Informational => "-",
            Self::NotCompared => "not compared",
            Self::Error => "ERROR",
        }
    }
}

/// Milliseconds with as many digits as are worth reading.
fn time(seconds: f64) -> String {
    let milliseconds = seconds * 1e3;
    match milliseconds {
        m if m >= 100.0 => format!("{m:.0}"),
        m if m >= 10.0 => format!("{m:.1}"),
        m => format!("{m:.2}"),
    }
}

fn times(times: Option<&Times>) -> String {
    times.map_or("-".into(), |times| {
        format!(
            "{} ({}..{}) ms",
            time(times.median()),
            time(times.best()),
            time(times.worst())
        )
    })
}

fn row(measured: &Measured) -> [String; 6] {
    let comparison = &measured.comparison;
    let ratio = measured.ratio(Times::median).zip(measured.ratio(Times::best));
    [
        comparison.name.to_owned(),
        times(measured.ours.as_ref()),
        times(measured.other.as_ref()),
        ratio.map_or("-".into(), |(medians, bests)| {
            format!("{medians:.2} ({bests:.2})")
        }),
        comparison
            .target
            .map_or("-".into(), |target| format!(">= {target:.2}")),
        measured.verdict().word().to_owned(),
    ]
}

/// The table in Markdown, with columns that line up as plain text too.
fn table(results: &[Measured]) -> Vec<String> {
    let mut rows = vec![HEADINGS.map(String::from)];
    rows.extend(results.iter().map(row));
    let widths: [usize; 6] = std::array::from_fn(|i| rows.iter().map(|row| row[i].len()).max().unwrap_or(0));
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<_> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            format!("| {} |", cells.join(" | "))
        })
        .collect();
    lines.insert(
        1,
        format!("|{}|", widths.map(|width| "-".repeat(width + 2)).join("|")),
    );
    lines
}

fn errors(results: &[Measured]) -> Vec<String> {
    results
        .iter()
        .filter_map(|measured| {
            let error = measured.error.as_ref()?;
            Some(format!("{}: {error}", measured.comparison.name))
        })
        .collect()
}

pub(super) fn print(conditions: &Conditions, results: &[Measured]) {
    println!();
    for line in conditions.lines() {
        println!("{line}");
    }
    println!("ratio: other / ours, of the medians; the target is for that one\n");
    for line in table(results) {
        println!(
            "{}",
            line.replace("MISSED", &terminal::bad("MISSED"))
                .replace("| MET", &format!("| {}", terminal::good("MET")))
        );
    }
    for line in errors(results) {
        println!("{}", terminal::bad(&format!("error: {line}")));
    }
}

pub(super) fn write(
    directory: &Path,
    suite: &Suite,
    conditions: &Conditions,
    results: &[Measured],
) -> Result<()> {
    for (ending, text) in [
        ("json", format!("{:#}\n", document(suite, conditions, results))),
        ("md", markdown(suite, conditions, results)),
    ] {
        let path = directory.join(format!("{}.{ending}", suite.name));
        save(&path, &text)?;
    }
    Ok(())
}

/// Writes a file, whole or not at all.
pub(super) fn save(path: &Path, text: &str) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    std::fs::write(&part, text)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|e| Error::while_doing(path.display(), e))
}

fn markdown(suite: &Suite, conditions: &Conditions, results: &[Measured]) -> String {
    let mut lines = vec![
        format!("# {}, measured", suite.name),
        String::new(),
        format!(
            "`cargo xtask bench {}` on this machine. The ratio is other / ours of the median times; \
             above 1 ours is faster.",
            suite.name
        ),
        String::new(),
    ];
    lines.extend(conditions.lines().iter().map(|line| format!("- {line}")));
    lines.push(String::new());
    lines.extend(table(results));
    let errors = errors(results);
    if !errors.is_empty() {
        lines.push(String::new());
        lines.extend(errors.iter().map(|line| format!("- error: {line}")));
    }
    lines.join("\n") + "\n"
}

fn document(suite: &Suite, conditions: &Conditions, results: &[Measured]) -> Value {
    let side = |task: &str, times: Option<&Times>| {
        json!({
            "task": task,
            "calls": times.map(|t| t.calls),
            "best": times.map(Times::best),
            "median": times.map(Times::median),
            "worst": times.map(Times::worst),
        })
    };
    let comparisons: Vec<_> = results
        .iter()
        .map(|measured| {
            let comparison = &measured.comparison;
            json!({
                "name": comparison.name,
                "ours": side(comparison.ours, measured.ours.as_ref()),
                "other": side(comparison.other.name, measured.other.as_ref()),
                "ratio_of_medians": measured.ratio(Times::median),
                "ratio_of_bests": measured.ratio(Times::best),
                "target": comparison.target,
                "verdict": measured.verdict().word(),
                "error": measured.error,
            })
        })
        .collect();
    json!({
        "suite": suite.name,
        "unit": "seconds",
        "conditions": conditions.json(),
        "comparisons": comparisons,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_three_digits() {
        assert_eq!(time(2.9), "2900");
        assert_eq!(time(0.0225), "22.5");
        assert_eq!(time(0.00042), "0.42");
    }
}
