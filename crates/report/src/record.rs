//! Records: the result of a run, from which the report is made.
//!
//! A [`Record`] is one JSON file, [`FILE_NAME`], in the folder of a run. It has
//! everything that the report shows, so that the page can be rebuilt later, without the data and
//! without the model. Unknown fields are ignored, missing ones are empty: old files stay readable.
//! NaN is written as `null`.
//!
//! ```
//! use egg_report::{Kind, Method, Record, Repetition};
//!
//! let mut record = Record::new(Kind::Train, "EGG on PROTEINS");
//! record.command = "egg train --data PROTEINS --pool egg --reps 2".to_owned();
//! record.methods.push(Method {
//!     name: "EGG".to_owned(),
//!     repetitions: vec![
//!         Repetition { split: "fold 1".to_owned(), test: Some(0.75), ..Repetition::default() },
//!         Repetition { split: "fold 2".to_owned(), test: Some(0.77), ..Repetition::default() },
//!     ],
//!     ..Method::default()
//! });
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join(egg_report::FILE_NAME);
//! record.write(&path).unwrap();
//! assert_eq!(Record::read(&path).unwrap(), record);
//! ```

// Numbers read from a file must not be used as indices unchecked.
#![warn(clippy::indexing_slicing)]

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::number;

/// The name of the file in a run's folder.
pub const FILE_NAME: &str = "run.json";

/// The version of the layout that is written here.
pub const VERSION: u64 = 1;

const FORMAT: &str = "egg-record";

/// What was run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Graphs were classified.
    #[default]
    Train,
    /// Nodes were clustered.
    Cluster,
    /// Many settings were tried.
    Sweep,
    /// The demonstration.
    Demo,
}

/// One run: its settings and its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    format: String,
    version: u64,
    /// What was run.
    pub kind: Kind,
    /// A line that names it.
    pub title: String,
    /// When it was finished, in words of the caller's choice; empty to leave it out.
    pub finished: String,
    /// The command that repeats it, as for a shell ([`shell_command`]).
    pub command: String,
    /// All settings.
    pub config: Value,
    /// The seed of all random numbers.
    pub seed: Option<u64>,
    /// How splits and repetitions were made, as `paper` or `fair`; empty if it
    /// does not apply.
    pub protocol: String,
    /// What is subtracted from the count in standard deviations of [`Repetition::test`]: 0 in the
    /// paper's tables, 1 elsewhere.
    pub ddof: usize,
    /// The data set.
    pub data: Data,
    /// Versions of program, libraries and system.
    pub versions: Versions,
    /// Classifiers, one for each curve and each row of the table.
    pub methods: Vec<Method>,
    /// A score against a setting, as accuracy against the threshold r.
    pub sweeps: Vec<Sweep>,
    /// The settings that a search tried, best first.
    pub trials: Vec<Trial>,
    /// Clusterings, one for each row of the table.
    pub clusterings: Vec<Clustering>,
    /// Notes for the reader. Plain text; one paragraph each.
    pub notes: Vec<String>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            kind: Kind::default(),
            title: String::new(),
            finished: String::new(),
            command: String::new(),
            config: Value::Null,
            seed: None,
            protocol: String::new(),
            ddof: 1,
            data: Data::default(),
            versions: Versions::default(),
            methods: Vec::new(),
            sweeps: Vec::new(),
            trials: Vec::new(),
            clusterings: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The data set of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// Its name.
    pub name: String,
    /// A checksum of the graphs as the model saw them: methods are compared only
    /// where it is the same.
    pub fingerprint: String,
    /// The source; empty to leave it out.
    pub source: String,
    /// The number of graphs.
    pub graphs: Option<u64>,
    /// The number of nodes in all graphs.
    pub nodes: Option<u64>,
    /// The number of edges in all graphs.
    pub edges: Option<u64>,
    /// The number of features of a node.
    pub features: Option<u64>,
    /// The number of classes.
    pub classes: Option<u64>,
}

