//! Poolings in files: a name, or a table.

use std::fmt;

use egg_autodiff::{Flatten, RankRule};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::config::{FilterConfig, PoolingConfig};
use crate::error::{Error, Result};

/// Every setting that some pooling has.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter_size: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flatten: Option<Flatten>,
    // Tables last, for TOML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rank: Option<RankRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter: Option<FilterConfig>,
}

/// Puts what is there in the place of the default.
fn take<T>(setting: &mut T, found: &mut Option<T>) {
    if let Some(found) = found.take() {
        *setting = found;
    }
}

impl Table {
    fn of(config: &PoolingConfig) -> Self {
        let mut table = Self {
            kind: config.name().to_owned(),
            ..Self::default()
        };
        match config {
            PoolingConfig::Egg { rank, flatten } => {
                (table.rank, table.flatten) = (Some(*rank), Some(*flatten));
            }
            PoolingConfig::SoftEgg { filter, flatten } => {
                (table.filter, table.flatten) = (Some(*filter), Some(*flatten));
            }
            PoolingConfig::TopK { ratio } | PoolingConfig::Sag { ratio } => table.ratio = Some(*ratio),
            PoolingConfig::Pan { ratio, filter_size } => {
                (table.ratio, table.filter_size) = (Some(*ratio), Some(*filter_size));
            }
            PoolingConfig::Random { ratio, seed } => (table.ratio, table.seed) = (Some(*ratio), Some(*seed)),
            PoolingConfig::Sum
            | PoolingConfig::Avg
            | PoolingConfig::Max
            | PoolingConfig::Attention
            | PoolingConfig::Edge
            | PoolingConfig::Blind => {}
        }
        table
    }

    fn config(mut self) -> Result<PoolingConfig> {
        let mut config: PoolingConfig = self.kind.parse()?;
        match &mut config {
            PoolingConfig::Egg { rank, flatten } => {
                take(rank, &mut self.rank);
                take(flatten, &mut self.flatten);
            }
            PoolingConfig::SoftEgg { filter, flatten } => {
                take(filter, &mut self.filter);
                take(flatten, &mut self.flatten);
            }
            PoolingConfig::TopK { ratio } | PoolingConfig::Sag { ratio } => take(ratio, &mut self.ratio),
            PoolingConfig::Pan { ratio, filter_size } => {
                take(ratio, &mut self.ratio);
                take(filter_size, &mut self.filter_size);
            }
            PoolingConfig::Random { ratio, seed } => {
                take(ratio, &mut self.ratio);
                take(seed, &mut self.seed);
            }
            PoolingConfig::Sum
            | PoolingConfig::Avg
            | PoolingConfig::Max
            | PoolingConfig::Attention
            | PoolingConfig::Edge
            | PoolingConfig::Blind => {}
        }
        let left = [
            ("ratio", self.ratio.is_some()),
            ("filter_size", self.filter_size.is_some()),
            ("seed", self.seed.is_some()),
            ("flatten", self.flatten.is_some()),
            ("rank", self.rank.is_some()),
            ("filter", self.filter.is_some()),
        ];
        if let Some((setting, _)) = left.into_iter().find(|(_, left)| *left) {
            let pooling = config.name();
            return Err(Error::PoolingSetting { pooling, setting });
        }
        config.validate()?;
        Ok(config)
    }
}

impl Serialize for PoolingConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Table::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PoolingConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable)
    }
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = PoolingConfig;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a pooling, or a table with its kind")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<PoolingConfig, E> {
        name.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<PoolingConfig, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        table.config().map_err(A::Error::custom)
    }
}
