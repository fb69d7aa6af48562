//! The ways a command can fail. (Those asked for wrongly are clap's.)

use std::fmt::Display;

#[derive(Debug)]
pub(crate) enum Error {
    /// Something failed: exit code 1. The message says what to do about it.
    Failed(String),
    /// As `Failed`, but everything has been printed already.
    Reported,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An I/O (or similar) error together with what was being attempted.
    pub(crate) fn while_doing(what: impl Display, error: impl Display) -> Self {
        Self::Failed(format!("{what}: {error}"))
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(message) => f.write_str(message),
            Self::Reported => f.write_str("see above"),
        }
    }
}