/// The versions that a run was made with. Empty fields are left out of the report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Versions {
    /// Of this program.
    pub egg: String,
    /// Of the linear algebra.
    pub backend: String,
    /// Of the compiler.
    pub rustc: String,
    /// Processor and operating system.
    pub machine: String,
    /// What else matters: name and version.
    pub others: Vec<(String, String)>,
}

/// A classifier and its results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Method {
    /// Its name in tables and legends, as `EGG`.
    pub name: String,
    /// Methods are shown and compared with those of the same group, as `linear
    /// convolution`; empty if there is only one.
    pub group: String,
    /// What [`Repetition::test`] is, as `accuracy` or `ROC-AUC`; empty for accuracy.
    pub metric: String,
    /// Whether less of it is better (an error, not a score).
    pub lower_is_better: bool,
    /// The number of trainable parameters.
    pub parameters: Option<u64>,
    /// One for each repetition.
    pub repetitions: Vec<Repetition>,
    /// The confusion matrix of the test parts, summed over all repetitions.
    pub confusion: Option<Confusion>,
    /// The ranks of the subspaces, for each pooling that makes some.
    pub ranks: Vec<Ranks>,
    /// The embedding of its graphs or nodes.
    pub embedding: Option<Embedding>,
}

impl Method {
    /// The name of its metric.
    pub fn metric(&self) -> &str {
        if self.metric.is_empty() {
            "accuracy"
        } else {
            &self.metric
        }
    }
}

/// One repetition: a split, a start, a training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repetition {
    /// Identifies the split, the same for the same parts of the data: methods are
    /// compared split by split. Where repetitions share a split, the n-th on it
    /// of one method is paired with the n-th of the other.
    pub split: String,
    /// How many graphs were trained on, validated on and tested on.
    pub parts: (u64, u64, u64),
    /// The metric on the test part, at the best validation epoch.
    #[serde(with = "number::option")]
    pub test: Option<f64>,
    /// The metric on the validation part, at the same epoch.
    #[serde(with = "number::option")]
    pub validation: Option<f64>,
    /// That epoch, counted from 1.
    pub best_epoch: Option<u64>,
    /// Every epoch.
    pub epochs: Vec<Epoch>,
}

/// One epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: u64,
    /// The mean loss of the training part, each item in the step that used it.
    #[serde(with = "number", default = "number::nan")]
    pub train_loss: f64,
    /// The metric of the same.
    #[serde(with = "number::option", default)]
    pub train_metric: Option<f64>,
    /// The mean loss of the validation part; NaN if there is none.
    #[serde(with = "number", default = "number::nan")]
    pub validation_loss: f64,
    /// The metric of the same.
    #[serde(with = "number::option", default)]
    pub validation_metric: Option<f64>,
    /// How long it took.
    #[serde(with = "number", default)]
    pub seconds: f64,
}

/// A confusion matrix.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confusion {
    /// Names of the classes; numbers stand in for missing ones.
    pub classes: Vec<String>,
    /// `counts[truth][prediction]`.
    pub counts: Vec<Vec<u64>>,
}

/// The ranks of one pooling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ranks {
    /// Which pooling, as `layer 2`; empty if there is only one.
    pub name: String,
    /// The largest possible rank: the number of columns of H.
    pub columns: Option<u64>,
    /// One for each rank that occurs.
    pub bins: Vec<RankBin>,
}

/// The graphs of one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankBin {
    /// The rank p.
    pub rank: u64,
    /// The number of graphs.
    pub graphs: u64,
    /// The mean captured share of the sum of singular values, from 0 to 1.
    #[serde(with = "number::option")]
    pub captured: Option<f64>,
}

/// A score against a setting.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sweep {
    /// The setting, as `threshold r`.
    pub parameter: String,
    /// What is measured, as `test accuracy`.
    pub metric: String,
    /// One line each.
    pub series: Vec<SweepSeries>,
}

/// One line of a [`Sweep`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepSeries {
    /// Its name in the legend.
    pub name: String,
    /// In any order.
    pub points: Vec<SweepPoint>,
}

