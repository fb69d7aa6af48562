//! Tables 2 and 3: graph classification with GCN and GIN. Every number comes from
//! a file in docs/results/.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use crate::architecture::Architecture;
use egg_pool::protocol::{Protocol, RunRecord};
use egg_results::{Summary, Verdict};
use serde_json::{Value, json};

use super::published::{Classification, Column};
use super::records::{find, revisions, tests, validations};
use super::verdicts::{Judged, compare, compare_with_published, family, is_one_split};
use crate::cell::{Cell, DATASETS, OURS, POOLINGS};
use crate::error::Result;

/// The data sets and poolings that the fair protocol is for.
const FAIR_DATASETS: [&str; 3] = ["PROTEINS", "NCI1", "DD"];
const FAIR_POOLINGS: [&str; 5] = ["egg", "soft-egg", "sum", "blind", "random"];

/// The cells of one table: data set, convolution, protocol.
type Cells<'a> = (&'a str, Architecture, Protocol);

/// The part of the page about one convolution.
pub(super) fn section(results: &Path, architecture: Architecture) -> Result<String> {
    let paper = Classification::read(results, architecture)?;
    let (name, number) = match architecture {
        Architecture::Gcn => ("GCN", 2),
        _ => ("GIN", 3),
    };
    let mut page = format!(
        "## Graph classification with {name} (Table {number})\n\n\
         Protocol `paper`. Test accuracy (ROC-AUC for ogbg-molhiv) in percent, mean ± standard deviation (ddof 0) over *runs* repetitions.\n\
         *Told apart*: whether Welch's test at 5 % tells our mean from the paper's, with the variance of both means corrected for training parts that\n\
         overlap (Nadeau and Bengio) and for as many comparisons as the table has rows (Holm). Not told apart is not equal.\n{}",
        match architecture {
            Architecture::Gcn => "",
            _ =>
                "All repetitions are on one split, the paper's: they differ in their random start, and tell about other starts on that one test part,\n\
                  not about other splits.\n",
        }
    );
    overview(&mut page, results, architecture, &paper)?;
    for dataset in DATASETS {
        let _ = write!(page, "\n### {name}, {dataset}\n\n");
        let rows = POOLINGS.iter().chain(&OURS[..1]);
        table(
            &mut page,
            results,
            (dataset, architecture, Protocol::Paper),
            rows,
            &paper,
        )?;
    }
    let _ = write!(
        page,
        "\n### {name}, protocol `fair`\n\n\
         Stratified folds, mean loss, no batch norm on the scores; one setting, not searched per fold. Deviations with ddof 1.\n\
         The paper has no such figures.\n"
    );
    for dataset in FAIR_DATASETS {
        let _ = write!(page, "\n{dataset}:\n\n");
        let rows = FAIR_POOLINGS.iter();
        let cells = (dataset, architecture, Protocol::Fair);
        table(&mut page, results, cells, rows, &Classification::none())?;
    }
    Ok(page)
}

/// All cells at a glance, as the paper's table: ours, and the paper's in brackets.
fn overview(
    page: &mut String,
    results: &Path,
    architecture: Architecture,
    paper: &Classification,
) -> Result<()> {
    let _ = write!(
        page,
        "\nOurs, the paper's mean in brackets, `*` where the two are told apart; details below.\n\n\
         | pooling | {} |\n|---|{}\n",
        DATASETS.join(" | "),
        "---|".repeat(DATASETS.len())
    );
    let rows: Vec<&str> = POOLINGS.iter().chain(&OURS[..1]).copied().collect();
    let mut columns = Vec::new();
    for dataset in DATASETS {
        let records = records(
            results,
            (dataset, architecture, Protocol::Paper),
            rows.iter().copied(),
        )?;
        columns.push(overview_column(&records, &paper.column(dataset)));
    }
    for (at, pooling) in rows.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|column| column[at].as_str()).collect();
        let _ = writeln!(page, "| {pooling} | {} |", cells.join(" | "));
    }
    Ok(())
}

