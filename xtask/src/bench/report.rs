//! The results as a table to read and as JSON to keep.

use std::path::Path;

use egg_results::markdown_table;
use serde_json::{Value, json};

use super::bars::{Bar, bars};
use super::machine::Conditions;
use super::measure::{Figures, Measured};
use crate::error::Result;
use crate::terminal;
use crate::workspace;

const HEADINGS: [&str; 6] = [
    "comparison",
    "ours: median (best..worst)",
    "other: median (best..worst)",
    "ratio (of bests)",
    "target",
    "verdict",
];

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Megabytes,
}

impl Unit {
    /// What the ratio is.
    fn about(self) -> &'static str {
        match self {
            Self::Seconds => "other / ours, of the median times; above 1 ours is faster",
            Self::Megabytes => {
                "other / ours, of the peak resident memory of a process that trains two epochs; above 1 ours needs less"
            }
        }
    }

    /// What the marks of the chart are.
    const CHART: &str =
        "Thin line: from our worst round against their best to the reverse. Black mark: the target.";

    /// With as many digits as are worth reading.
    fn figure(self, figure: f64) -> String {
        match self {
            Self::Megabytes => format!("{figure:.0}"),
            Self::Seconds => match figure * 1e3 {
                m if m >= 100.0 => format!("{m:.0}"),
                m if m >= 10.0 => format!("{m:.1}"),
                m => format!("{m:.2}"),
            },
        }
    }

    fn figures(self, figures: Option<&Figures>) -> String {
        let Some(figures) = figures else {
            return "-".into();
        };
        let [median, best, worst] =
            [figures.median(), figures.best(), figures.worst()].map(|figure| self.figure(figure));
        match self {
            Self::Seconds => format!("{median} ({best}..{worst}) ms"),
            Self::Megabytes => format!("{median} MB"),
        }
    }
}

/// What was measured of one suite.
pub(super) struct Section {
    pub(super) suite: &'static str,
    pub(super) unit: Unit,
    pub(super) conditions: Conditions,
    pub(super) results: Vec<Measured>,
    /// What could not be measured here, and why.
    pub(super) skipped: Vec<String>,
}

fn row(name: String, unit: Unit, measured: &Measured) -> [String; 6] {
    let ratio = measured.ratio(Figures::median).zip(measured.ratio(Figures::best));
    let ratio = ratio.map(|(medians, bests)| format!("{medians:.2} ({bests:.2})"));
    let target = measured.comparison.target.map(|target| format!(">= {target:.2}"));
    let nothing = || "-".to_owned();
    [
        name,
        unit.figures(measured.ours.as_ref()),
        unit.figures(measured.other.as_ref()),
        ratio.unwrap_or_else(nothing),
        target.unwrap_or_else(nothing),
        measured.verdict().word().to_owned(),
    ]
}

/// Suites of one run have the same.
fn unit(sections: &[Section]) -> Unit {
    sections.first().map_or(Unit::Seconds, |section| section.unit)
}

/// Every result with the name it has in the table: that of its suite in front, if there are several.
fn named(sections: &[Section]) -> impl Iterator<Item = (String, &Measured)> {
    sections.iter().flat_map(move |section| {
        section.results.iter().map(move |measured| {
            let name = measured.comparison.name;
            let name = match sections.len() {
                1 => name.to_owned(),
                _ => format!("{}: {name}", section.suite),
            };
            (name, measured)
        })
    })
}

/// The table in Markdown, with columns that line up as plain text too.
fn table(sections: &[Section]) -> Vec<String> {
    let mut rows = vec![HEADINGS.map(String::from)];
    rows.extend(named(sections).map(|(name, measured)| row(name, unit(sections), measured)));
    markdown_table(&rows)
}

/// Errors and what was left out.
fn remarks(sections: &[Section]) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, measured) in named(sections) {
        lines.extend(
            measured
                .error
                .iter()
                .map(|error| format!("error: {name}: {error}")),
        );
    }
    for section in sections {
        let skipped = section.skipped.iter();
        lines.extend(skipped.map(|why| format!("skipped: {}: {why}", section.suite)));
    }
    lines
}

