//! Settings of models, training and searches, in TOML and JSON.

use std::fmt::Debug;

use egg_geometry::RankRule;
use egg_pool::model::ModelConfig;
use egg_pool::protocol::{Experiment, Grid, Protocol};
use egg_pool::train::TrainConfig;
use egg_pool::{ConvolutionConfig, PoolingConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Target;
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "settings",
    run,
    words: WORDS,
    reader: None,
};

const WORDS: &[&str] = &[
    "pooling = \"egg\"\n",
    "kind = \"egg\"\n",
    "kind = \"soft-egg\"\n",
    "rank = { threshold = 0.5 }\n",
    "flatten = \"isometric\"\n",
    "[pooling]\n",
    "[head]\n",
    "[schedule.plateau]\n",
    "architecture = \"gin\"\n",
    "convolution = \"gin\"\n",
    "concat:parts=avg+[egg:threshold=0.5]",
    "layers = ",
    "hidden = ",
    "dropout = ",
    "learning_rate = ",
    "widths = [",
    "nan",
    "-inf",
    "1e999",
    "1979-05-27T07:32:00Z",
    "0xffffffffffffffff",
    "'''",
];

fn run(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let _ = text.parse::<RankRule>();
    let _ = text.parse::<PoolingConfig>();
    let _ = text.parse::<ConvolutionConfig>();
    let _ = text.parse::<Protocol>();
    let outcomes = [
        toml_and_json::<ModelConfig>(&text),
        toml_and_json::<TrainConfig>(&text),
        toml_and_json::<Grid>(&text),
        toml_and_json::<Experiment>(&text),
    ];
    Outcome::refused(&format!("settings: {}", outcomes.join(" | ")))
}

/// Reads as TOML and as JSON; what is read survives writing.
fn toml_and_json<T: Serialize + DeserializeOwned + Debug>(text: &str) -> String {
    let toml_read = toml::from_str::<T>(text);
    let json_read = serde_json::from_str::<T>(text);
    for config in [toml_read.as_ref().ok(), json_read.as_ref().ok()]
        .into_iter()
        .flatten()
    {
        let written = serde_json::to_string(config);
        let written = written.unwrap_or_else(|error| panic!("{config:?} can't be written: {error}"));
        // JSON has no NaN and no infinity; they are written as null, which no number is read from.
        if !written.contains("null") {
            let again: T = serde_json::from_str(&written)
                .unwrap_or_else(|error| panic!("{written} can't be read again: {error}"));
            assert_eq!(serde_json::to_string(&again).ok(), Some(written));
        }
    }
    match (toml_read, json_read) {
        (Ok(_), _) | (_, Ok(_)) => "read".to_owned(),
        (Err(error), Err(_)) => Outcome::refused(&error.message()).to_string(),
    }
}
