//! The text of a page: numbers, summary, notes.

use egg_results::Verdict;

use super::cohort::Cohort;
use super::html::{Page, escape};
use super::methods::{compared, tests};
use crate::estimate::Estimate;
use crate::record::{Kind, Record};
use crate::svg::Unit;

/// `77.79 ± 2.16`, in percent if the unit says so.
pub(super) fn plus_minus(estimate: &Estimate, unit: Unit) -> String {
    if !estimate.is_known() {
        return "\u{2013}".to_owned();
    }
    match estimate.spread() {
        // A line may end before the sign, not after it.
        Some(deviation) => format!(
            "{} \u{b1}\u{a0}{}",
            unit.show(estimate.mean),
            unit.show(deviation)
        ),
        None => unit.show(estimate.mean),
    }
}

/// `43,471`.
pub(super) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A probability as it is usually read.
pub(super) fn probability(p: f64) -> String {
    if p.is_nan() {
        "\u{2013}".to_owned()
    } else if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn kind(record: &Record) -> &'static str {
    match record.kind {
        Kind::Train => "Graph classification",
        Kind::Cluster => "Node clustering",
        Kind::Sweep => "Search over settings",
        Kind::Demo => "Demonstration",
    }
}

/// The label of the field `protocol`.
pub(super) fn protocol_label(record: &Record) -> &'static str {
    match record.kind {
        Kind::Cluster => "preset",
        Kind::Train | Kind::Sweep | Kind::Demo => "protocol",
    }
}

pub(super) fn head(page: &mut Page, records: &[Record], cohorts: &[Cohort<'_>]) {
    let mut lines: Vec<String> = Vec::new();
    for record in records {
        let mut parts = vec![kind(record).to_owned()];
        if (2..=3).contains(&records.len()) && !record.title.is_empty() {
            parts[0] = format!("{}: {}", record.title, parts[0]);
        }
        if !record.data.name.is_empty() {
            parts.push(record.data.name.clone());
        }
        if !record.protocol.is_empty() {
            parts.push(format!("{} {}", protocol_label(record), record.protocol));
        }
        if records.len() <= 3 && !record.finished.is_empty() {
            parts.push(record.finished.clone());
        }
        let line = parts.join(" \u{b7} ");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    for line in lines.iter().take(6) {
        page.head(&format!("<p class=\"lead\">{}</p>\n", escape(line)));
    }
    page.head("<div class=\"tiles\">");
    let mut tiles = 0;
    let mut tile = |page: &mut Page, value: &str, label: &str| {
        tiles += 1;
        page.head(&format!(
            "<div class=\"tile\"><b>{}</b><span>{}</span></div>",
            escape(value),
            escape(label)
        ));
    };
    for cohort in cohorts.iter().take(3) {
        let (estimates, unit) = tests(cohort);
        let reference = cohort.reference();
        if let Some(estimate) = estimates.get(reference).filter(|estimate| estimate.is_known()) {
            let group = if cohort.group.is_empty() {
                String::new()
            } else {
                format!(", {}", cohort.group)
            };
            let percent = if unit == Unit::Percent { " (%)" } else { "" };
            let label = format!(
                "test {}{percent}, {}{group}",
                cohort.metric, cohort.methods[reference].name
            );
            tile(page, &plus_minus(estimate, unit), &label);
        }
    }
    for record in records.iter().take(2) {
        if let Some(best) = record
            .clusterings
            .iter()
            .filter(|row| row.nmi.is_known())
            .max_by(|a, b| a.nmi.mean.total_cmp(&b.nmi.mean))
        {
            tile(
                page,
                &plus_minus(&best.nmi, Unit::Percent),
                &format!("NMI (%), {}", best.method),
            );
        }
    }
    let first = &records[0];
    if records.iter().all(|record| record.data == first.data) {
        if let Some(graphs) = first.data.graphs.filter(|&graphs| graphs > 1) {
            tile(
                page,
                &thousands(graphs),
                &format!("graphs in {}", first.data.name),
            );
        } else if let Some(nodes) = first.data.nodes {
            tile(page, &thousands(nodes), &format!("nodes in {}", first.data.name));
        }
    }
    let repetitions = records
        .iter()
        .flat_map(|record| &record.methods)
        .map(|method| method.repetitions.len())
        .max();
    if let Some(repetitions) = repetitions.filter(|&repetitions| repetitions > 0) {
        tile(
            page,
            &repetitions.to_string(),
            if repetitions == 1 {
                "repetition"
            } else {
                "repetitions"
            },
        );
    }
    page.head("</div>\n");
}

/// One or two sentences on a cohort.
pub(super) fn summary(cohort: &Cohort<'_>) -> Vec<String> {
    let (estimates, unit) = tests(cohort);
    let reference = cohort.reference();
    let name = |i: usize| cohort.methods[i].name.clone();
    let known = || (0..estimates.len()).filter(|&i| estimates[i].is_known());
    let sign = if cohort.lower_is_better { -1.0 } else { 1.0 };
    let best = known().max_by(|&a, &b| (sign * estimates[a].mean).total_cmp(&(sign * estimates[b].mean)));
    let (Some(best), true) = (best, estimates.len() > 1) else {
        return Vec::new();
    };
    let word = if cohort.lower_is_better {
        "lowest"
    } else {
        "highest"
    };
    let percent = if unit == Unit::Percent { "%" } else { "" };
    let score = plus_minus(&estimates[best], unit);
    let first: Vec<String> = known()
        .filter(|&i| estimates[i].mean == estimates[best].mean)
        .map(name)
        .collect();
    let have = if first.len() > 1 { "share" } else { "has" };
    let mut sentences = vec![format!(
        "{} {have} the {word} mean test {}: {score}{percent}.",
        list(&first),
        cohort.metric
    )];
    let mut by_verdict: [Vec<String>; 4] = Default::default();
    for (i, comparison) in compared(cohort).into_iter().enumerate() {
        let Some((_, _, verdict)) = comparison else {
            continue;
        };
        match verdict {
            // The row is the first of the comparison.
            Verdict::Worse => by_verdict[0].push(name(i)),
            Verdict::Better => by_verdict[1].push(name(i)),
            Verdict::Noise => by_verdict[2].push(name(i)),
            Verdict::Same => by_verdict[3].push(name(i)),
            Verdict::Unknown => {}
        }
    }
    let egg = name(reference);
    let [worse, better, noise, same] = by_verdict;
    let mut parts = Vec::new();
    if !worse.is_empty() {
        parts.push(format!("{egg} is better than {}", list(&worse)));
    }
    if !better.is_empty() {
        parts.push(format!("{egg} is worse than {}", list(&better)));
    }
    if !noise.is_empty() {
        parts.push(format!("{egg} is not distinguished from {}", list(&noise)));
    }
    if !same.is_empty() {
        parts.push(format!("{egg} does the same as {} on every split", list(&same)));
    }
    if !parts.is_empty() {
        let mut sentence = parts.join("; ");
        sentence.push('.');
        sentences.push(sentence);
    }
    sentences
}

/// The notes of the records.
pub(super) fn notes(page: &mut Page, records: &[Record]) {
    let mut seen: Vec<&str> = Vec::new();
    for note in records.iter().flat_map(|record| &record.notes) {
        if !note.trim().is_empty() && !seen.contains(&note.as_str()) {
            seen.push(note);
        }
    }
    if seen.is_empty() {
        return;
    }
    page.section("Notes");
    for note in seen {
        page.add(&format!("<p class=\"note\">{}</p>", escape(note)));
    }
}
