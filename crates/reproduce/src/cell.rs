//! The cells of Tables 2 and 3: a data set, a convolution, a pooling.

use std::path::{Path, PathBuf};

use crate::architecture::Architecture;
use egg_graph::GraphDataset;
use egg_pool::convolution::Blind;
use egg_pool::pooling::Sum;
use egg_pool::protocol::{Cell as Setting, Experiment, Protocol};

use crate::error::Result;
use crate::preset;

/// In the order in which they are run if none is named.
pub const DATASETS: [&str; 7] = [
    "MUTAG",
    "PROTEINS",
    "Mutagenicity",
    "NCI1",
    "DD",
    "COLLAB",
    "ogbg-molhiv",
];

/// The paper's rows.
pub const POOLINGS: [&str; 9] = [
    "topk",
    "sag",
    "edge",
    "pan",
    "sum",
    "avg",
    "max",
    "attention",
    "egg",
];

/// Not in the paper: EGG without a cut, nodes chosen by chance, and no edges at all.
pub const OURS: [&str; 3] = ["soft-egg", "random", "blind"];

/// The paper searches a grid for each cell. Here each cell has one setting: what
/// trials on validation parts chose for EGG, for every pooling alike. (EGG's
/// preset of GIN on PROTEINS was later chosen again, without dropout.)
pub const SETTING: Setting = Setting {
    learning_rate: 5e-3,
    weight_decay: 5e-4,
    hidden: 32,
    dropout: 0.5,
    threshold: None,
};

/// One cell.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// As in [`DATASETS`].
    pub dataset: &'a str,
    /// That of the table.
    pub architecture: Architecture,
    /// As in [`POOLINGS`] and [`OURS`].
    pub pooling: &'a str,
    /// How splits are made.
    pub protocol: Protocol,
}

impl Cell<'_> {
    /// The file of its record, without the folder: `proteins-gcn-egg.json`.
    pub fn file(&self) -> String {
        let end = match self.protocol {
            Protocol::Paper => "",
            _ => "-fair",
        };
        let dataset = self.dataset.to_lowercase();
        format!("{dataset}-{}-{}{end}.json", self.architecture, self.pooling)
    }

    /// The file of its record below the folder of the results.
    pub fn record(&self, results: &Path) -> PathBuf {
        results.join("training").join(self.file())
    }

    /// What is trained.
    ///
    /// # Errors
    /// As [`Experiment::new`], or if there is no such pooling.
    pub fn experiment(&self, dataset: &GraphDataset) -> Result<Experiment> {
        let preset = preset::paper(self.dataset)?;
        let new =
            |pooling: &str| Experiment::new(dataset, self.protocol, self.architecture, pooling.parse()?);
        let mut experiment = match self.pooling {
            // The control has no convolutions, and splits of its own.
            "blind" => Experiment::new(dataset, self.protocol, Blind, Sum.into())?,
            pooling => new(pooling)?,
        };
        experiment.apply(&preset);
        let convolution = preset.convolution.get(self.architecture.name());
        let is_chosen = convolution.is_some_and(|preset| preset.chosen.contains_key(self.pooling));
        Ok(match is_chosen && self.protocol == Protocol::Paper {
            true => experiment,
            false => self.setting().apply(&experiment),
        })
    }

    /// Where the trials of EGG chose something else, the others get it too.
    fn setting(&self) -> Setting {
        match (self.dataset, self.architecture) {
            ("Mutagenicity", Architecture::Gin) => Setting {
                learning_rate: 1e-3,
                ..SETTING
            },
            _ => SETTING,
        }
    }
}

#[cfg(test)]
mod tests {
    use egg_graph::synthetic::CovarianceSet;
    use egg_pool::PoolingConfig;

    use super::*;

    #[test]
    fn a_cell_has_a_file_and_an_experiment() {
        let cell = Cell {
            dataset: "Mutagenicity",
            architecture: Architecture::Gin,
            pooling: "sum",
            protocol: Protocol::Paper,
        };
        let dataset = CovarianceSet::standard().unwrap().with_name("Mutagenicity");
        assert_eq!(cell.file(), "mutagenicity-gin-sum.json");
        let sum = cell.experiment(&dataset).unwrap();
        assert_eq!(sum.training.learning_rate, 1e-3);
        assert_eq!((sum.model.hidden, sum.model.head.dropout), (32, 0.5));
        // EGG's own preset, untouched.
        let egg = Cell {
            pooling: "egg",
            ..cell
        };
        let preset = preset::experiment(
            &dataset,
            Protocol::Paper,
            Architecture::Gin,
            PoolingConfig::default(),
        );
        assert_eq!(egg.experiment(&dataset).unwrap(), preset.unwrap());
        let fair = Cell {
            protocol: Protocol::Fair,
            pooling: "blind",
            ..cell
        };
        assert_eq!(fair.file(), "mutagenicity-gin-blind-fair.json");
        let blind = fair.experiment(&dataset).unwrap();
        assert!(!blind.model.convolution.has_layers());
    }
}
