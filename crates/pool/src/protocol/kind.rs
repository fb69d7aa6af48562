//! The two protocols.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::train::TrainConfig;

/// How results are made; see the [module](crate::protocol).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// The paper's settings and splits.
    Paper,
    /// Stratified folds, with settings chosen inside each.
    Fair,
}

impl Protocol {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Paper, Self::Fair];

    /// The names of both.
    pub fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|protocol| protocol.name()).collect()
    }

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
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|known| known.name() == name);
        found.copied().ok_or_else(|| Error::UnknownName {
            what: "protocol",
            name: name.to_owned(),
            known: Self::names().join(", "),
        })
    }
}
