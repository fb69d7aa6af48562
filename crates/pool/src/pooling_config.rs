//! Which pooling, as settings that can be written down.

use std::fmt;
use std::str::FromStr;

use candle_core::Tensor;
use egg_autodiff::{Embedder, Flatten, RankRule};
use egg_nn::{Pass, Scope, Segments};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::pooling::{Pooled, Pooling};
use crate::structure::Structure;

/// A pooling by name and settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PoolingConfig {
    /// The Grassmann embedding.
    Egg {
        /// How many directions are kept.
        #[serde(with = "RankRuleDef")]
        rank: RankRule,
        /// How projectors become vectors.
        #[serde(with = "FlattenDef", default)]
        flatten: Flatten,
    },
    /// The sum of the nodes.
    Sum,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RankRule", rename_all = "snake_case")]
enum RankRuleDef {
    Fixed(usize),
    Ratio(f64),
    Threshold(f64),
    Relative(f64),
    Energy(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Flatten", rename_all = "snake_case")]
enum FlattenDef {
    Upper,
    Isometric,
}

impl PoolingConfig {
    /// The name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Egg { .. } => "egg",
            Self::Sum => "sum",
        }
    }

    /// Registers the pooling's parameters for rows of width m.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn build(&self, _scope: &mut Scope<'_>, m: usize) -> Result<Box<dyn Pooling>> {
        Ok(match *self {
            Self::Egg { rank, flatten } => Box::new(Egg {
                embedder: Embedder::new(rank, flatten)?,
                m,
            }),
            Self::Sum => Box::new(Sum { m }),
        })
    }
}

impl fmt::Display for PoolingConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PoolingConfig {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "egg" => Ok(Self::Egg {
                rank: RankRule::Threshold(0.5),
                flatten: Flatten::Upper,
            }),
            "sum" => Ok(Self::Sum),
            _ => Err(Error::UnknownName {
                what: "pooling",
                name: name.to_owned(),
                known: "egg, sum".to_owned(),
            }),
        }
    }
}

#[derive(Debug)]
struct Egg {
    embedder: Embedder,
    m: usize,
}

impl Pooling for Egg {
    fn width(&self) -> usize {
        Flatten::length(self.m)
    }

    fn pool(&self, h: &Tensor, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        let h = pass.input(h);
        let (readout, spectra) = self.embedder.embed_with_spectra(&h, structure.offsets())?;
        Ok(Pooled {
            readout,
            coarser: None,
            ranks: Some(spectra.iter().map(|graph| graph.choice.p).collect()),
        })
    }
}

#[derive(Debug)]
struct Sum {
    m: usize,
}

impl Pooling for Sum {
    fn width(&self) -> usize {
        self.m
    }

    fn pool(&self, h: &Tensor, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        let readout = Segments::new(structure.offsets())?.sum(&pass.input(h))?;
        Ok(Pooled {
            readout,
            coarser: None,
            ranks: None,
        })
    }
}
