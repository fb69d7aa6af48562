//! The grid search, with a record on disk for each finished cell.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use egg_nn::Goal;
use egg_results::Summary;
use serde::{Deserialize, Serialize};

use super::experiment::{Experiment, RunOptions};
use super::grid::{Cell, Grid};
use super::kind::Protocol;
use super::parallelism::Parallelism;
use crate::data::PreparedGraphs;
use crate::error::{Error, Result};
use crate::json;
use crate::metrics::Metric;
use crate::train::{Event, Outcome, PartReport, RankSummary};

/// Trains an experiment with every combination of settings.
///
/// A finished cell is a JSON file in [`Self::folder`], with a checksum, written
/// atomically. A search that was killed, or cancelled, goes on with the cells that
/// have none. A cell whose training diverges is recorded as
/// [failed](CellRecord::failures) and never chosen; the search goes on.
#[derive(Debug, Clone)]
pub struct GridSearch {
    /// What to train; its own settings are replaced by each cell's.
    pub experiment: Experiment,
    /// The values to try.
    pub grid: Grid,
    /// Where the records go. It is made if it is not there.
    pub folder: PathBuf,
    /// What the cores share: here, cells and repetitions.
    pub parallelism: Parallelism,
}

/// What happens in a search.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SearchEvent<'a> {
    /// The search begins.
    Started {
        /// Cells that have a record already.
        done: usize,
        /// All cells.
        cells: usize,
    },
    /// Something in one run.
    Training {
        /// Which cell, from 0.
        cell: usize,
        /// Which repetition, from 0.
        repetition: usize,
        /// What.
        event: Event<'a>,
    },
    /// A cell's record is on disk.
    Cell {
        /// Which, from 0.
        cell: usize,
        /// The record.
        record: &'a CellRecord,
    },
}

/// One repetition of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepetitionRecord {
    /// The validation part at the best epoch: what cells are chosen by.
    pub validation: PartReport,
    /// The test part at the same epoch: reported for the chosen cell, and
    /// looked at by nothing before.
    pub test: Option<PartReport>,
    /// The best epoch, from 1.
    pub best_epoch: u64,
    /// How many epochs were trained.
    pub epochs: usize,
    /// How long they took.
    pub seconds: f64,
    /// The ranks p that graphs kept in training, in the best epoch, for each
    /// pooling that makes subspaces.
    #[serde(default)]
    pub ranks: Vec<RankSummary>,
}

/// A repetition that came to no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Counted from 1.
    pub repetition: usize,
    /// What was said: the epoch and batch where a loss was no number.
    pub reason: String,
}

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Its settings.
    pub cell: Cell,
    /// The experiment with these settings.
    pub experiment: Experiment,
    /// Of the graphs as the model saw them.
    pub fingerprint: String,
    /// In order; without those that failed.
    pub repetitions: Vec<RepetitionRecord>,
    /// Repetitions that diverged. A cell with one is not chosen.
    #[serde(default)]
    pub failures: Vec<Failure>,
}

impl CellRecord {
    /// Whether a repetition diverged.
    pub fn failed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Whether its numbers can be those of a search.
    fn is_consistent(&self) -> bool {
        let most = self.experiment.training.max_epochs;
        self.repetitions.iter().all(|one| {
            let epochs = one.epochs as u64;
            let parts = std::iter::once(&one.validation).chain(&one.test);
            (1..=epochs).contains(&one.best_epoch)
                && epochs <= most
                && parts.clone().all(PartReport::is_consistent)
        })
    }
}

/// What came of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridReport {
    /// What was searched.
    pub experiment: Experiment,
    /// All cells, those that failed included.
    pub cells: Vec<CellRecord>,
    /// Which cell each repetition was given, by validation alone: one for all
    /// in [`Protocol::Paper`], its own in [`Protocol::Fair`].
    pub chosen: Vec<usize>,
    /// The validation metric of the chosen ones; `None` where it is not defined.
    pub validation: Option<Summary>,
    /// The test metric of the chosen ones; `None` where it is not defined.
    pub test: Option<Summary>,
}