/// One setting of a [`Sweep`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// The setting.
    #[serde(with = "number", default = "number::nan")]
    pub at: f64,
    /// The score.
    #[serde(default)]
    pub score: Estimate,
}

/// One setting of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trial {
    /// Names and values of the settings that were varied.
    pub settings: Vec<(String, String)>,
    /// The score on the validation part, by which it was chosen.
    pub validation: Estimate,
    /// The score on the test part, if it was evaluated.
    pub test: Option<Estimate>,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// A clustering and its scores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clustering {
    /// Its name, as `k-means+EGG 0.8`.
    pub method: String,
    /// Accuracy by optimal assignment.
    pub acc: Estimate,
    /// Normalised mutual information.
    pub nmi: Estimate,
    /// The Rand index adjusted for chance.
    pub ari: Estimate,
    /// Completeness.
    pub cs: Estimate,
    /// Other measures by name, as modularity.
    pub others: Vec<(String, Estimate)>,
    /// The number of columns that were clustered.
    pub dimension: Option<u64>,
    /// The captured share of the sum of singular values, from 0 to 1.
    #[serde(with = "number::option")]
    pub captured: Option<f64>,
    /// The embedding of the nodes.
    pub embedding: Option<Embedding>,
    /// The loss of every epoch of the autoencoder, one list for each repetition.
    pub losses: Vec<Losses>,
}

/// A loss, epoch by epoch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Losses(#[serde(with = "number::list")] pub Vec<f64>);

impl Record {
    /// An empty record.
    pub fn new(kind: Kind, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            ..Self::default()
        }
    }

    /// Reads a file, or [`FILE_NAME`] in a folder.
    ///
    /// # Errors
    /// If there is no such file, if it is not JSON ([`Error::Syntax`]), not a
    /// record ([`Error::NotARecord`]), or of a later version ([`Error::Version`]).
    pub fn read(path: &Path) -> Result<Self> {
        let file = if path.is_dir() {
            path.join(FILE_NAME)
        } else {
            path.to_owned()
        };
        let text = std::fs::read_to_string(&file).map_err(Error::io(&file))?;
        Self::parse(&text, &file)
    }

    /// Reads JSON; `path` is only for the errors.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            format: Option<Value>,
            version: Option<Value>,
        }
        let syntax = |error: serde_json::Error| Error::Syntax {
            path: path.to_owned(),
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        };
        // The format is checked before the fields.
        let head: Head = match serde_json::from_str(text) {
            Ok(head) => head,
            Err(error) if error.classify() == serde_json::error::Category::Data => {
                return Err(Error::NotARecord {
                    path: path.to_owned(),
                });
            }
            Err(error) => return Err(syntax(error)),
        };
        if head.format != Some(Value::from(FORMAT)) {
            return Err(Error::NotARecord {
                path: path.to_owned(),
            });
        }
        let found = head.version.and_then(|version| version.as_u64()).unwrap_or(0);
        if found == 0 || found > VERSION {
            return Err(Error::Version {
                path: path.to_owned(),
                found,
                known: VERSION,
            });
        }
        serde_json::from_str(text).map_err(syntax)
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, path: &Path) -> Result<()> {
        egg_files::write(path, self.to_json()?.as_bytes()).map_err(Error::io(path))
    }

    /// The record as JSON.
    ///
    /// # Errors
    /// If something can't be represented in JSON.
    pub fn to_json(&self) -> Result<String> {
        let mut json = serde_json::to_string(self).map_err(|error| Error::Unwritable {
            title: self.title.clone(),
            message: error.to_string(),
        })?;
        json.push('\n');
        Ok(json)
    }
}

/// A command line for a shell: arguments with blanks or special characters are quoted.
///
/// ```
/// let command = egg_report::shell_command(["egg", "train", "--data", "my graphs"]);
/// assert_eq!(command, "egg train --data 'my graphs'");
/// ```
pub fn shell_command<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    let quoted = arguments.into_iter().map(|argument| {
        let argument = argument.as_ref();
        if !argument.is_empty() && argument.chars().all(plain) {
            argument.to_owned()
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
