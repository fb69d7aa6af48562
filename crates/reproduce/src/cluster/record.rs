//! Results on disk: one file per data set and preset, written after every repetition, continued where it ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use egg_cluster::metrics::Ranking;
use egg_cluster::pipeline::{ClusterReport, Coordinates, NodeClusteringConfig};
use egg_graph::GraphDataset;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files;

/// Everything about a clustering but how long it took depends on these, and on the
/// seed of a repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Always `cluster`.
    pub table: String,
    /// The data set's name, in small letters.
    pub dataset: String,
    /// The name of the settings.
    pub preset: String,
    /// The settings, with seed 0.
    pub config: NodeClusteringConfig,
    /// The graph.
    pub data: Data,
    /// The rows of the table.
    pub methods: BTreeMap<String, Coordinates>,
}

/// The graph that was clustered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// SHA-256 of the content.
    pub fingerprint: String,
    /// How many nodes.
    pub nodes: usize,
    /// How many edges.
    pub edges: usize,
    /// Columns of features.
    pub features: usize,
    /// Classes of nodes; 0 if they are not known.
    pub classes: usize,
}

impl Data {
    /// Of a data set of one graph.
    pub fn new(dataset: &GraphDataset) -> Self {
        Self {
            fingerprint: dataset.fingerprint(),
            nodes: dataset.node_count(),
            edges: dataset.edge_count(),
            features: dataset.features().width(),
            classes: dataset.node_labels().map_or(0, |labels| labels.class_count()),
        }
    }
}

/// One training, and what came of it by each method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// Of all randomness but the split.
    pub seed: u64,
    /// Of the sources.
    pub revision: String,
    /// The processor.
    pub machine: String,
    /// What decides how sums are rounded, so on which machines it repeats bit for bit.
    #[serde(default)]
    pub arithmetic: Option<String>,
    /// That it was given.
    pub threads: usize,
    /// Of everything.
    pub seconds: f64,
    /// How well held-out edges were predicted, if some were held out.
    pub validation: Option<Ranking>,
    /// The same for those that nothing was chosen by.
    pub test: Option<Ranking>,
    /// What came of it by each method.
    pub methods: BTreeMap<String, ClusterReport>,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// What it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// A checksum of the held-out edges, which all repetitions share; `None` if none are.
    #[serde(default)]
    pub split: Option<String>,
    /// By seed.
    pub repetitions: Vec<Repetition>,
}

impl ClusterRecord {
    /// The record of a subject: the one on disk, or a new one. One that was written
    /// before records had a split is given it: it follows from the data and a seed
    /// that are in the subject.
    ///
    /// # Errors
    /// [`Error::OtherRecord`] if the file is of something else, or as files.
    pub fn open(folder: &Path, subject: Subject, split: Option<String>) -> Result<Self> {
        let path = subject.path(folder);
        let Some(mut found) = files::find::<Self>(&path)? else {
            return Ok(Self {
                subject,
                split,
                repetitions: Vec::new(),
            });
        };
        if found.subject != subject || (found.split.is_some() && found.split != split) {
            return Err(Error::OtherRecord { path });
        }
        if found.split != split {
            found.split = split;
            files::write_json(&path, &found)?;
        }
        Ok(found)
    }

    /// Whether the repetition of a seed is there.
    pub fn has(&self, seed: u64) -> bool {
        self.repetitions.iter().any(|repetition| repetition.seed == seed)
    }

    /// Adds a repetition, and writes the file in `folder`.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn add(&mut self, folder: &Path, repetition: Repetition) -> Result<()> {
        self.repetitions.push(repetition);
        self.repetitions.sort_by_key(|repetition| repetition.seed);
        files::write_json(&self.subject.path(folder), self)
    }

    /// A number of each repetition by one method, where it is known.
    pub fn values(&self, method: &str, of: impl Fn(&ClusterReport) -> Option<f64>) -> Vec<f64> {
        let reports = self.repetitions.iter().filter_map(|one| one.methods.get(method));
        reports.filter_map(of).collect()
    }
}

impl Subject {
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}.json", self.dataset.to_lowercase(), self.preset))
    }
}
