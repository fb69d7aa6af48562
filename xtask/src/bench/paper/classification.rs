//! Tables 2 and 3: graph classification with GCN and GIN. Every number comes from
//! a file in docs/results/.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::cells::{Cell, DATASETS, OURS, POOLINGS};
use super::records::{find, read, revisions, scores, tests};
use super::statistics::{Spread, Verdict, paired, unpaired};
use crate::error::Result;

/// How many repetitions the paper's figures are of.
pub(super) const PAPERS_REPETITIONS: usize = 10;

/// The data sets and poolings that the fair protocol is for.
const FAIR_DATASETS: [&str; 3] = ["PROTEINS", "NCI1", "DD"];
const FAIR_POOLINGS: [&str; 5] = ["egg", "soft-egg", "sum", "blind", "random"];

/// The part of the page about one convolution.
pub(super) fn section(results: &Path, architecture: &str) -> Result<String> {
    let paper = read(&results.join(format!("paper/{architecture}.json")))?;
    let (name, number) = match architecture {
        "gcn" => ("GCN", 2),
        _ => ("GIN", 3),
    };
    let mut page = format!(
        "## Graph classification with {name} (Table {number})\n\n\
         Protocol `paper`. Test accuracy (ROC-AUC for ogbg-molhiv) in percent, mean ± standard deviation (ddof 0) over *runs* repetitions.\n\
         *Noise*: whether Welch's test at 5 % tells our mean from the paper's.\n"
    );
    overview(&mut page, results, architecture, &paper)?;
    for dataset in DATASETS {
        let _ = write!(page, "\n### {name}, {dataset}\n\n");
        let rows = POOLINGS.iter().chain(&OURS[..1]);
        table(&mut page, results, dataset, architecture, "paper", rows, &paper)?;
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
        table(
            &mut page,
            results,
            dataset,
            architecture,
            "fair",
            rows,
            &Value::Null,
        )?;
    }
    Ok(page)
}

/// All cells at a glance, as the paper's table: ours, and the paper's in brackets.
fn overview(page: &mut String, results: &Path, architecture: &str, paper: &Value) -> Result<()> {
    let _ = write!(
        page,
        "\nOurs, the paper's mean in brackets, `*` where they differ by more than noise; details below.\n\n\
         | pooling | {} |\n|---|{}\n",
        DATASETS.join(" | "),
        "---|".repeat(DATASETS.len())
    );
    for pooling in POOLINGS.iter().chain(&OURS[..1]) {
        let mut cells = Vec::new();
        for dataset in DATASETS {
            let cell = Cell {
                dataset,
                architecture,
                pooling,
                protocol: "paper",
            };
            let record = find(&results.join("training").join(cell.file()))?;
            let values = record.as_ref().map(tests).unwrap_or_default();
            let (ours, theirs) = (Spread::of(&values), spread(&paper["datasets"][dataset][*pooling]));
            let mut text = ours.map_or("missing".to_owned(), |ours| format!("{ours:.1}"));
            if let Some(theirs) = theirs {
                let verdict = ours.map(|ours| unpaired(ours, values.len(), theirs, PAPERS_REPETITIONS));
                let mark = match verdict {
                    Some(Verdict::Higher | Verdict::Lower) => "*",
                    _ => "",
                };
                let _ = write!(text, "{mark} ({:.1})", theirs.mean);
            }
            cells.push(text);
        }
        let _ = writeln!(page, "| {pooling} | {} |", cells.join(" | "));
    }
    Ok(())
}

