//! Maps by t-SNE for the paper's figures, each with what it shows as a number.
//!
//! Of graphs: one repetition of protocol `paper` with EGG is trained, and what the pooling gives is
//! mapped (the four layers of GIN side by side), before any training too for GCN. Of nodes: the
//! paper's VGAE is trained, and its means H and the rows of EGG(0.8) are mapped.

pub mod graphs;
pub mod nodes;
pub mod record;

use crate::architecture::Architecture;
use egg_graph::random_order;
use egg_pool::protocol::Protocol;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::cell::SETTING;
use crate::error::Result;
use crate::{data, preset};
use egg_cluster::pipeline::Preset;
use egg_pool::PoolingConfig;
use record::MapRecord;

/// At most so many graphs or nodes are drawn.
pub(crate) const POINTS: usize = 4000;

/// Epochs on COLLAB at most: for a picture, not for a table.
const EPOCHS: u64 = 30;

/// A figure with several maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Of COLLAB.
    Graphs,
    /// Of three citation networks.
    Nodes,
}

/// What a record of maps is of.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// The record's name.
    pub name: &'static str,
    dataset: &'static str,
    /// `None`: of nodes.
    architecture: Option<Architecture>,
}

impl Figure {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Graphs, Self::Nodes];

    /// As on the command line, in records and of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Graphs => "tsne-graphs",
            Self::Nodes => "tsne-nodes",
        }
    }

    /// Its records.
    pub fn subjects(self) -> Vec<Subject> {
        let graphs = |name, architecture| Subject {
            name,
            dataset: "COLLAB",
            architecture: Some(architecture),
        };
        let nodes = |name| Subject {
            name,
            dataset: name,
            architecture: None,
        };
        match self {
            Self::Graphs => vec![
                graphs("collab-gcn", Architecture::Gcn),
                graphs("collab-gin", Architecture::Gin),
            ],
            Self::Nodes => ["cora", "citeseer", "pubmed"].map(nodes).to_vec(),
        }
    }
}

impl Subject {
    /// Trains, and lays out the maps.
    ///
    /// # Errors
    /// As loading, training and [`MapRecord::add`].
    pub fn record(&self, revision: &str) -> Result<MapRecord> {
        let dataset = data::load(self.dataset)?;
        let Some(architecture) = self.architecture else {
            return nodes::maps(&dataset, Preset::Paper.config(), POINTS, revision);
        };
        let preset = preset::experiment(&dataset, Protocol::Paper, architecture, PoolingConfig::default())?;
        let mut experiment = SETTING.apply(&preset);
        experiment.training.max_epochs = EPOCHS;
        graphs::maps(dataset, experiment, POINTS, revision)
    }
}

/// Which of `all` are drawn: all, or some in random order, sorted.
fn chosen(all: usize, points: usize, seed: u64) -> Vec<usize> {
    let mut chosen = random_order(all, &mut ChaCha8Rng::seed_from_u64(seed));
    chosen.truncate(points);
    chosen.sort_unstable();
    chosen
}
