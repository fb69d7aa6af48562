//! The table that the page opens with: EGG against the paper and against the simplest
//! baseline, one row per experiment.

use std::fmt::Write;
use std::path::Path;

use egg_pool::protocol::Protocol;

use super::classification::heading;
use super::cluster::Glance;
use super::published::Classification;
use super::table::{Subject, Table, difference};
use crate::architecture::Architecture;
use crate::cell::DATASETS;
use crate::error::Result;

/// The pooling that EGG is compared with.
const BASELINE: &str = "sum";

/// The table; only rows for which the paper has a figure.
pub(super) fn table(results: &Path) -> Result<String> {
    let mut table = String::from(
        "| model | data | EGG, ours | EGG, paper | ours less paper | baseline | EGG less baseline |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for &architecture in Architecture::ALL {
        let paper = Classification::read(results, architecture)?;
        for dataset in DATASETS {
            if paper.get(dataset, "egg").is_none() {
                continue;
            }
            let subject = Subject {
                dataset,
                architecture,
                protocol: Protocol::Paper,
            };
            let rows = Table::read(results, subject, &paper)?;
            let (Some(egg), Some(sum)) = (rows.get("egg"), rows.get(BASELINE)) else {
                continue;
            };
            let _ = writeln!(
                table,
                "| {} | {dataset} | {} | {} | {} | {} | {} |",
                heading(architecture).0,
                egg.score(1, None),
                egg.theirs.map_or("-".to_owned(), |theirs| format!("{theirs:.1}")),
                difference(egg.less_paper.as_ref(), 1),
                sum.score(1, None),
                difference(sum.egg_less.as_ref(), 1),
            );
        }
    }
    for glance in Glance::all(results)? {
        let Glance {
            model,
            dataset,
            egg,
            paper,
            less_paper,
            plain,
            less_plain,
        } = glance;
        let _ = writeln!(
            table,
            "| {model} | {dataset} | {egg} | {paper} | {less_paper} | {plain} | {less_plain} |"
        );
    }
    Ok(table)
}