fn table<'a>(
    page: &mut String,
    results: &Path,
    dataset: &str,
    architecture: &str,
    protocol: &str,
    poolings: impl Iterator<Item = &'a &'static str>,
    paper: &Value,
) -> Result<()> {
    let paper = &paper["datasets"][dataset];
    let mut found = Vec::new();
    let mut missing = Vec::new();
    let mut rows = String::new();
    for &pooling in poolings {
        let cell = Cell {
            dataset,
            architecture,
            pooling,
            protocol,
        };
        let theirs = spread(&paper[pooling]);
        match find(&results.join("training").join(cell.file()))? {
            Some(record) => {
                row(&mut rows, &cell, &record, theirs);
                found.push((pooling, record));
            }
            None => missing.push((pooling, theirs)),
        }
    }
    if !found.is_empty() {
        page.push_str(
            "| pooling | ours | runs | paper | difference | noise | validation | rate, decay, width, dropout, other | |\n\
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

/// `[mean, deviation]`.
pub(super) fn spread(pair: &Value) -> Option<Spread> {
    Some(Spread {
        mean: pair[0].as_f64()?,
        deviation: pair[1].as_f64()?,
    })
}

fn row(rows: &mut String, cell: &Cell, record: &Value, theirs: Option<Spread>) {
    let values = tests(record);
    let ours = Spread::of(&values);
    let text = |spread: Option<Spread>| spread.map_or("-".to_owned(), |spread| format!("{spread:.2}"));
    // The paper's deviations are of the population, those of the fair protocol of a sample.
    let own = |values: &[f64]| match cell.protocol {
        "paper" => Spread::of(values),
        _ => Spread::of_sample(values),
    };
    let (difference, noise) = match (ours, theirs) {
        (Some(ours), Some(theirs)) => (
            format!("{:+.2}", ours.mean - theirs.mean),
            match unpaired(ours, values.len(), theirs, PAPERS_REPETITIONS) {
                Verdict::Higher => "HIGHER",
                Verdict::Lower => "LOWER",
                Verdict::WithinNoise => "within",
                Verdict::Unknown => "too few",
            },
        ),
        _ => ("-".to_owned(), "-"),
    };
    let _ = writeln!(
        rows,
        "| {} | {} | {} | {} | {difference} | {noise} | {} | {} | [record](results/training/{}) |",
        cell.pooling,
        text(own(&values)),
        values.len(),
        text(theirs),
        text(own(&scores(record, "validation"))),
        settings(record),
        cell.file(),
    );
}

fn settings(record: &Value) -> String {
    let experiment = &record["experiment"];
    let (training, model) = (&experiment["training"], &experiment["model"]);
    let mut parts = vec![
        format!("{:e}", training["learning_rate"].as_f64().unwrap_or(f64::NAN)),
        format!("{:e}", training["weight_decay"].as_f64().unwrap_or(f64::NAN)),
        model["hidden"].to_string(),
        model["head"]["dropout"].to_string(),
    ];
    let pooling = &model["pooling"];
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
fn egg_against_others(page: &mut String, found: &[(&str, Value)]) {
    let Some((_, egg)) = found.iter().find(|(pooling, _)| *pooling == "egg") else {
        return;
    };
    let egg = tests(egg);
    let parts = found
        .iter()
        .filter(|(pooling, _)| *pooling != "egg")
        .map(|(pooling, record)| {
            let others = tests(record);
            let pairs = egg.len().min(others.len());
            let difference = Spread::of(&egg[..pairs])
                .zip(Spread::of(&others[..pairs]))
                .map_or("-".to_owned(), |(egg, others)| {
                    format!("{:+.2}", egg.mean - others.mean)
                });
            let verdict = match paired(&egg[..pairs], &others[..pairs]) {
                Verdict::Higher => "better",
                Verdict::Lower => "worse",
                Verdict::WithinNoise => "no clear difference",
                Verdict::Unknown => "too few",
            };
            format!("{pooling} {difference} ({verdict})")
        });
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        let _ = writeln!(
            page,
            "EGG against the others, repetition by repetition (paired t, 5 %): {}.\n",
            parts.join(", ")
        );
    }
}

fn origin(page: &mut String, found: &[(&str, Value)]) {
    let texts = |of: &dyn Fn(&Value) -> String| -> String {
        let texts: BTreeSet<String> = found.iter().map(|(_, record)| of(record)).collect();
        texts.into_iter().collect::<Vec<_>>().join("; ")
    };
    let seconds: f64 = found
        .iter()
        .filter_map(|(_, record)| record["seconds"].as_f64())
        .sum();
    let _ = writeln!(
        page,
        "{} graphs, data {}, seed {}; {:.0} s of training in all; {}; revisions {}.\n",
        texts(&|record| record["graphs"].to_string()),
        texts(&|record| record["fingerprint"]
            .as_str()
            .unwrap_or("?")
            .chars()
            .take(12)
            .collect()),
        texts(&|record| record["experiment"]["seed"].to_string()),
        seconds,
        texts(&|record| record["machine"]["processor"].as_str().unwrap_or("?").to_owned()),
        revisions(found.iter().map(|(_, record)| record)),
    );
}

#[cfg(test)]
mod tests_of_tables {
    use super::*;
    use serde_json::json;

    fn record(accuracies: &[f64]) -> Value {
        let part = |accuracy: f64| json!({"loss": 0.5, "scores": {"accuracy": accuracy}});
        json!({"graphs": 3, "fingerprint": "abcdefabcdefabcdef", "seconds": 1.0, "revision": "r", "machine": {"processor": "p"},
            "experiment": {"seed": 0, "training": {"metric": "accuracy", "learning_rate": 0.005, "weight_decay": 0.0005},
                "model": {"hidden": 32, "head": {"dropout": 0.5}, "pooling": {"kind": "egg", "rank": {"threshold": 0.5}}}},
            "repetitions": accuracies.iter().map(|a| json!({"test": part(*a), "validation": part(0.9)})).collect::<Vec<_>>()})
    }

    #[test]
    fn a_row_has_ours_the_papers_and_the_noise() {
        let cell = Cell {
            dataset: "PROTEINS",
            architecture: "gcn",
            pooling: "egg",
            protocol: "paper",
        };
        let theirs = Some(Spread {
            mean: 77.79,
            deviation: 2.16,
        });
        let mut rows = String::new();
        row(&mut rows, &cell, &record(&[0.70, 0.72]), theirs);
        assert_eq!(
            rows,
            "| egg | 71.00 ± 1.00 | 2 | 77.79 ± 2.16 | -6.79 | LOWER | 90.00 ± 0.00 | 5e-3, 5e-4, 32, 0.5, threshold 0.5 | \
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
        assert!(page.contains("sum +10.33 (better)"), "{page}");
    }

    #[test]
    fn what_is_missing_is_said() {
        let folder = std::env::temp_dir().join(format!("egg-classification-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("paper")).unwrap();
        let paper = json!({"datasets": {"PROTEINS": {"egg": [77.79, 2.16]}}});
        std::fs::write(folder.join("paper/gcn.json"), paper.to_string()).unwrap();
        let page = section(&folder, "gcn").unwrap();
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
