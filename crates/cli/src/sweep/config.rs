//! The file that says what to try.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use egg_gnn::pool::convolution::Gcn;
use egg_gnn::pool::protocol::{Grid, Protocol};
use egg_gnn::pool::{ConvolutionConfig, PoolingConfig};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::arguments::{self, Pool};
use crate::data::suggestion;
use crate::failure::{Failure, Result};
use crate::train::Settings;

/// What is in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub(super) data: String,
    #[serde(default, deserialize_with = "conv")]
    conv: Option<ConvolutionConfig>,
    #[serde(default)]
    pool: Option<Pools>,
    #[serde(default, deserialize_with = "protocol")]
    protocol: Option<Protocol>,
    #[serde(default)]
    preset: Option<String>,
    #[serde(default)]
    reps: Option<usize>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    epochs: Option<u64>,
    #[serde(default)]
    patience: Option<u64>,
    #[serde(default)]
    batch: Option<usize>,
    #[serde(default)]
    layers: Option<usize>,
    #[serde(default)]
    linear: bool,
    #[serde(default)]
    pub(super) out: Option<PathBuf>,
    #[serde(default)]
    grid: Lists,
}

fn conv<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<ConvolutionConfig>, D::Error> {
    named("conv", deserializer, arguments::convolution)
}

fn protocol<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Protocol>, D::Error> {
    named("protocol", deserializer, arguments::protocol)
}

/// A name as the command line takes it, with its suggestions.
fn named<'de, D: Deserializer<'de>, T>(
    key: &str,
    deserializer: D,
    parse: fn(&str) -> std::result::Result<T, String>,
) -> std::result::Result<Option<T>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let parsed = parse(&name).map_err(|why| D::Error::custom(format!("{key} = {name:?}: {why}")));
    parsed.map(Some)
}

/// One pooling, or several to compare: each a name, or a table with settings.
#[derive(Debug)]
struct Pools(Vec<Pool>);

impl<'de> Deserialize<'de> for Pools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(PoolsVisitor)
    }
}

struct PoolsVisitor;

impl<'de> Visitor<'de> for PoolsVisitor {
    type Value = Pools;

