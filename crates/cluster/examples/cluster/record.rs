//! Results on disk: one file per data set and preset, written after every
//! repetition, gone on with where it ends. `cargo xtask bench paper` makes tables
//! of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use egg_cluster::metrics::Ranking;
use egg_cluster::pipeline::{ClusterReport, Coordinates, NodeClusteringConfig};
use egg_graph::GraphDataset;
use serde::{Deserialize, Serialize};

/// Everything about a clustering but how long it took depends on these, and on the
/// seed of a repetition.
#[derive(Serialize, Deserialize, PartialEq)]
pub(crate) struct Subject {
    pub(crate) table: String,
    pub(crate) dataset: String,
    pub(crate) preset: String,
    pub(crate) config: NodeClusteringConfig,
    pub(crate) data: Data,
    pub(crate) methods: BTreeMap<String, Coordinates>,
}

#[derive(Serialize, Deserialize, PartialEq)]
pub(crate) struct Data {
    /// SHA-256 of the content.
    pub(crate) fingerprint: String,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) features: usize,
    pub(crate) classes: usize,
}

impl Data {
    pub(crate) fn of(dataset: &GraphDataset) -> Self {
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
#[derive(Serialize, Deserialize)]
pub(crate) struct Repetition {
    pub(crate) seed: u64,
    pub(crate) revision: String,
    pub(crate) machine: String,
    /// What decides how sums are rounded, so on which machines it repeats bit for bit.
    #[serde(default)]
    pub(crate) arithmetic: Option<String>,
    pub(crate) threads: usize,
    /// Of everything.
    pub(crate) seconds: f64,
    pub(crate) validation: Option<Ranking>,
    pub(crate) test: Option<Ranking>,
    pub(crate) methods: BTreeMap<String, ClusterReport>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    pub(crate) subject: Subject,
    /// A checksum of the held-out edges, which all repetitions share; `None` if none are.
    #[serde(default)]
    pub(crate) split: Option<String>,
    pub(crate) repetitions: Vec<Repetition>,
}

impl Record {
    /// The record of a subject: the one on disk, or a new one. One that was written
    /// before records had a split is given it: it follows from the data and a seed
    /// that are in the subject.
    pub(crate) fn open(
        folder: Option<&Path>,
        subject: Subject,
        split: Option<String>,
    ) -> Result<Self, Box<dyn Error>> {
        let path = folder.map(|folder| subject.path(folder));
        if let Some(path) = path.filter(|path| path.exists()) {
            let mut found: Self = serde_json::from_slice(&std::fs::read(&path)?)?;
            if found.subject != subject || (found.split.is_some() && found.split != split) {
                let advice = "is of other data or settings: move it away, or record elsewhere";
                return Err(format!("{} {advice}", path.display()).into());
            }
            if found.split != split {
                found.split = split;
                found.save(&path)?;
            }
            return Ok(found);
        }
        Ok(Self {
            subject,
            split,
            repetitions: Vec::new(),
        })
    }

    pub(crate) fn has(&self, seed: u64) -> bool {
        self.repetitions.iter().any(|repetition| repetition.seed == seed)
    }

    pub(crate) fn add(
        &mut self,
        folder: Option<&Path>,
        repetition: Repetition,
    ) -> Result<(), Box<dyn Error>> {
        self.repetitions.push(repetition);
        self.repetitions.sort_by_key(|repetition| repetition.seed);
        let Some(folder) = folder else { return Ok(()) };
        std::fs::create_dir_all(folder)?;
        self.save(&self.subject.path(folder))
    }

    fn save(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(egg_files::write(path, text.as_bytes())?)
    }
}

impl Subject {
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}.json", self.dataset.to_lowercase(), self.preset))
    }
}

/// The processor.
pub(crate) fn machine() -> String {
    egg_results::processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

pub(crate) fn arithmetic() -> Option<String> {
    let kernels = egg_geometry::blas_kernels();
    let machine = egg_results::Machine::here(rayon::current_num_threads());
    machine
        .with_backend(egg_geometry::backend(), kernels.as_deref())
        .arithmetic
}
