//! What ends the program before its time, and with which code.

use std::error::Error;
use std::path::PathBuf;

use egg_gnn::{cluster, datasets, geometry, graph, pool};

/// The result of every command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line asks for what does not exist or does not go together.
    #[error("{0}")]
    Usage(String),
    /// Ctrl-C. The text says how to resume.
    #[error("interrupted; {0}")]
    Interrupted(String),
    /// Something that can be said in a line, with its remedy.
    #[error("{0}")]
    Other(String),
    /// The system refused a file.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// A command on some data.
    #[error("{data}: {source}")]
    In { data: String, source: Box<Failure> },
    #[error(transparent)]
    Graph(#[from] graph::Error),
    #[error(transparent)]
    Datasets(#[from] datasets::Error),
    #[error(transparent)]
    Pool(#[from] pool::Error),
    #[error(transparent)]
    Cluster(#[from] cluster::Error),
    #[error(transparent)]
    Geometry(#[from] geometry::Error),
    #[error(transparent)]
    Report(#[from] egg_report::Error),
}

impl Failure {
    /// A line that says what is wrong and what to do.
    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self::Other(text.into())
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// Of the process: 2 for usage, 130 after Ctrl-C, 1 for the rest.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Interrupted(_) => 130,
            Self::In { source, .. } => source.exit_code(),
            _ => 1,
        }
    }

    /// For standard error: one or two lines, and with `verbose` every cause.
    pub(crate) fn lines(&self, verbose: bool) -> Vec<String> {
        let label = match self {
            Self::Interrupted(_) => "",
            _ => "error: ",
        };
        let mut lines = vec![format!("{label}{self}")];
        if let Some(remedy) = self.remedy() {
            lines.push(format!("help: {remedy}"));
        }
        if verbose {
            let mut cause = self.source();
            while let Some(error) = cause {
                lines.push(format!("caused by: {error}"));
                cause = error.source();
            }
            lines.push(format!("in full: {self:?}"));
        }
        lines
    }

    /// What libraries can't know: what to type.
    fn remedy(&self) -> Option<String> {
        match self {
            Self::In { source, .. } => source.remedy(),
            Self::Graph(error) | Self::Cluster(cluster::Error::Graph(error)) => graph_remedy(error),
            Self::Datasets(error) => datasets_remedy(error),
            Self::Pool(error) => pool_remedy(error),
            Self::Cluster(cluster::Error::OtherRun { .. }) => Some(OTHER_RUN.into()),
            Self::Cluster(cluster::Error::NotOneGraph { .. }) => {
                Some("`egg cluster` clusters the nodes of one graph; for many graphs use `egg train`".into())
            }
            _ => None,
        }
        .or_else(|| disk_remedy(self))
    }
}

/// If it comes down to what a disk said when it was written to.
fn disk_remedy(failure: &Failure) -> Option<String> {
    use std::io::ErrorKind;
    let mut cause = failure.source();
    while let Some(error) = cause {
        if let Some(system) = error.downcast_ref::<std::io::Error>() {
            let remedy = match system.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                    "make room, or name a place on another disk with --out; a run that has begun resumes from its \
                     last checkpoint with --resume"
                }
                ErrorKind::ReadOnlyFilesystem => {
                    "this disk can only be read; name a place on another with --out"
                }
                _ => return None,
            };
            return Some(remedy.to_owned());
        }
        cause = error.source();
    }
    None
}

fn graph_remedy(error: &graph::Error) -> Option<String> {
    match error {
        graph::Error::Modified { .. } => Some(
            "remove it, and `egg data fetch NAME` gets it anew; --allow-modified takes it as it is".into(),
        ),
        _ => None,
    }
}

fn datasets_remedy(error: &datasets::Error) -> Option<String> {
    use datasets::Error;
    match error {
        Error::UnknownDataset { suggestion: None, .. } => Some(
            "DATA is a path, demo:covariance, demo:karate, demo:sbm:N, or one of the names that `egg data list` shows"
                .into(),
        ),
        Error::NotHere { .. } => Some(format!(
            "--datasets DIR or {} names another data folder",
            datasets::VARIABLE
        )),
        Error::Io { .. } | Error::InsideMirror { .. } => Some("--datasets DIR names another data folder".into()),
        Error::Graph(error) => graph_remedy(error),
        _ => None,
    }
}

const OTHER_RUN: &str = "the same command line is needed to resume; or name another folder with --out";

fn pool_remedy(error: &pool::Error) -> Option<String> {
    match error {
        pool::Error::Graph(error) => graph_remedy(error),
        pool::Error::InRepetition { source, .. } | pool::Error::InBatch { source, .. }
            if !error.is_divergence() =>
        {
            pool_remedy(source)
        }
        pool::Error::OtherRun { .. } => Some(OTHER_RUN.into()),
        error if error.is_divergence() => {
            Some("training ran away; a lower --lr may help, or features that are scaled".into())
        }
        pool::Error::Targets { .. } => {
            Some("`egg train` needs graphs with labels; `egg cluster` clusters the nodes of one graph".into())
        }
        _ => None,
    }
}
