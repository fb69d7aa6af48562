//! All cells of a pooling together: no single difference from the paper may be significant,
//! and all of them together still can be.

use std::fmt::Write;
use std::path::Path;

use egg_pool::protocol::Protocol;
use egg_results::{Summary, sign_test};

use super::published::Classification;
use super::records::{find, tests};
use super::verdicts::probability;
use crate::architecture::Architecture;
use crate::cell::{Cell, DATASETS, POOLINGS};
use crate::error::Result;

/// Our means less the paper's.
pub(super) struct Pooled {
    differences: Vec<f64>,
}

impl Pooled {
    /// Of a pooling, over both convolutions and all data sets that the paper has.
    pub(super) fn read(results: &Path, pooling: &str) -> Result<Self> {
        let mut differences = Vec::new();
        for &architecture in Architecture::ALL {
            let paper = Classification::read(results, architecture)?;
            for dataset in DATASETS {
                let cell = Cell {
                    dataset,
                    architecture,
                    pooling,
                    protocol: Protocol::Paper,
                };
                let record = find(&cell.record(results))?;
                let ours = record.and_then(|record| Summary::from_values(&tests(&record), 0));
                if let (Some(ours), Some(theirs)) = (ours, paper.get(dataset, pooling)) {
                    differences.push(ours.mean - theirs.mean);
                }
            }
        }
        Ok(Self { differences })
    }

    fn lower(&self) -> usize {
        self.differences
            .iter()
            .filter(|difference| **difference < 0.0)
            .count()
    }

    fn higher(&self) -> usize {
        self.differences
            .iter()
            .filter(|difference| **difference > 0.0)
            .count()
    }

    fn p(&self) -> f64 {
        sign_test(self.higher(), self.lower())
    }

    /// A number for words.md; `None` if there is none of this name.
    pub(super) fn number(&self, of: &str) -> Option<String> {
        Some(match of {
            "cells" => self.differences.len().to_string(),
            "lower" => self.lower().to_string(),
            "higher" => self.higher().to_string(),
            "mean" => format!("{:+.1}", Summary::from_values(&self.differences, 0)?.mean),
            "p" => probability(self.p()),
            _ => return None,
        })
    }
}

/// The part of the page about all cells together.
pub(super) fn section(results: &Path) -> Result<String> {
    let mut page = String::from(
        "## All cells together\n\n\
         Our mean less the paper's, in points, over both convolutions and all data sets of Tables 2 and 3, with a two-sided sign test.\n\n\
         | pooling | cells | higher | lower | mean difference | sign test, p |\n|---|---|---|---|---|---|\n",
    );
    for pooling in POOLINGS {
        let pooled = Pooled::read(results, pooling)?;
        if pooled.differences.is_empty() {
            let _ = writeln!(page, "| {pooling} | missing | | | | |");
            continue;
        }
        let _ = writeln!(
            page,
            "| {pooling} | {} | {} | {} | {} | {} |",
            pooled.differences.len(),
            pooled.higher(),
            pooled.lower(),
            pooled.number("mean").unwrap_or_default(),
            probability(pooled.p()),
        );
    }
    Ok(page)
}
