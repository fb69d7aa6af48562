//! What can go wrong between the name of a data set and its files, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The result of everything in this crate that may fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a data set was not found, fetched or accepted.
///
/// ```
/// use egg_datasets::{Error, Registry};
///
/// let refused = Registry::builtin().get("PROTIENS");
/// assert!(matches!(refused, Err(Error::UnknownDataset { suggestion: Some(name), .. }) if name == "PROTEINS"));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no data set of this name.
    #[error("there is no data set `{name}`{}", suggestion.as_ref().map_or_else(String::new, |name| format!("; did you mean {name}?")))]
    UnknownDataset {
        /// As it was asked for.
        name: String,
        /// The nearest official name, if one is near.
        suggestion: Option<String>,
    },
    /// A registered data set is in none of the folders that were searched.
    #[error(
        "{name} is not here: there is no {path} in {}; `egg data fetch {name}` fetches it",
        listed(folders)
    )]
    NotHere {
        /// The official name.
        name: String,
        /// What was searched for in each folder.
        path: String,
        /// The folders that were searched.
        folders: Vec<PathBuf>,
    },
    /// A registry makes no sense.
    #[error("registry.toml: {problem}")]
    Registry {
        /// The data set and the field at fault.
        problem: String,
    },
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was being read or written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was named as a mirror is not a folder.
    #[error("the mirror {} is not a folder", folder.display())]
    NoMirror {
        /// As it was named.
        folder: PathBuf,
    },
    /// Data sets would be written into the mirror.
    #[error(
        "{} lies in the mirror {}, which is never written to; choose another data folder",
        folder.display(),
        mirror.display()
    )]
    InsideMirror {
        /// Where data sets were to go.
        folder: PathBuf,
        /// The mirror.
        mirror: PathBuf,
    },
    /// Somebody else fetches into the same folder.
    #[error("another program is fetching data sets into {}; wait for it", folder.display())]
    Busy {
        /// The data folder.
        folder: PathBuf,
    },
    /// A link in the data folder leads out of it.
    #[error("{} leads out of {}; remove the link", path.display(), folder.display())]
    LeadsOut {
        /// The link, or what is behind it.
        path: PathBuf,
        /// The data folder.
        folder: PathBuf,
    },
    /// An archive is damaged, dangerous, or lacks what it should have.
    #[error("{}: {problem}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// The member, and what is wrong with it.
        problem: String,
    },
    /// A download did not succeed.
    #[error("{url}: {problem}; or get it by other means and put it at {}", put_at.display())]
    Download {
        /// What was asked for.
        url: String,
        /// What the network or the server said.
        problem: String,
        /// Where a file that was got by other means is found.
        put_at: PathBuf,
    },
    /// What arrived is not the data set. Nothing of it was kept.
    #[error("{problem}; nothing was installed")]
    Content {
        /// The file or count that differs.
        problem: String,
    },
    /// What is in the data folder is not the data set.
    #[error("what is there is not {name}: {problem}; remove it, and fetch it again")]
    Damaged {
        /// The official name.
        name: String,
        /// The file or count that differs.
        problem: String,
    },
    /// The files are there but can't be read.
    #[error(transparent)]
    Graph(#[from] egg_graph::Error),
}

impl Error {
    /// For `map_err` on anything that touches a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

fn listed(folders: &[PathBuf]) -> String {
    let shown: Vec<String> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    shown.join(" or ")
}