fn overview_column(records: &[(&str, Option<RunRecord>)], paper: &Column) -> Vec<String> {
    let judged = against_the_paper(records, paper);
    let cell = |((pooling, record), judged): (&(&str, Option<RunRecord>), Option<Judged>)| {
        let ours = record
            .as_ref()
            .and_then(|record| Summary::from_values(&tests(record), 0));
        let mut text = ours.map_or("missing".to_owned(), |ours| format!("{ours:.1}"));
        if let Some(theirs) = paper.get(*pooling) {
            let mark = match judged.map(|judged| judged.verdict()) {
                Some(Verdict::Better | Verdict::Worse) => "*",
                _ => "",
            };
            let _ = write!(text, "{mark} ({:.1})", theirs.summary().mean);
        }
        text
    };
    records.iter().zip(judged).map(cell).collect()
}

/// The records of some poolings, where there are any.
fn records<'a>(
    results: &Path,
    (dataset, architecture, protocol): Cells<'_>,
    poolings: impl Iterator<Item = &'a str>,
) -> Result<Vec<(&'a str, Option<RunRecord>)>> {
    let mut found = Vec::new();
    for pooling in poolings {
        let cell = Cell {
            dataset,
            architecture,
            pooling,
            protocol,
        };
        found.push((pooling, find(&cell.record(results))?));
    }
    Ok(found)
}

/// Each record and what the paper has, all of one table together.
fn against_the_paper(records: &[(&str, Option<RunRecord>)], paper: &Column) -> Vec<Option<Judged>> {
    let compared = records.iter().map(|(pooling, record)| {
        let theirs = paper.get(*pooling)?.summary();
        compare_with_published(record.as_ref()?, &theirs)
    });
    family(compared.collect())
}