/// Machine, threads and versions; those of each suite with its name.
fn conditions(sections: &[Section]) -> Vec<String> {
    let first = sections.first();
    let mut lines = first.map_or(Vec::new(), |first| first.conditions.common.clone());
    for section in sections {
        let own = &section.conditions.own;
        match sections.len() {
            1 => lines.extend(own.clone()),
            _ => lines.push(format!("{}: {}", section.suite, own.join("; "))),
        }
    }
    lines
}

pub(super) fn print(sections: &[Section]) {
    println!();
    for line in conditions(sections) {
        println!("{line}");
    }
    println!("ratio: {}; the target is for that one\n", unit(sections).about());
    for line in table(sections) {
        println!(
            "{}",
            line.replace("MISSED", &terminal::bad("MISSED"))
                .replace("| MET", &format!("| {}", terminal::good("MET")))
        );
    }
    for line in remarks(sections) {
        println!("{}", terminal::bad(&line));
    }
}

/// Writes NAME.json, NAME.md and NAME.svg; `command` is what was called.
pub(super) fn write(directory: &Path, name: &str, command: &str, sections: &[Section]) -> Result<()> {
    let documents: Vec<_> = sections.iter().map(document).collect();
    let json = match documents.as_slice() {
        [one] => one.clone(),
        all => json!({"suite": name, "suites": all}),
    };
    let chart: Vec<Bar> = named(sections)
        .filter_map(|(name, measured)| bar(name, measured))
        .collect();
    let chart = bars(command, &[unit(sections).about(), Unit::CHART], &chart);
    for (ending, text) in [
        ("json", format!("{json:#}\n")),
        ("md", markdown(name, command, sections)),
        ("svg", chart),
    ] {
        workspace::write(&directory.join(format!("{name}.{ending}")), &text)?;
    }
    println!("\nWrote {}.{{json,md,svg}}", directory.join(name).display());
    Ok(())
}

fn bar(name: String, measured: &Measured) -> Option<Bar> {
    Some(Bar {
        label: name,
        ratio: measured.ratio(Figures::median)?,
        spread: measured.spread(),
        target: measured.comparison.target,
    })
}

fn markdown(name: &str, command: &str, sections: &[Section]) -> String {
    let about = unit(sections).about();
    let list = |lines: Vec<String>| lines.iter().map(|line| format!("- {line}\n")).collect::<String>();
    let mut text = format!("# {name}, measured\n\n`{command}` on this machine. The ratio is {about}.\n\n");
    text += &list(conditions(sections));
    text += &format!("\n{}\n", table(sections).join("\n"));
    match list(remarks(sections)) {
        none if none.is_empty() => text,
        remarks => text + "\n" + &remarks,
    }
}

fn document(section: &Section) -> Value {
    let side = |task: &str, times: Option<&Figures>| {
        json!({
            "task": task,
            "calls": times.map(|t| t.calls),
            "best": times.map(Figures::best),
            "median": times.map(Figures::median),
            "worst": times.map(Figures::worst),
        })
    };
    let comparison = |measured: &Measured| {
        let compared = &measured.comparison;
        json!({
            "name": compared.name,
            "ours": side(compared.ours, measured.ours.as_ref()),
            "other": side(compared.other, measured.other.as_ref()),
            "ratio_of_medians": measured.ratio(Figures::median),
            "ratio_of_bests": measured.ratio(Figures::best),
            "ratio_spread": measured.spread().map(|(low, high)| [low, high]),
            "target": compared.target,
            "verdict": measured.verdict().word(),
            "error": measured.error,
        })
    };
    let comparisons: Vec<_> = section.results.iter().map(comparison).collect();
    json!({
        "suite": section.suite,
        "unit": match section.unit {
            Unit::Seconds => "seconds",
            Unit::Megabytes => "megabytes",
        },
        "conditions": section.conditions.json,
        "comparisons": comparisons,
        "skipped": section.skipped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_significant_digits() {
        for (seconds, text) in [(2.9, "2900"), (0.0225, "22.5"), (0.00042, "0.42")] {
            assert_eq!(Unit::Seconds.figure(seconds), text);
        }
        let peak = Figures::one(255.6);
        assert_eq!(Unit::Megabytes.figures(Some(&peak)), "256 MB");
        assert_eq!(Unit::Seconds.figures(None), "-");
    }
}
