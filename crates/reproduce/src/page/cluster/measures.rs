//! What clusterings are compared by, and the verdicts of a table.

use std::fmt::Write;

use egg_cluster::metrics::Agreement;
use egg_results::{Comparison, Summary, welch};

use super::super::published::{Methods, Pair, Row};
use super::super::table::mark;
use super::super::verdicts::{Judged, compare_seeds, family};
use crate::cluster::record::ClusterRecord;
use crate::cluster::{OF_PRESET, PLAIN};

/// A measure of the table.
pub(in crate::page) struct Measure {
    /// As in the table.
    pub(super) heading: &'static str,
    /// As in records.
    pub(super) name: &'static str,
    ours: fn(&Agreement) -> f64,
    theirs: fn(&Row) -> Option<Pair>,
}

pub(super) static MEASURES: [Measure; 4] = [
    Measure {
        heading: "ACC",
        name: "accuracy",
        ours: |agreement| agreement.accuracy,
        theirs: |row| row.accuracy,
    },
    Measure {
        heading: "NMI",
        name: "normalised_mutual_information",
        ours: |agreement| agreement.normalised_mutual_information,
        theirs: |row| row.normalised_mutual_information,
    },
    Measure {
        heading: "ARI",
        name: "adjusted_rand",
        ours: |agreement| agreement.adjusted_rand,
        theirs: |row| row.adjusted_rand,
    },
    Measure {
        heading: "CS",
        name: "completeness",
        ours: |agreement| agreement.completeness,
        theirs: |row| row.completeness,
    },
];

impl Measure {
    /// By its name in records.
    pub(in crate::page) fn named(name: &str) -> Option<&'static Self> {
        MEASURES.iter().find(|measure| measure.name == name)
    }

    /// Of each repetition.
    pub(in crate::page) fn values(&self, record: &ClusterRecord, method: &str) -> Vec<f64> {
        record.values(method, |report| Some((self.ours)(report.agreement.as_ref()?)))
    }

    pub(super) fn summary(&self, record: &ClusterRecord, method: &str) -> Option<Summary> {
        Summary::from_values(&self.values(record, method), 0)
    }

    pub(super) fn published(&self, row: &Row) -> Option<Summary> {
        (self.theirs)(row).map(Pair::summary)
    }
}

/// The paper's own coordinates.
pub(super) const EGG: &str = "EGG 0.8 flat";

/// What is compared with plain k-means.
pub(super) const AGAINST_PLAIN: [&str; 2] = [EGG, "EGG 0.8 spectral(1)"];

/// The same of smoothed features: what was chosen, and other coordinates.
pub(super) const AGAINST_PLAIN_SMOOTH: [&str; 5] = [
    OF_PRESET,
    "EGG k flat",
    "EGG 2k flat",
    "EGG 2k flat, unit rows",
    "EGG k spectral(1), unit rows",
];

/// Rows of the table, in this order.
pub(super) const METHODS: [&str; 7] = [
    PLAIN,
    "EGG 0.2 flat",
    "EGG 0.5 flat",
    "EGG 0.8 flat",
    "EGG 0.2 spectral(1)",
    "EGG 0.5 spectral(1)",
    "EGG 0.8 spectral(1)",
];

/// A comparison of one method by one measure.
pub(super) struct Cell {
    pub(super) method: &'static str,
    pub(super) measure: &'static Measure,
    pub(super) judged: Option<Judged>,
}

/// Judges every pair of a method and a measure together.
fn family_of(
    methods: &[&'static str],
    of: impl Fn(&'static str, &'static Measure) -> Option<Comparison>,
) -> Vec<Cell> {
    let pairs: Vec<(&'static str, &'static Measure)> = methods
        .iter()
        .flat_map(|method| MEASURES.iter().map(move |measure| (*method, measure)))
        .collect();
    let judged = family(
        pairs
            .iter()
            .map(|(method, measure)| of(method, measure))
            .collect(),
    );
    let cells = pairs.into_iter().zip(judged);
    cells
        .map(|((method, measure), judged)| Cell {
            method,
            measure,
            judged,
        })
        .collect()
}

/// Ours against the paper's. Seeds are independent, so that nothing is corrected but for the
/// number of cells; they say nothing of other graphs.
pub(super) fn against_paper(record: &ClusterRecord, paper: &Methods) -> Vec<Cell> {
    family_of(&METHODS, |method, measure| {
        let theirs = measure.published(paper.get(method)?)?;
        welch(&measure.summary(record, method)?, &theirs, 0.0)
    })
}

/// EGG against plain k-means on the same embeddings, all methods judged together.
pub(super) fn against_plain(record: &ClusterRecord, methods: &[&'static str]) -> Vec<Cell> {
    family_of(methods, |method, measure| {
        compare_seeds(&measure.values(record, method), &measure.values(record, PLAIN))
    })
}

/// `-0.051*`: a difference times a factor, with a star if it is significant.
pub(super) fn difference(judged: Option<&Judged>, factor: f64, digits: usize) -> String {
    let Some(judged) = judged else {
        return "-".to_owned();
    };
    let difference = factor * judged.comparison.difference;
    format!("{difference:+.digits$}{}", mark(Some(judged)))
}

/// `0.548 ± 0.063* (0.694)`
pub(super) fn cell(
    record: &ClusterRecord,
    paper: &Methods,
    judged: &[Cell],
    method: &str,
    measure: &Measure,
) -> String {
    let Some(ours) = measure.summary(record, method) else {
        return "missing".to_owned();
    };
    let mut text = format!("{ours:.3}");
    let found = judged
        .iter()
        .find(|cell| cell.method == method && cell.measure.name == measure.name);
    text += mark(found.and_then(|cell| cell.judged.as_ref()));
    if let Some(theirs) = paper.get(method).and_then(|row| measure.published(row)) {
        let _ = write!(text, " ({:.3})", theirs.mean);
    }
    text
}
