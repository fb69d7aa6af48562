//! Runs the paper's experiments and keeps every repetition on disk.

mod request;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::architecture::Architecture;
use egg_graph::GraphDataset;
use egg_pool::protocol::{Cell as Setting, Experiment, Grid, Parallelism, Protocol, RunOptions};
use egg_pool::train::Event;

use crate::budget::Budget;
use crate::cell::{Cell, DATASETS, POOLINGS, SETTING};
use crate::cluster;
use crate::error::{Error, Result};
use crate::halving::{Halving, HalvingEvent, HalvingRecord, Rung};
use crate::page::Places;
use crate::{curves, data, growing, maps, page, preset, provenance};
pub use request::Request;
use request::{Figure, Table};

/// The data sets of the grid, in the order in which they are run.
pub const GRID_DATASETS: [&str; 2] = ["PROTEINS", "NCI1"];
/// Its poolings.
pub const GRID_POOLINGS: [&str; 2] = ["egg", "sum"];
/// The thresholds r of the sensitivity.
pub const THRESHOLDS: [f64; 7] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// The data set of sensitivity and curves.
pub const FIGURE_DATASET: &str = "PROTEINS";

/// Does what was asked for, with the records in `results`; the page is next to that folder.
///
/// # Errors
/// Whatever went wrong; of Tables 2 and 3 after all other cells were run.
pub fn run(request: &Request, results: &Path) -> Result<()> {
    let runner = Runner {
        request,
        results,
        places: Places::new(results),
        budget: Budget::new(request.budget),
        revision: provenance::revision(),
    };
    for table in &request.table {
        match table {
            Table::Gcn => runner.cells(Architecture::Gcn)?,
            Table::Gin => runner.cells(Architecture::Gin)?,
            Table::Grid => runner.grid()?,
            Table::Cluster => runner.clustering()?,
        }
    }
    for figure in &request.figure {
        match figure {
            Figure::Sensitivity => runner.sensitivity()?,
            Figure::Curves => runner.curves()?,
            Figure::Maps(figure) => runner.maps(*figure)?,
        }
    }
    if request.render {
        let page = page::write(results)?;
        println!("Wrote {}", page.display());
    }
    Ok(())
}

/// What every experiment needs.
struct Runner<'a> {
    request: &'a Request,
    results: &'a Path,
    places: Places<'a>,
    budget: Budget,
    revision: String,
}