    fn expecting(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str("a pooling (\"egg\"), a table with its settings, or a list of these")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Pools, E> {
        let pool = arguments::pool(name).map_err(|why| E::custom(format!("pool = {name:?}: {why}")));
        Ok(Pools(vec![pool?]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Pools, A::Error> {
        let pool = PoolingConfig::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Pools(vec![Pool::Pooling(pool)]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Pools, A::Error> {
        let mut pools = Vec::new();
        while let Some(Pools(more)) = list.next_element()? {
            pools.extend(more);
        }
        Ok(Pools(pools))
    }
}

/// The values to try; the paper's where there are none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    lr: Option<Vec<f64>>,
    weight_decay: Option<Vec<f64>>,
    hidden: Option<Vec<usize>>,
    dropout: Option<Vec<f64>>,
    threshold: Option<Vec<f64>>,
}

impl Config {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
        let config: Self = toml::from_str(&text).map_err(|error| {
            // Where, what, and the line itself are in its first lines.
            let message: Vec<&str> = error.message().lines().collect();
            let line = error
                .span()
                .and_then(|span| text.get(..span.start))
                .map(|before| before.matches('\n').count() + 1);
            let at = line.map_or_else(String::new, |line| format!(", line {line}"));
            let (message, near) = (message.join(" "), nearest_key(error.message()));
            let near = near.unwrap_or_default();
            Failure::other(format!("{}{at}: {message}{near}", path.display()))
        })?;
        let (reps, epochs) = (arguments::MOST_REPS as u64, arguments::MOST_EPOCHS);
        let counts = [
            ("reps", config.reps.map(|count| count as u64), reps),
            ("epochs", config.epochs, epochs),
            ("patience", config.patience, epochs),
            ("batch", config.batch.map(|count| count as u64), u64::MAX),
            ("layers", config.layers.map(|count| count as u64), u64::MAX),
        ];
        for (name, count, most) in counts {
            if let Some(count) = count.filter(|count| !(1..=most).contains(count)) {
                return Err(Failure::other(format!(
                    "{}: {name} = {count}: a whole number from 1 to {most} is needed",
                    path.display()
                )));
            }
        }
        Ok(config)
    }

    pub(super) fn settings(&self, pool: Pool) -> Settings {
        Settings {
            conv: self.conv.clone().unwrap_or_else(|| Gcn.into()),
            pool,
            preset: self.preset.clone(),
            rank: None,
            hidden: None,
            layers: self.layers,
            linear: self.linear,
            lr: None,
            weight_decay: None,
            dropout: None,
            batch: self.batch,
            epochs: self.epochs,
            patience: self.patience,
            reps: self.reps.unwrap_or(10),
            seed: self.seed,
            protocol: self.protocol.unwrap_or(Protocol::Paper),
        }
    }

    pub(super) fn pools(&self) -> Vec<Pool> {
        match &self.pool {
            None => vec![Pool::Pooling(PoolingConfig::default())],
            Some(Pools(pools)) => pools.clone(),
        }
    }

    pub(super) fn grid(&self) -> Grid {
        let mut grid = Grid::paper();
        let Lists {
            lr,
            weight_decay,
            hidden,
            dropout,
            threshold,
        } = &self.grid;
        let set = |list: &mut Vec<f64>, given: &Option<Vec<f64>>| {
            if let Some(given) = given {
                list.clone_from(given);
            }
        };
        set(&mut grid.learning_rate, lr);
        set(&mut grid.weight_decay, weight_decay);
        set(&mut grid.dropout, dropout);
        set(&mut grid.threshold, threshold);
        if let Some(hidden) = hidden {
            grid.hidden.clone_from(hidden);
        }
        grid
    }
}

/// A suggestion for a key that there is none of: serde's words list those that
/// there are.
fn nearest_key(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `")?;
    let mut names = rest.split('`').step_by(2);
    let wrong = names.next()?;
    suggestion(wrong, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_names_have_suggestions() {
        let read = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("grid.toml");
            std::fs::write(&path, text).unwrap();
            Config::read(&path)
        };
        let pools = |text: &str| read(&format!("data = \"x\"\n{text}")).map(|config| config.pools());
        assert_eq!(pools("").unwrap().len(), 1);
        assert_eq!(pools("pool = \"sum\"").unwrap()[0].name(), "sum");
        assert_eq!(
            pools("pool = [\"sum\", { kind = \"egg\", rank = { ratio = 0.5 } }]")
                .unwrap()
                .len(),
            2
        );
        for (wrong, words) in [
            ("pool = [\"eg\"]", "line 2: pool = \"eg\": did you mean egg?"),
            ("pool = \"quantum\"", "the poolings are egg"),
            ("pool = 3", "a pooling"),
            ("reps = 0", "reps = 0: a whole number from 1"),
            ("conv = \"gc\"", "did you mean gcn?"),
            ("protocol = \"papers\"", "did you mean paper?"),
            ("pol = \"egg\"", "did you mean pool?"),
            ("[grid]\ndropuot = [0.1]", "line 3: unknown field `dropuot`"),
            ("[grid]\ndropuot = [0.1]", "did you mean dropout?"),
        ] {
            let message = pools(wrong).unwrap_err().to_string();
            assert!(message.contains(words), "{wrong}: {message}");
        }
    }

    /// Files that are nearly sound are read or refused, and what was read can be
    /// used: no panic, no number taken at its word.
    #[test]
    fn any_file_is_read_or_refused() {
        use rand_chacha::ChaCha8Rng;
        use rand_chacha::rand_core::SeedableRng;

        let pool = [
            "data = \"x\"\nconv = \"gin\"\npool = [\"sum\", { kind = \"egg\", rank = { ratio = 0.5 } }]\n\
             protocol = \"fair\"\nreps = 2\nseed = 7\nepochs = 3\n[grid]\nlr = [0.01, 1e-3]\nhidden = [8]\n",
            "data = \"x\"\npool = \"topk\"\nbatch = 4\nlayers = 2\nlinear = true\nout = \"here\"\n\
             [grid]\nweight_decay = [0]\ndropout = [0.5]\nthreshold = [0.1, 0.2]\n",
        ]
        .map(|text| text.as_bytes().to_vec());
        let words = [
            "nan",
            "[grid]\n",
            "{ kind = \"soft-egg\" }",
            "\"\"\"",
            "\u{e4}",
            "[[pool]]\n",
            "= ",
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sweep.toml");
        let full = std::env::var_os("EGG_TEST_FULL").is_some();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut read, mut refused) = (0, 0);
        for _ in 0..if full { 500_000 } else { 5_000 } {
            let input = egg_fuzz::mutate::mutated(&pool, &words, &mut rng);
            std::fs::write(&path, &input).unwrap();
            match Config::read(&path) {
                Ok(config) => {
                    for pool in config.pools() {
                        let _ = config.settings(pool);
                    }
                    let _ = config.grid();
                    read += 1;
                }
                Err(failure) => {
                    assert!(failure.to_string().contains("sweep.toml"), "{failure}");
                    refused += 1;
                }
            }
        }
        assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
    }
}
