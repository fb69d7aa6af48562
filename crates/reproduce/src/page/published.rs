//! The paper's own figures.

use std::collections::BTreeMap;
use std::path::Path;

use crate::architecture::Architecture;
use egg_results::Summary;
use serde::Deserialize;

use crate::error::Result;
use crate::files;

/// How many repetitions they are of.
const REPETITIONS: usize = 10;

/// A mean and its deviation, as the paper has them.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Pair(f64, f64);

impl Pair {
    pub(super) fn summary(self) -> Summary {
        Summary::published(self.0, self.1, REPETITIONS, 0)
    }

    #[cfg(test)]
    pub(super) fn new(mean: f64, deviation: f64) -> Self {
        Self(mean, deviation)
    }
}

/// Table 2 or 3, or a column of it: by pooling.
pub(super) type Column = BTreeMap<String, Pair>;

/// Table 2 or 3.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Classification {
    datasets: BTreeMap<String, Column>,
}

impl Classification {
    pub(super) fn read(results: &Path, architecture: Architecture) -> Result<Self> {
        files::read(&results.join(format!("paper/{architecture}.json")))
    }

    /// Nothing is there: the paper has no such table.
    pub(super) fn none() -> Self {
        Self::default()
    }

    pub(super) fn get(&self, dataset: &str, pooling: &str) -> Option<Summary> {
        let pair = self.datasets.get(dataset)?.get(pooling)?;
        Some(pair.summary())
    }
}

/// A row of Table 5.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Row {
    pub(super) accuracy: Option<Pair>,
    pub(super) normalised_mutual_information: Option<Pair>,
    pub(super) adjusted_rand: Option<Pair>,
    pub(super) completeness: Option<Pair>,
    /// The share of the singular values' sum.
    pub(super) captured: Option<f64>,
}

/// A part of Table 5: by method.
pub(super) type Methods = BTreeMap<String, Row>;

/// Table 5.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Clustering {
    pub(super) datasets: BTreeMap<String, Methods>,
}

impl Clustering {
    pub(super) fn read(results: &Path) -> Result<Self> {
        files::read(&results.join("paper/cluster.json"))
    }
}
