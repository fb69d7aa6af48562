//! Tables 2 and 3 at a glance: graph classification with GCN and GIN, and the fair
//! protocol. `details.rs` has every cell with its verdicts.

use std::fmt::Write;
use std::path::Path;

use crate::architecture::Architecture;
use egg_pool::protocol::Protocol;

use super::published::Classification;
use super::table::{Row, Subject, Table, difference};
use crate::cell::DATASETS;
use crate::error::Result;

/// The data sets that the fair protocol is for.
pub(super) const FAIR_DATASETS: [&str; 3] = ["PROTEINS", "NCI1", "DD"];

/// Its name and the number of its table in the paper.
pub(super) fn heading(architecture: Architecture) -> (&'static str, usize) {
    match architecture {
        Architecture::Gcn => ("GCN", 2),
        _ => ("GIN", 3),
    }
}

/// The part of the page about one convolution: ours, the paper's mean, and a star where they differ.
pub(super) fn section(results: &Path, architecture: Architecture) -> Result<String> {
    let paper = Classification::read(results, architecture)?;
    let (name, number) = heading(architecture);
    let mut page = format!(
        "## Graph classification with {name} (Table {number})\n\n\
         Protocol `paper`. Test accuracy in percent (ROC-AUC for ogbg-molhiv), mean ± standard deviation (ddof 0), the paper's mean in brackets.\n\
         `*`: significantly different from the paper's mean. Differences, validation scores and settings of each cell are in\n\
         [results/DETAILS.md](results/DETAILS.md).\n"
    );
    if architecture != Architecture::Gcn {
        page.push_str(
            "All repetitions share one split, the paper's: they differ in their random start only.\n",
        );
    }
    let _ = write!(
        page,
        "\n| pooling | {} |\n|---|{}\n",
        DATASETS.join(" | "),
        "---|".repeat(DATASETS.len())
    );
    let mut tables = Vec::new();
    for dataset in DATASETS {
        let protocol = Protocol::Paper;
        let subject = Subject {
            dataset,
            architecture,
            protocol,
        };
        tables.push(Table::read(results, subject, &paper)?);
    }
    let poolings = tables.first().map_or(&[][..], |table| &table.rows);
    for (at, row) in poolings.iter().enumerate() {
        let cells: Vec<String> = tables.iter().map(|table| cell(&table.rows[at])).collect();
        let _ = writeln!(page, "| {} | {} |", row.pooling, cells.join(" | "));
    }
    Ok(page)
}

/// `72.2 ± 1.9* (76.6)`
fn cell(row: &Row) -> String {
    let mut text = row.score(1, row.less_paper.as_ref());
    if let Some(theirs) = row.theirs {
        let _ = write!(text, " ({:.1})", theirs.mean);
    }
    text
}

/// The part of the page about the fair protocol.
pub(super) fn fair(results: &Path) -> Result<String> {
    let page = String::from(
        "## The fair protocol\n\n\
         Stratified ten-fold cross-validation, mean loss, no batch norm on the scores, one setting for all. Deviations with ddof 1. The paper has\n\
         no such figures. `*`: EGG is significantly different from it. `blind` sees no edges; `random` pools random nodes.\n\n",
    );
    let mut rows = String::new();
    for &architecture in Architecture::ALL {
        for dataset in FAIR_DATASETS {
            let subject = Subject {
                dataset,
                architecture,
                protocol: Protocol::Fair,
            };
            if rows.is_empty() {
                let poolings = subject.poolings();
                let _ = write!(
                    rows,
                    "| model | data | {} |\n|---|---|{}\n",
                    poolings.join(" | "),
                    "---|".repeat(poolings.len())
                );
            }
            let table = Table::read(results, subject, &Classification::none())?;
            let cells = table.rows.iter().map(|row| row.score(1, row.egg_less.as_ref()));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(rows, "| {} | {dataset} | {cells} |", heading(architecture).0);
        }
    }
    Ok(page + &rows)
}

/// `+0.6 points (not significant, 10 runs)`: what a table says of EGG and another pooling.
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
    if (&first.0, first.1, first.2) != (&second.0, second.1, second.2) || first.3 != "egg" {
        return Ok(None);
    }
    let subject = Subject {
        dataset: &first.0,
        architecture: first.1,
        protocol: first.2,
    };
    let table = Table::read(results, subject, &Classification::none())?;
    let judged = table.get(&second.3).and_then(|row| row.egg_less.as_ref());
    Ok(judged.map(|judged| difference(Some(judged), 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn missing_records_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("paper")).unwrap();
        let paper = json!({"datasets": {"PROTEINS": {"egg": [77.79, 2.16]}}});
        std::fs::write(folder.path().join("paper/gcn.json"), paper.to_string()).unwrap();
        let page = section(folder.path(), Architecture::Gcn).unwrap();
        assert!(
            page.contains("| egg | missing | missing (77.8) | missing |"),
            "{page}"
        );
        assert!(
            fair(folder.path())
                .unwrap()
                .contains("| GIN | DD | missing | missing |")
        );
    }
}
