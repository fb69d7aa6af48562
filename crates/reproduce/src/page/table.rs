//! One table of graph classification: the poolings of a data set, convolution and
//! protocol, with every verdict that is corrected for the whole table.

use std::path::Path;

use crate::architecture::Architecture;
use egg_pool::protocol::{Protocol, RunRecord};
use egg_results::{Summary, Verdict};

use super::published::Classification;
use super::records::{find, tests};
use super::verdicts::{Judged, compare, compare_with_published, family};
use crate::cell::{Cell, OURS, POOLINGS};
use crate::error::Result;

/// The poolings that the fair protocol is for.
const FAIR_POOLINGS: [&str; 5] = ["egg", "soft-egg", "sum", "blind", "random"];

/// Repetitions of a complete cell.
const COMPLETE: usize = 10;

/// Data set, convolution, protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) dataset: &'a str,
    pub(super) architecture: Architecture,
    pub(super) protocol: Protocol,
}

impl<'a> Subject<'a> {
    /// The poolings of its table.
    pub(super) fn poolings(&self) -> Vec<&'static str> {
        match self.protocol {
            Protocol::Fair => FAIR_POOLINGS.to_vec(),
            Protocol::Paper => POOLINGS.iter().chain(&OURS[..1]).copied().collect(),
        }
    }

    /// The cell of a pooling.
    pub(super) fn cell(&self, pooling: &'a str) -> Cell<'a> {
        Cell {
            dataset: self.dataset,
            architecture: self.architecture,
            pooling,
            protocol: self.protocol,
        }
    }

    /// Degrees of freedom of deviations: the paper's are of the population, those of the fair protocol of a sample.
    fn ddof(&self) -> usize {
        usize::from(self.protocol != Protocol::Paper)
    }
}

/// One pooling of a table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) pooling: &'static str,
    pub(super) record: Option<RunRecord>,
    /// Test scores in percent.
    pub(super) ours: Option<Summary>,
    /// The paper's.
    pub(super) theirs: Option<Summary>,
    /// Ours less the paper's, among all rows.
    pub(super) less_paper: Option<Judged>,
    /// EGG less this pooling, among all others.
    pub(super) egg_less: Option<Judged>,
}

impl Row {
    /// `80.64 ± 2.16*`, with the number of repetitions if it is not the usual one.
    pub(super) fn score(&self, digits: usize, star: Option<&Judged>) -> String {
        let Some(ours) = self.ours else {
            return "missing".to_owned();
        };
        let runs = self.record.as_ref().map_or(0, |record| tests(record).len());
        match runs == COMPLETE {
            true => format!("{ours:.digits$}{}", mark(star)),
            false => format!("{ours:.digits$}{}, {runs} runs", mark(star)),
        }
    }
}

/// `-4.43*`: a difference, with a star if it is significant.
pub(super) fn difference(judged: Option<&Judged>, digits: usize) -> String {
    let Some(judged) = judged else {
        return "-".to_owned();
    };
    format!("{:+.digits$}{}", judged.comparison.difference, mark(Some(judged)))
}

/// A star for what is significant after all corrections.
pub(super) fn mark(judged: Option<&Judged>) -> &'static str {
    match judged.map(Judged::verdict) {
        Some(Verdict::Better | Verdict::Worse) => "*",
        _ => "",
    }
}

/// Rows in the order of [`Subject::poolings`].
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

impl Table {
    /// Every record that is there, next to the paper's figures.
    pub(super) fn read(results: &Path, subject: Subject<'_>, paper: &Classification) -> Result<Self> {
        let mut records = Vec::new();
        for pooling in subject.poolings() {
            let record = find(&subject.cell(pooling).record(results))?;
            records.push((pooling, record, paper.get(subject.dataset, pooling)));
        }
        Ok(Self::new(records, subject.ddof()))
    }

    /// Judges records together.
    pub(super) fn new(records: Vec<(&'static str, Option<RunRecord>, Option<Summary>)>, ddof: usize) -> Self {
        let egg = records.iter().find(|(pooling, ..)| *pooling == "egg");
        let egg = egg.and_then(|(_, record, _)| record.as_ref());
        let against_paper = records
            .iter()
            .map(|(_, record, theirs)| compare_with_published(record.as_ref()?, theirs.as_ref()?));
        let against_paper = family(against_paper.collect());
        let against_egg = records.iter().map(|(pooling, record, _)| {
            let others = (*pooling != "egg").then_some(record.as_ref())?;
            compare(egg?, others?)
        });
        let against_egg = family(against_egg.collect());
        let judged = against_paper.into_iter().zip(against_egg);
        let rows = records.into_iter().zip(judged);
        let rows = rows.map(|((pooling, record, theirs), (less_paper, egg_less))| Row {
            pooling,
            ours: record
                .as_ref()
                .and_then(|record| Summary::from_values(&tests(record), ddof)),
            record,
            theirs,
            less_paper,
            egg_less,
        });
        Self { rows: rows.collect() }
    }

    /// The row of a pooling.
    pub(super) fn get(&self, pooling: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.pooling == pooling)
    }
}

#[cfg(test)]
mod tests_of_tables {
    use super::super::made_up::record;
    use super::super::published::Pair;
    use super::*;

    fn table(egg: &[f64], sum: &[f64], theirs: Option<Pair>) -> Table {
        let theirs = theirs.map(Pair::summary);
        Table::new(
            vec![
                ("sum", Some(record(sum)), None),
                ("egg", Some(record(egg)), theirs),
                ("max", None, None),
            ],
            0,
        )
    }

    #[test]
    fn difference_from_the_paper_has_a_star_only_if_significant() {
        let low = [0.70, 0.705, 0.71, 0.715, 0.72];
        let table = table(&low, &low, Some(Pair::new(77.79, 2.16)));
        let row = table.get("egg").unwrap();
        assert_eq!(row.score(2, None), "71.00 ± 0.71, 5 runs");
        assert_eq!(row.score(1, row.less_paper.as_ref()), "71.0 ± 0.7*, 5 runs");
        assert_eq!(difference(row.less_paper.as_ref(), 2), "-6.79*");
        assert_eq!(difference(table.get("sum").unwrap().less_paper.as_ref(), 2), "-");
        assert_eq!(table.get("max").unwrap().score(2, None), "missing");
    }

    #[test]
    fn egg_is_compared_in_pairs() {
        let clear = table(&[0.80, 0.82, 0.83], &[0.70, 0.71, 0.73], None);
        let egg_less_sum = |table: &Table| difference(table.get("sum").unwrap().egg_less.as_ref(), 2);
        assert_eq!(egg_less_sum(&clear), "+10.33*");
        assert!(clear.get("egg").unwrap().egg_less.is_none());
        // The same three differences, less clear of chance than a plain test would have them.
        let close = table(&[0.71, 0.73, 0.76], &[0.70, 0.71, 0.73], None);
        assert_eq!(egg_less_sum(&close), "+2.00");
    }
}
