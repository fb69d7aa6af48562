//! Settings that trials on validation parts chose.

use egg_autodiff::{Flatten, RankRule};

use super::experiment::Experiment;
use super::kind::Protocol;
use crate::model::Architecture;
use crate::pooling::PoolingConfig;

/// What was chosen for one data set and model.
struct Chosen {
    dataset: &'static str,
    architecture: Architecture,
    learning_rate: f64,
    weight_decay: f64,
    hidden: usize,
    dropout: f64,
    rank: RankRule,
}

/// By the mean validation loss, before any test was looked at; `docs/TRAINING.md`
/// has what else was tried.
const CHOSEN: [Chosen; 4] = [
    Chosen {
        dataset: "PROTEINS",
        architecture: Architecture::Gcn,
        learning_rate: 5e-3,
        weight_decay: 5e-4,
        hidden: 32,
        dropout: 0.5,
        rank: RankRule::Threshold(0.01),
    },
    Chosen {
        dataset: "PROTEINS",
        architecture: Architecture::Gin,
        learning_rate: 5e-3,
        weight_decay: 5e-4,
        hidden: 32,
        dropout: 0.0,
        rank: RankRule::Threshold(0.5),
    },
    Chosen {
        dataset: "Mutagenicity",
        architecture: Architecture::Gcn,
        learning_rate: 5e-3,
        weight_decay: 5e-4,
        hidden: 32,
        dropout: 0.5,
        rank: RankRule::Threshold(0.5),
    },
    Chosen {
        dataset: "Mutagenicity",
        architecture: Architecture::Gin,
        learning_rate: 1e-3,
        weight_decay: 5e-4,
        hidden: 32,
        dropout: 0.5,
        rank: RankRule::Threshold(0.5),
    },
];

impl Experiment {
    /// Takes over what was chosen for this data set, if EGG was asked for with no
    /// settings of its own. Not in [`Protocol::Fair`]: each fold's settings have
    /// to be chosen without the graphs it is tested on.
    pub(super) fn take_preset(&mut self, dataset: &str) {
        let architecture = self.model.architecture;
        let chosen = CHOSEN.iter().find(|chosen| {
            chosen.dataset.eq_ignore_ascii_case(dataset) && chosen.architecture == architecture
        });
        let Some(chosen) = chosen else { return };
        if self.protocol != Protocol::Paper || self.model.pooling != PoolingConfig::default() {
            return;
        }
        self.training.learning_rate = chosen.learning_rate;
        self.training.weight_decay = chosen.weight_decay;
        self.model.hidden = chosen.hidden;
        self.model.head.dropout = chosen.dropout;
        self.model.pooling = PoolingConfig::Egg {
            rank: chosen.rank,
            flatten: Flatten::default(),
        };
    }
}
