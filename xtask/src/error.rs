//! The two ways a command can go wrong: asked for wrongly, or failed.

use std::fmt::Display;

#[derive(Debug)]
pub(crate) enum Error {
    /// The command line makes no sense: exit code 2, with the help text.
    Usage { message: String, help: &'static str },
    /// Something failed: exit code 1. The message says what to do about it.
    Failed(String),
    /// As `Failed`, but everything has been printed already.
    Reported,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn usage(message: impl Into<String>, help: &'static str) -> Self {
        Self::Usage {
            message: message.into(),
            help,
        }
    }

    /// An I/O (or similar) error together with what was being attempted.
    pub(crate) fn while_doing(what: impl Display, error: impl Display) -> Self {
        Self::Failed(format!("{what}: {error}"))
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage { message, .. } | Self::Failed(message) => f.write_str(message),
            Self::Reported => f.write_str("see above"),
        }
    }
}
