//! What can go wrong.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The one error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("{}: {reason}", path.display())]
    Format {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A record of something else is where this one would go.
    #[error("{} is of other data or settings: move it away, or record elsewhere", path.display())]
    OtherRecord {
        /// Which.
        path: PathBuf,
    },
    /// Something named in `words.md` is in no record.
    #[error("words.md: {0}")]
    Words(String),
    /// The folder of the results is neither here nor above.
    #[error(
        "there is no docs/results here or above: run this inside the workspace, or name one with --results"
    )]
    NoResults,
    /// The data lack what an experiment is about.
    #[error("{dataset}: {lacking}")]
    Unfit {
        /// The data set.
        dataset: String,
        /// What it lacks.
        lacking: &'static str,
    },
    /// What was measured makes no sense.
    #[error("{0}")]
    Measurement(String),
    /// Some of several experiments failed; the others were run.
    #[error("{}", .0.join("\n"))]
    Several(Vec<String>),
    /// Of egg-datasets.
    #[error(transparent)]
    Datasets(#[from] egg_datasets::Error),
    /// Of egg-pool.
    #[error(transparent)]
    Pool(#[from] egg_pool::Error),
    /// Of egg-cluster.
    #[error(transparent)]
    Cluster(#[from] egg_cluster::Error),
    /// Of egg-graph.
    #[error(transparent)]
    Graph(#[from] egg_graph::Error),
    /// Of egg-report.
    #[error(transparent)]
    Report(#[from] egg_report::Error),
}

/// The result of whatever may fail here.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the file system, with the file's name.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }

    /// A file that is not what its name says.
    pub(crate) fn format(path: &Path) -> impl FnOnce(serde_json::Error) -> Self + '_ {
        |error| Self::Format {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn measurement(error: impl Display) -> Self {
        Self::Measurement(error.to_string())
    }
}