fn table<'a>(
    page: &mut String,
    results: &Path,
    cells: Cells<'_>,
    poolings: impl Iterator<Item = &'a &'static str>,
    paper: &Classification,
) -> Result<()> {
    let (dataset, architecture, protocol) = cells;
    let all = records(results, cells, poolings.copied())?;
    let judged = against_the_paper(&all, &paper.column(dataset));
    let mut found = Vec::new();
    let mut missing = Vec::new();
    let mut rows = String::new();
    for ((pooling, record), judged) in all.into_iter().zip(judged) {
        let cell = Cell {
            dataset,
            architecture,
            pooling,
            protocol,
        };
        let theirs = paper.get(dataset, pooling);
        match record {
            Some(record) => {
                row(&mut rows, &cell, &record, theirs, judged);
                found.push((pooling, record));
            }
            None => missing.push((pooling, theirs)),
        }
    }
    if !found.is_empty() {
        page.push_str(
            "| pooling | ours | runs | paper | difference | told apart | validation | rate, decay, width, dropout, other | |\n\
             |---|---|---|---|---|---|---|---|---|\n",
        );
        page.push_str(&rows);
        page.push('\n');
        egg_against_others(page, &found);
        origin(page, &found);
    }
    if !missing.is_empty() {
        let names = missing.iter().map(|(pooling, theirs)| match theirs {
            Some(theirs) => format!("{pooling} (paper {theirs:.2})"),
            None => (*pooling).to_owned(),
        });
        let _ = writeln!(page, "Missing: {}.", names.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

fn row(rows: &mut String, cell: &Cell, record: &RunRecord, theirs: Option<Summary>, judged: Option<Judged>) {
    let values = tests(record);
    let text = |summary: Option<Summary>| summary.map_or("-".to_owned(), |summary| format!("{summary:.2}"));
    // The paper's deviations are of the population, those of the fair protocol of a sample.
    let ddof = usize::from(cell.protocol != Protocol::Paper);
    let (difference, told) = match (&judged, theirs) {
        (Some(judged), Some(_)) => (
            format!("{:+.2}", judged.comparison.difference),
            judged.against_published(),
        ),
        (None, Some(_)) => ("-".to_owned(), "too few"),
        _ => ("-".to_owned(), "-"),
    };
    let _ = writeln!(
        rows,
        "| {} | {} | {} | {} | {difference} | {told} | {} | {} | [record](results/training/{}) |",
        cell.pooling,
        text(Summary::from_values(&values, ddof)),
        values.len(),
        text(theirs),
        text(Summary::from_values(&validations(record), ddof)),
        settings(record),
        cell.file(),
    );
}

fn settings(record: &RunRecord) -> String {
    let (training, model) = (&record.experiment.training, &record.experiment.model);
    let mut parts = vec![
        format!("{:e}", training.learning_rate),
        format!("{:e}", training.weight_decay),
        model.hidden.to_string(),
        format!("{:?}", model.head.dropout),
    ];
    // As in settings: whichever rule or filter the pooling has.
    let pooling = json!(model.pooling);
    for name in ["rank", "filter"] {
        match &pooling[name] {
            Value::Object(rule) => parts.extend(rule.iter().map(|(rule, value)| format!("{rule} {value}"))),
            Value::String(rule) => parts.push(rule.clone()),
            _ => {}
        }
    }
    parts.join(", ")
}

/// EGG and each other pooling have the same splits: a paired test.
fn egg_against_others(page: &mut String, found: &[(&str, RunRecord)]) {
    let Some((_, egg)) = found.iter().find(|(pooling, _)| *pooling == "egg") else {
        return;
    };
    let others: Vec<&(&str, RunRecord)> = found.iter().filter(|(pooling, _)| *pooling != "egg").collect();
    let judged = family(others.iter().map(|(_, record)| compare(egg, record)).collect());
    let parts = others
        .iter()
        .zip(judged)
        .map(|((pooling, _), judged)| match judged {
            Some(judged) => format!(
                "{pooling} {:+.2} ({})",
                judged.comparison.difference,
                judged.words()
            ),
            None => format!("{pooling} - (too few runs)"),
        });
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        let about = match is_one_split(egg) {
            true => "; all on one split, so about other random starts only",
            false => "",
        };
        let _ = writeln!(
            page,
            "EGG against the others, repetition by repetition (paired t corrected for overlapping training parts, Holm, 5 %{about}): {}.\n",
            parts.join(", ")
        );
    }
}

/// `+0.6 points, not told apart in 10 runs`: what a table says of EGG and another pooling.
pub(super) fn verdict_of_egg(results: &Path, egg: &str, other: &str) -> Result<Option<String>> {
    let name = |text: &str| {
        let (text, protocol) = match text.strip_suffix("-fair") {
            Some(text) => (text, Protocol::Fair),
            None => (text, Protocol::Paper),
        };
        Architecture::ALL.iter().copied().find_map(|architecture| {
            let (dataset, pooling) = text.split_once(&format!("-{architecture}-"))?;
            Some((dataset.to_owned(), architecture, protocol, pooling.to_owned()))
        })
    };
    let (Some(first), Some(second)) = (name(egg), name(other)) else {
        return Ok(None);
    };
    let cells = (first.0.as_str(), first.1, first.2);
    if cells != (second.0.as_str(), second.1, second.2) || first.3 != "egg" {
        return Ok(None);
    }
    let rows: Vec<&str> = match first.2 {
        Protocol::Fair => FAIR_POOLINGS.to_vec(),
        Protocol::Paper => POOLINGS.iter().chain(&OURS[..1]).copied().collect(),
    };
    let all = records(results, cells, rows.into_iter())?;
    let Some(own) = all
        .iter()
        .find(|(pooling, _)| *pooling == "egg")
        .and_then(|(_, record)| record.as_ref())
    else {
        return Ok(None);
    };
    let others: Vec<(&str, &RunRecord)> = all
        .iter()
        .filter(|(pooling, _)| *pooling != "egg")
        .filter_map(|(pooling, record)| Some((*pooling, record.as_ref()?)))
        .collect();
    let judged = family(others.iter().map(|(_, record)| compare(own, record)).collect());
    let found = others
        .iter()
        .zip(judged)
        .find(|((pooling, _), _)| *pooling == second.3);
    Ok(found
        .and_then(|(_, judged)| judged)
        .map(|judged| format!("{:+.1} points, {}", judged.comparison.difference, judged.words())))
}

fn origin(page: &mut String, found: &[(&str, RunRecord)]) {
    let texts = |of: &dyn Fn(&RunRecord) -> String| -> String {
        let texts: BTreeSet<String> = found.iter().map(|(_, record)| of(record)).collect();
        texts.into_iter().collect::<Vec<_>>().join("; ")
    };
    let seconds: f64 = found.iter().map(|(_, record)| record.seconds).sum();
    let _ = writeln!(
        page,
        "{} graphs, data {}, seed {}; {seconds:.0} s of training in all; {}; revisions {}.\n",
        texts(&|record| record.graphs.to_string()),
        texts(&|record| record.fingerprint.chars().take(12).collect()),
        texts(&|record| record.experiment.seed.to_string()),
        texts(&|record| record.machine.processor.clone().unwrap_or_else(|| "?".to_owned())),
        revisions(found.iter().map(|(_, record)| record.revision.as_deref())),
    );
}

#[cfg(test)]
mod tests {
    use super::super::made_up::record;
    use super::super::published::Pair;
    use super::*;

    #[test]
    fn a_row_has_ours_the_papers_and_the_noise() {
        let cell = Cell {
            dataset: "PROTEINS",
            architecture: Architecture::Gcn,
            pooling: "egg",
            protocol: Protocol::Paper,
        };
        let paper = Column::from([("egg".to_owned(), Pair::new(77.79, 2.16))]);
        let ours = record(&[0.70, 0.705, 0.71, 0.715, 0.72]);
        let judged = against_the_paper(&[("egg", Some(ours.clone()))], &paper).remove(0);
        let mut rows = String::new();
        row(&mut rows, &cell, &ours, Some(paper["egg"].summary()), judged);
        assert_eq!(
            rows,
            "| egg | 71.00 ± 0.71 | 5 | 77.79 ± 2.16 | -6.79 | LOWER | 90.00 ± 0.00 | 5e-3, 5e-4, 32, 0.5, threshold 0.5 | \
             [record](results/training/proteins-gcn-egg.json) |\n"
        );
    }

    #[test]
    fn egg_is_compared_in_pairs() {
        let mut page = String::new();
        let found = [
            ("sum", record(&[0.70, 0.71, 0.73])),
            ("egg", record(&[0.80, 0.82, 0.83])),
        ];
        egg_against_others(&mut page, &found);
        assert!(page.contains("sum +10.33 (better, p = "), "{page}");
        // The same three differences, less clear of chance than a plain test would have them.
        let mut page = String::new();
        let close = [
            ("sum", record(&[0.70, 0.71, 0.73])),
            ("egg", record(&[0.71, 0.73, 0.76])),
        ];
        egg_against_others(&mut page, &close);
        assert!(page.contains("sum +2.00 (not told apart in 3 runs)"), "{page}");
    }

    #[test]
    fn missing_records_are_listed() {
        let folder = std::env::temp_dir().join(format!("egg-classification-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("paper")).unwrap();
        let paper = json!({"datasets": {"PROTEINS": {"egg": [77.79, 2.16]}}});
        std::fs::write(folder.join("paper/gcn.json"), paper.to_string()).unwrap();
        let page = section(&folder, Architecture::Gcn).unwrap();
        assert!(
            page.contains("attention, egg (paper 77.79 ± 2.16), soft-egg."),
            "{page}"
        );
        assert_eq!(page.matches("Missing: ").count(), 10);
        assert!(
            page.contains("| egg | missing | missing (77.8) | missing |"),
            "{page}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
