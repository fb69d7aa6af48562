//! What the program understands.

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

use crate::error::{Error, Result};
use crate::{cluster, covariance, paper, scale, trial, tried};

/// The paper's tables and figures, made by the libraries that users call.
///
/// Data sets are looked for where `egg data path` says. Set CANDLE_NUM_THREADS=1 for
/// whatever trains (`cargo xtask bench` does): candle's own threads wait for work in a busy loop.
#[derive(Debug, Parser)]
#[command(name = "egg-reproduce", version)]
pub struct Command {
    /// The folder of the records; docs/results here or above if not given.
    #[arg(long, global = true, value_name = "DIR")]
    results: Option<PathBuf>,
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Paper(paper::Request),
    Scale(scale::Request),
    Trial(trial::Request),
    Tried(tried::Request),
    Covariance(covariance::Request),
    Tune(cluster::tune::Request),
    ClusterScale(cluster::scale::Request),
}

impl Command {
    /// Does what was asked for.
    ///
    /// # Errors
    /// Whatever went wrong.
    pub fn run(&self) -> Result<()> {
        let results = || match &self.results {
            Some(folder) => Ok(folder.clone()),
            None => results_folder(),
        };
        match &self.task {
            Task::Paper(request) => paper::run(request, &results()?),
            Task::Scale(request) => scale::run(request),
            Task::Trial(request) => trial::run(request),
            Task::Tried(request) => tried::run(request),
            Task::Covariance(request) => covariance::run(request),
            Task::Tune(request) => cluster::tune::run(request),
            Task::ClusterScale(request) => cluster::scale::run(request),
        }
    }
}

/// `docs/results` of the workspace that this is run in.
fn results_folder() -> Result<PathBuf> {
    let here = std::env::current_dir().map_err(Error::file(Path::new(".")))?;
    // Where cargo started it from, if it did.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let starts = [Some(here), package];
    let folders = starts.iter().flatten().flat_map(|start| start.ancestors());
    let mut folders = folders.map(|folder| folder.join("docs/results"));
    folders.find(|folder| folder.is_dir()).ok_or(Error::NoResults)
}

/// Names are written as in `all`, whatever the case they were typed in.
pub(crate) fn known(
    what: &str,
    name: &str,
    all: &[&'static str],
) -> std::result::Result<&'static str, String> {
    let found = all.iter().find(|known| known.eq_ignore_ascii_case(name.trim()));
    found
        .copied()
        .ok_or_else(|| format!("there is no {what} `{name}`, but {}", all.join(", ")))
}
