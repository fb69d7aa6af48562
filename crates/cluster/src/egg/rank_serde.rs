//! A rank rule in a file: `{"ratio": 0.8}`, `{"fixed": 3}`, ...

use egg_geometry::RankRule;
use serde::{Deserialize, Serialize};

/// For `#[serde(with = "RankRuleText")]`: the variants of [`RankRule`], which
/// lives in a crate without serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "RankRule", rename_all = "snake_case")]
pub(crate) enum RankRuleText {
    Fixed(usize),
    Ratio(f64),
    Threshold(f64),
    Relative(f64),
    Energy(f64),
}