impl GridSearch {
    /// Trains the cells that have no record, and chooses.
    ///
    /// # Errors
    /// [`Error::OtherRun`] if the folder has a record of another experiment or
    /// other data, [`Error::File`] if it can't be written, [`Error::Cancelled`]
    /// if the observer broke, [`Error::InRepetition`] if training failed in another
    /// way than by diverging, [`Error::AllCellsFailed`] if every cell diverged.
    pub fn run(
        &self,
        graphs: &PreparedGraphs,
        observer: &(dyn Fn(SearchEvent<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<GridReport> {
        std::fs::create_dir_all(&self.folder).map_err(Error::file(&self.folder))?;
        let cells = self.grid.cells(&self.experiment);
        if cells.is_empty() || self.experiment.repetitions == 0 {
            return Err(Error::setting(
                "grid",
                "empty",
                "at least one value of each setting",
            ));
        }
        let mut records = Vec::with_capacity(cells.len());
        for cell in &cells {
            records.push(self.kept(cell, graphs)?);
        }
        let todo: Vec<usize> = (0..cells.len()).filter(|at| records[*at].is_none()).collect();
        let started = SearchEvent::Started {
            done: cells.len() - todo.len(),
            cells: cells.len(),
        };
        if observer(started).is_break() {
            return Err(Error::Cancelled);
        }
        for (at, record) in self.train(&cells, &todo, graphs, observer)? {
            records[at] = Some(record);
        }
        self.choose(records.into_iter().flatten().collect())
    }

    fn path(&self, cell: &Cell) -> PathBuf {
        self.folder.join(format!("{cell}.json"))
    }

    /// The record of a cell, if there is one, and if it is of this search.
    fn kept(&self, cell: &Cell, graphs: &PreparedGraphs) -> Result<Option<CellRecord>> {
        let path = self.path(cell);
        if !path.exists() {
            return Ok(None);
        }
        let record: CellRecord = json::read_sealed(&path)?;
        let difference = if record.fingerprint != graphs.fingerprint() {
            Some("it was trained on other data")
        } else if record.experiment != cell.apply(&self.experiment) {
            Some("it was trained with other settings")
        } else if record.repetitions.len() + record.failures.len() != self.experiment.repetitions {
            Some("it has another number of repetitions")
        } else if !record.is_consistent() {
            Some("its numbers contradict each other")
        } else {
            None
        };
        match difference {
            None => Ok(Some(record)),
            Some(difference) => Err(Error::OtherRun {
                path,
                difference: difference.to_owned(),
            }),
        }
    }

    /// Trains all repetitions of some cells. Each cell is written as soon as its
    /// last repetition is done.
    fn train(
        &self,
        cells: &[Cell],
        todo: &[usize],
        graphs: &PreparedGraphs,
        observer: &(dyn Fn(SearchEvent<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<(usize, CellRecord)>> {
        let repetitions = self.experiment.repetitions;
        // Of the seed and the rule only: the same for all cells.
        let splits = self.experiment.splits(graphs.dataset())?;
        let experiments: Vec<Experiment> = todo.iter().map(|&at| cells[at].apply(&self.experiment)).collect();
        let finished: Vec<_> = todo.iter().map(|_| Mutex::new(vec![None; repetitions])).collect();
        let cancelled = AtomicBool::new(false);
        let options = RunOptions::default();
        let records = self.parallelism.run(todo.len() * repetitions, |job| {
            let (row, repetition) = (job / repetitions, job % repetitions);
            let (cell, experiment) = (todo[row], &experiments[row]);
            let training = |event: Event<'_>| {
                observer(SearchEvent::Training {
                    cell,
                    repetition,
                    event,
                })
            };
            let split = &splits[repetition];
            // All repetitions of a cell are run, whichever fails first: what is
            // recorded must not depend on threads.
            let run = match experiment.uncancelled(graphs, split, repetition, &options, &training, &cancelled)
            {
                Ok((_, outcome)) => Ok(RepetitionRecord::from_outcome(&outcome)?),
                Err(Error::InRepetition { repetition, source }) if source.is_divergence() => Err(Failure {
                    repetition,
                    reason: source.to_string(),
                }),
                Err(error) => return Err(error),
            };
            let mut row = finished[row]
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            row[repetition] = Some(run);
            if row.iter().any(Option::is_none) {
                return Ok(None);
            }
            let mut record = CellRecord {
                cell: cells[cell],
                experiment: experiment.clone(),
                fingerprint: graphs.fingerprint().to_owned(),
                repetitions: Vec::new(),
                failures: Vec::new(),
            };
            for run in row.drain(..).flatten() {
                match run {
                    Ok(run) => record.repetitions.push(run),
                    Err(failure) => record.failures.push(failure),
                }
            }
            json::write_sealed(&self.path(&cells[cell]), &record)?;
            let event = SearchEvent::Cell {
                cell,
                record: &record,
            };
            if observer(event).is_break() {
                return Err(Error::Cancelled);
            }
            Ok(Some((cell, record)))
        })?;
        Ok(records.into_iter().flatten().collect())
    }

    /// Chooses by validation, and only then looks at the tests.
    fn choose(&self, cells: Vec<CellRecord>) -> Result<GridReport> {
        let metric = self.experiment.training.metric;
        let repetitions = self.experiment.repetitions;
        let all: Vec<usize> = (0..repetitions).collect();
        let best = |repetitions: &[usize]| {
            best(&cells, repetitions, metric).ok_or_else(|| Error::AllCellsFailed {
                cells: cells.len(),
                first: match cells.first().and_then(|cell| cell.failures.first()) {
                    Some(failure) => failure.reason.clone(),
                    None => String::new(),
                },
            })
        };
        let chosen: Vec<usize> = match self.experiment.protocol {
            Protocol::Paper => vec![best(&all)?; repetitions],
            Protocol::Fair => all.iter().map(|&fold| best(&[fold])).collect::<Result<_>>()?,
        };
        let summary = |part: fn(&RepetitionRecord) -> Option<&PartReport>| {
            let numbers = chosen
                .iter()
                .enumerate()
                .map(|(repetition, &cell)| part(&cells[cell].repetitions[repetition])?.scores.get(metric));
            let ddof = self.experiment.protocol.ddof();
            Summary::from_values(&numbers.collect::<Option<Vec<f64>>>()?, ddof)
        };
        Ok(GridReport {
            experiment: self.experiment.clone(),
            validation: summary(|record| Some(&record.validation)),
            test: summary(|record| record.test.as_ref()),
            chosen,
            cells,
        })
    }

    /// The folder of the records.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl RepetitionRecord {
    /// Of a run that was not cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`] of one that was.
    pub fn from_outcome(outcome: &Outcome) -> Result<Self> {
        match (&outcome.validation, outcome.best_epoch) {
            (Some(validation), Some(best_epoch)) => Ok(Self {
                validation: validation.clone(),
                test: outcome.test.clone(),
                best_epoch,
                epochs: outcome.history.len(),
                seconds: outcome.seconds(),
                ranks: match outcome.history.iter().find(|epoch| epoch.epoch == best_epoch) {
                    Some(epoch) => epoch.ranks.clone(),
                    None => Vec::new(),
                },
            }),
            // A run that ended by itself has had an epoch.
            _ => Err(Error::Cancelled),
        }
    }
}

/// The cell with the best mean validation metric over some repetitions; of
/// equal ones that with the lower mean loss, then the first. `None` if all
/// failed.
fn best(cells: &[CellRecord], repetitions: &[usize], metric: Metric) -> Option<usize> {
    let mean = |cell: &CellRecord, of: &dyn Fn(&PartReport) -> Option<f64>| {
        let parts = repetitions.iter().map(|&at| of(&cell.repetitions[at].validation));
        let sum: Option<f64> = parts.sum();
        sum.map(|sum| sum / repetitions.len() as f64)
    };
    let compare = |a: &CellRecord, b: &CellRecord| {
        let score = |cell| mean(cell, &|part| part.scores.get(metric));
        let loss = |cell| mean(cell, &|part| Some(part.loss)).unwrap_or(f64::INFINITY);
        let by_score = match (score(a), score(b)) {
            (Some(a), Some(b)) if metric.goal() == Goal::Max => b.total_cmp(&a),
            (Some(a), Some(b)) => a.total_cmp(&b),
            // Where a metric is not defined, the loss decides.
            _ => Ordering::Equal,
        };
        by_score.then_with(|| loss(a).total_cmp(&loss(b)))
    };
    (0..cells.len())
        .filter(|&at| !cells[at].failed())
        .min_by(|a, b| compare(&cells[*a], &cells[*b]))
}
