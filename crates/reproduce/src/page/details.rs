//! The second page, `docs/results/DETAILS.md`: every cell of Tables 2 and 3 with its
//! differences, validation scores and settings.

use crate::architecture::Architecture;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use egg_pool::protocol::{Protocol, RunRecord};
use egg_results::Summary;
use serde_json::{Value, json};

use super::classification::{FAIR_DATASETS, heading};
use super::published::Classification;
use super::records::{revisions, validations};
use super::table::{Row, Subject, Table, difference};
use super::verdicts::is_one_split;
use crate::cell::{DATASETS, SETTING};
use crate::error::Result;

/// What the page opens with.
pub(super) fn opening() -> String {
    format!(
        "# Details of the results\n\n\
         Made by `cargo xtask bench paper --render` of the records in this folder; no number is typed by hand. [../RESULTS.md](../RESULTS.md) has the\n\
         summary and says how to read it.\n\n\
         ## Graph classification, cell by cell\n\n\
         Percent, mean ± standard deviation over ten repetitions unless the number of runs is given. *Less paper*: ours less the paper's mean (Welch's test).\n\
         *EGG less it*: mean difference over the same splits (paired t). `*`: significant at 5 %, with the variance corrected for overlapping training\n\
         sets (Nadeau and Bengio) and Holm's correction over the column. Learning rate {:e}, weight decay {:e}, width {}, dropout {} where nothing else is\n\
         given. The record of a cell is `training/DATA-MODEL-POOLING.json`, with `-fair` for protocol `fair`.\n",
        SETTING.learning_rate, SETTING.weight_decay, SETTING.hidden, SETTING.dropout
    )
}

/// Every table of classification.
pub(super) fn section(results: &Path) -> Result<String> {
    let mut page = String::new();
    for protocol in [Protocol::Paper, Protocol::Fair] {
        for &architecture in Architecture::ALL {
            let (datasets, paper) = match protocol {
                Protocol::Paper => (&DATASETS[..], Classification::read(results, architecture)?),
                Protocol::Fair => (&FAIR_DATASETS[..], Classification::none()),
            };
            for dataset in datasets {
                let subject = Subject {
                    dataset,
                    architecture,
                    protocol,
                };
                write_table(&mut page, subject, &Table::read(results, subject, &paper)?);
            }
        }
    }
    Ok(page)
}

fn write_table(page: &mut String, subject: Subject<'_>, table: &Table) {
    let (name, _) = heading(subject.architecture);
    let protocol = match subject.protocol {
        Protocol::Paper => "",
        Protocol::Fair => ", protocol `fair`",
    };
    let _ = write!(page, "\n### {name}, {}{protocol}\n\n", subject.dataset);
    let found: Vec<&RunRecord> = table.rows.iter().filter_map(|row| row.record.as_ref()).collect();
    if found.is_empty() {
        page.push_str("missing\n");
        return;
    }
    page.push_str(
        "| pooling | ours | paper | less paper | EGG less it | validation | settings |\n|---|---|---|---|---|---|---|\n",
    );
    for row in &table.rows {
        write_row(page, row, subject.protocol);
    }
    origin(page, &found);
}

fn write_row(page: &mut String, row: &Row, protocol: Protocol) {
    let ddof = usize::from(protocol != Protocol::Paper);
    let text = |summary: Option<Summary>| summary.map_or("-".to_owned(), |summary| format!("{summary:.2}"));
    let validation = row.record.as_ref();
    let validation = validation.and_then(|record| Summary::from_values(&validations(record), ddof));
    let _ = writeln!(
        page,
        "| {} | {} | {} | {} | {} | {} | {} |",
        row.pooling,
        row.score(2, None),
        text(row.theirs),
        difference(row.less_paper.as_ref(), 2),
        difference(row.egg_less.as_ref(), 2),
        text(validation),
        row.record.as_ref().map_or(String::new(), settings),
    );
}

/// What is not as in the other cells, and the rank rule or filter.
fn settings(record: &RunRecord) -> String {
    let (training, model) = (&record.experiment.training, &record.experiment.model);
    let mut parts = Vec::new();
    let mut differs = |name: &str, is_other: bool, value: String| {
        if is_other {
            parts.push(format!("{name} {value}"));
        }
    };
    let (rate, decay) = (training.learning_rate, training.weight_decay);
    differs("rate", rate != SETTING.learning_rate, format!("{rate:e}"));
    differs("decay", decay != SETTING.weight_decay, format!("{decay:e}"));
    differs("width", model.hidden != SETTING.hidden, model.hidden.to_string());
    let dropout = model.head.dropout;
    differs("dropout", dropout != SETTING.dropout, format!("{dropout}"));
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

fn origin(page: &mut String, found: &[&RunRecord]) {
    let texts = |of: &dyn Fn(&RunRecord) -> String| -> String {
        let texts: BTreeSet<String> = found.iter().map(|record| of(record)).collect();
        texts.into_iter().collect::<Vec<_>>().join("; ")
    };
    let seconds: f64 = found.iter().map(|record| record.seconds).sum();
    let splits = match found.iter().all(|record| is_one_split(record)) {
        true => "one split for all repetitions",
        false => "a split per repetition",
    };
    let _ = writeln!(
        page,
        "\n{} graphs, data {}, seed {}, {splits}; {seconds:.0} s of training; {}; revisions {}.",
        texts(&|record| record.graphs.to_string()),
        texts(&|record| record.fingerprint.chars().take(12).collect()),
        texts(&|record| record.experiment.seed.to_string()),
        texts(&|record| record.machine.processor.clone().unwrap_or_else(|| "?".to_owned())),
        revisions(found.iter().map(|record| record.revision.as_deref())),
    );
}

#[cfg(test)]
mod tests {
    use super::super::made_up::record;
    use super::super::published::Pair;
    use super::*;
    use crate::architecture::Architecture;

    #[test]
    fn rows_have_ours_the_papers_and_what_is_set_otherwise() {
        let ours = record(&[0.70, 0.705, 0.71, 0.715, 0.72]);
        let paper = Some(Pair::new(77.79, 2.16).summary());
        let mut other = ours.clone();
        other.experiment.model.head.dropout = 0.0;
        let table = Table::new(vec![("egg", Some(ours), paper), ("sum", Some(other), None)], 0);
        let subject = Subject {
            dataset: "PROTEINS",
            architecture: Architecture::Gcn,
            protocol: Protocol::Paper,
        };
        let mut page = String::new();
        write_table(&mut page, subject, &table);
        let egg = "| egg | 71.00 ± 0.71, 5 runs | 77.79 ± 2.16 | -6.79* | - | 90.00 ± 0.00 | threshold 0.5 |";
        assert!(page.contains(egg), "{page}");
        assert!(
            page.contains("| 90.00 ± 0.00 | dropout 0, threshold 0.5 |"),
            "{page}"
        );
        assert!(
            page.ends_with(
                "data abcdefabcdef, seed 0, a split per repetition; 2 s of training; p; revisions r.\n"
            ),
            "{page}"
        );
    }
}
