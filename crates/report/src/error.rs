//! The errors of this crate.

use std::path::PathBuf;

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system reported an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The file is JSON, but not a record.
    #[error("{}: not the record of a run (no `\"format\": \"egg-record\"`); give a folder that `egg train`, `egg cluster` or `egg sweep` wrote", path.display())]
    NotARecord {
        /// The file.
        path: PathBuf,
    },
    /// The file has a version that is not supported.
    #[error("{}: record version {found}, but only versions up to {known} are known here; use a newer egg", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The newest supported version.
        known: u64,
    },
    /// The file is broken.
    #[error("{}: line {line}, column {column}: {message}; the file is damaged, run the command again", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What was wrong.
        message: String,
    },
    /// A record could not be written as JSON.
    #[error("the record of {title:?} can't be written as JSON: {message}")]
    Unwritable {
        /// Its title.
        title: String,
        /// What was wrong.
        message: String,
    },
    /// Two lists that belong together have different lengths.
    #[error("{what}: found {found}, expected {expected}")]
    Lengths {
        /// What they are.
        what: String,
        /// How many there were.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// There is nothing to show.
    #[error("there are no records: run `egg train`, `egg cluster` or `egg sweep` with --out first")]
    Nothing,
    /// A chart could not be drawn.
    #[error("the chart {chart:?} could not be drawn: {message}")]
    Drawing {
        /// Its title.
        chart: String,
        /// What was wrong.
        message: String,
    },
}

impl Error {
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}
