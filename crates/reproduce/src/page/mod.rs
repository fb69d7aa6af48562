//! `docs/RESULTS.md`, `docs/results/DETAILS.md` and their figures, made of the records alone: no
//! number in them is typed by hand.

mod classification;
mod cluster;
mod details;
mod figures;
mod glance;
mod grid;
#[cfg(test)]
mod made_up;
mod maps;
mod pooled;
mod published;
mod records;
mod table;
mod verdicts;
mod words;

use std::path::{Path, PathBuf};

use crate::architecture::Architecture;

use crate::error::{Error, Result};
use crate::files;
use crate::paper::FIGURE_DATASET;

/// Where records are, below the folder of the results. Those of Tables 2 and 3 are where
/// [`Cell::record`](crate::cell::Cell::record) says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    results: &'a Path,
}

impl<'a> Places<'a> {
    pub(crate) fn new(results: &'a Path) -> Self {
        Self { results }
    }

    /// All settings of a grid that were tried.
    pub(crate) fn search(&self, dataset: &str, architecture: Architecture, pooling: &str) -> PathBuf {
        let name = grid::name(dataset, architecture, pooling);
        self.results.join(format!("grid/{name}.json"))
    }

    /// The repetitions of the chosen one.
    pub(crate) fn chosen(&self, dataset: &str, architecture: Architecture, pooling: &str) -> PathBuf {
        let name = grid::name(dataset, architecture, pooling);
        self.results.join(format!("grid/{name}-chosen.json"))
    }

    /// A point of the sensitivity.
    pub(crate) fn sensitivity(&self, architecture: Architecture, threshold: f64) -> PathBuf {
        let dataset = FIGURE_DATASET.to_lowercase();
        self.results
            .join(format!("sensitivity/{dataset}-{architecture}-{threshold}.json"))
    }

    /// How a model learnt.
    pub(crate) fn curve(&self, architecture: Architecture) -> PathBuf {
        let dataset = FIGURE_DATASET.to_lowercase();
        self.results
            .join(format!("curves/{dataset}-{architecture}-egg.json"))
    }

    /// Maps.
    pub(crate) fn map(&self, name: &str) -> PathBuf {
        self.results.join(format!("tsne/{name}.json"))
    }

    /// A clustering.
    pub(crate) fn clustering(&self, dataset: &str, preset: &str) -> PathBuf {
        self.results
            .join(format!("cluster/{}-{preset}.json", dataset.to_lowercase()))
    }
}

/// `RESULTS.md`.
///
/// # Errors
/// If a record can't be read, or `words.md` names one that is not there.
pub fn rendered(results: &Path) -> Result<String> {
    let path = results.join("words.md");
    let words = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
    let mut page = words::fill(results, &words)?;
    append(
        &mut page,
        &[
            classification::section(results, Architecture::Gcn)?,
            classification::section(results, Architecture::Gin)?,
            classification::fair(results)?,
            pooled::section(results)?,
            grid::section(results)?,
            cluster::section(results)?,
            figures::section(results)?,
            maps::section(results)?,
        ],
    );
    Ok(page)
}

/// `results/DETAILS.md`, which has what the first page leaves out.
///
/// # Errors
/// If a record can't be read.
pub fn details(results: &Path) -> Result<String> {
    let mut page = details::opening();
    append(
        &mut page,
        &[
            details::section(results)?,
            grid::details(results)?,
            cluster::details(results)?,
        ],
    );
    Ok(page)
}

fn append(page: &mut String, parts: &[String]) {
    for part in parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
    {
        page.push('\n');
        page.push_str(part);
        page.push('\n');
    }
}

/// Each figure with its file name; those without records are not there.
///
/// # Errors
/// If a record can't be read.
pub fn drawn(results: &Path) -> Result<Vec<(String, String)>> {
    Ok([figures::drawn(results)?, maps::drawn(results)?].concat())
}

/// Writes the first page next to the folder of the results, the second and the figures into it; returns the path of the first.
///
/// # Errors
/// As [`rendered`], or if a file can't be written.
pub fn write(results: &Path) -> Result<PathBuf> {
    let page = results.with_file_name("RESULTS.md");
    files::write(&page, &rendered(results)?)?;
    files::write(&results.join("DETAILS.md"), &details(results)?)?;
    for (name, figure) in drawn(results)? {
        files::write(&results.join("figures").join(name), &figure)?;
    }
    Ok(page)
}