impl Runner<'_> {
    /// Makes or extends the record at `path`; breaks if there is no time left to begin.
    fn step(&self, path: &Path, work: impl FnOnce() -> Result<()>) -> Result<ControlFlow<()>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if self.budget.is_over() {
            println!("Time is up before {name}: call again to continue");
            return Ok(ControlFlow::Break(()));
        }
        println!("{name}");
        let begin = Instant::now();
        work()?;
        println!("  {:.0} s", begin.elapsed().as_secs_f64());
        Ok(ControlFlow::Continue(()))
    }

    /// The repetitions that a record lacks.
    fn extend(&self, path: &Path, experiment: Experiment, dataset: &GraphDataset) -> Result<ControlFlow<()>> {
        self.step(path, || {
            let experiment = Experiment {
                repetitions: self.request.reps.get(),
                ..experiment
            };
            let graphs = experiment.prepare(dataset.clone())?;
            let revision = Some(self.revision.clone());
            growing::extend(path, &experiment, &graphs, revision, &self.budget, &watch_nothing)?;
            Ok(())
        })
    }

    /// Tables 2 and 3.
    fn cells(&self, architecture: Architecture) -> Result<()> {
        let mut failed = Vec::new();
        'datasets: for name in self.request.datasets_or(&DATASETS) {
            let mut loaded = None;
            for pooling in self.request.poolings_or(&POOLINGS) {
                let cell = Cell {
                    dataset: name,
                    architecture,
                    pooling,
                    protocol: self.request.protocol,
                };
                let mut run = || {
                    if loaded.is_none() && !self.budget.is_over() {
                        loaded = Some(data::load(name)?);
                    }
                    let path = cell.record(self.results);
                    match &loaded {
                        Some(dataset) => self.extend(&path, cell.experiment(dataset)?, dataset),
                        None => self.step(&path, || Ok(())),
                    }
                };
                match run() {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => break 'datasets,
                    // One cell that fails is no reason not to run the others.
                    Err(error) => failed.push(format!("{}: {error}", cell.file())),
                }
                if loaded.is_none() {
                    break;
                }
            }
        }
        match failed.is_empty() {
            true => Ok(()),
            false => Err(Error::Several(failed)),
        }
    }

    /// Goes on with the searches, one after the other; each is tested once it is over.
    fn grid(&self) -> Result<()> {
        for name in self.request.datasets_or(&GRID_DATASETS) {
            let dataset = data::load(name)?;
            for &architecture in Architecture::ALL {
                for pooling in self.request.poolings_or(&GRID_POOLINGS) {
                    let experiment =
                        preset::experiment(&dataset, Protocol::Paper, architecture, pooling.parse()?)?;
                    let path = self.places.search(name, architecture, pooling);
                    let searched = self.step(&path, || self.search(&path, experiment.clone(), &dataset))?;
                    if searched.is_break() {
                        return Ok(());
                    }
                    let Some(chosen) = HalvingRecord::load(&path)?.chosen else {
                        continue;
                    };
                    let tested = self.places.chosen(name, architecture, pooling);
                    if self
                        .extend(&tested, chosen.apply(&experiment), &dataset)?
                        .is_break()
                    {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn search(&self, path: &Path, experiment: Experiment, dataset: &GraphDataset) -> Result<()> {
        let graphs = experiment.prepare(dataset.clone())?;
        let search = Halving {
            experiment: Experiment {
                repetitions: 1,
                ..experiment
            },
            grid: Grid::paper(),
            rungs: Rung::PAPER.to_vec(),
            parallelism: Parallelism::Auto,
        };
        let revision = Some(self.revision.clone());
        let record = search.run(path, &graphs, revision, &|event| match event {
            HalvingEvent::Begin { .. } if self.budget.is_over() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })?;
        match record.chosen {
            Some(chosen) => println!("  chosen by the validation loss: {chosen}"),
            None => println!("  time is up: call again to continue"),
        }
        Ok(())
    }

    fn clustering(&self) -> Result<()> {
        for name in self.request.datasets_or(&cluster::DATASETS) {
            cluster::run(
                name,
                self.request.preset,
                0..self.request.reps.get() as u64,
                &self.results.join("cluster"),
                &self.revision,
                &self.budget,
            )?;
        }
        Ok(())
    }

    fn sensitivity(&self) -> Result<()> {
        let dataset = data::load(FIGURE_DATASET)?;
        for &architecture in Architecture::ALL {
            for threshold in THRESHOLDS {
                let preset = preset::experiment(&dataset, Protocol::Paper, architecture, "egg".parse()?)?;
                let setting = Setting {
                    threshold: Some(threshold),
                    ..SETTING
                };
                let path = self.places.sensitivity(architecture, threshold);
                if self.extend(&path, setting.apply(&preset), &dataset)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// With the settings of the table, which are EGG's own there.
    fn curves(&self) -> Result<()> {
        let dataset = data::load(FIGURE_DATASET)?;
        let missing = |path: &PathBuf| !path.exists();
        for &architecture in Architecture::ALL {
            let Some(path) = Some(self.places.curve(architecture)).filter(missing) else {
                continue;
            };
            let made = self.step(&path, || {
                let mut experiment =
                    preset::experiment(&dataset, Protocol::Paper, architecture, "egg".parse()?)?;
                experiment.repetitions = self.request.reps.get();
                let graphs = experiment.prepare(dataset.clone())?;
                let run = experiment.run(&graphs, &RunOptions::default(), &watch_nothing)?;
                curves::save(&path, &run, &graphs, Some(self.revision.clone()))
            })?;
            if made.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn maps(&self, figure: maps::Figure) -> Result<()> {
        for subject in figure.subjects() {
            let path = self.places.map(subject.name);
            if path.exists() {
                continue;
            }
            let made = self.step(&path, || subject.record(&self.revision)?.save(&path))?;
            if made.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Progress is reported by the cell, not by the epoch.
fn watch_nothing(_: usize, _: Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
