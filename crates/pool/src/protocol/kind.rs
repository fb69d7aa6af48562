//! The two protocols.

use std::fmt;
use std::str::FromStr;

use egg_graph::{GraphDataset, Labels, Split, Targets};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::Architecture;
use crate::train::TrainConfig;

/// Folds of [`Protocol::Fair`].
const FOLDS: usize = 10;

/// The share of a fold's training graphs that settings are chosen by.
const INNER_VALIDATION: f64 = 0.1;

/// How splits are made; see the [module](crate::protocol).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// As the paper's code does.
    Paper,
    /// As one should.
    Fair,
}

/// What random numbers are for: each use has streams of its own, so that more
/// of one changes nothing in another.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    Training = 1,
    Split = 2,
    Folds = 3,
}

/// The generator of one use in one repetition.
pub(super) fn generator(seed: u64, stream: Stream, index: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((stream as u64) << 48 | index as u64);
    rng
}

impl Protocol {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Paper, Self::Fair];

    /// As it is written in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Fair => "fair",
        }
    }

    /// What is subtracted from the count in the standard deviations it reports.
    pub fn ddof(self) -> usize {
        match self {
            Self::Paper => 0,
            Self::Fair => 1,
        }
    }

    /// How it trains.
    pub fn training(self) -> TrainConfig {
        match self {
            Self::Paper => TrainConfig::paper(),
            Self::Fair => TrainConfig::fair(),
        }
    }

    /// One split for each repetition.
    ///
    /// # Errors
    /// [`egg_graph::Error::Parameter`] if there are fewer graphs than folds.
    ///
    /// ```
    /// use egg_graph::{Split, synthetic::CovarianceSet};
    /// use egg_pool::{model::Architecture, protocol::Protocol};
    ///
    /// let dataset = CovarianceSet::standard()?;
    /// let splits = Protocol::Paper.splits(&dataset, Architecture::Gin, 10, 0)?;
    /// assert!(splits.iter().all(|split| *split == Split::paper(400)));
    /// let splits = Protocol::Fair.splits(&dataset, Architecture::Gin, 10, 0)?;
    /// assert_eq!(splits.iter().map(|split| split.test.len()).sum::<usize>(), 400);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn splits(
        self,
        dataset: &GraphDataset,
        architecture: Architecture,
        repetitions: usize,
        seed: u64,
    ) -> Result<Vec<Split>> {
        if let Some(prescribed) = dataset.split()
            && dataset.len() > 1
        {
            return Ok(vec![prescribed.clone(); repetitions]);
        }
        let graphs = dataset.len();
        match (self, architecture) {
            (Self::Paper, Architecture::Gin) => Ok(vec![Split::paper(graphs); repetitions]),
            (Self::Paper, Architecture::Gcn | Architecture::Blind) => Ok((0..repetitions)
                .map(|index| Split::random(graphs, &mut generator(seed, Stream::Split, index)))
                .collect()),
            (Self::Fair, _) => {
                // Numbers have no classes to keep in proportion.
                let alike;
                let labels = match dataset.targets() {
                    Some(Targets::Classes(labels)) => labels,
                    _ => {
                        alike = Labels::from_values(&vec![0; graphs]);
                        &alike
                    }
                };
                let mut splits = Vec::with_capacity(repetitions);
                let mut round = 0;
                while splits.len() < repetitions {
                    let mut rng = generator(seed, Stream::Folds, round);
                    splits.extend(Split::stratified(labels, FOLDS, INNER_VALIDATION, &mut rng)?);
                    round += 1;
                }
                splits.truncate(repetitions);
                Ok(splits)
            }
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "protocol",
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
