//! The grid search by successive halving: every setting is trained once, the best
//! of them more often, in one compact file.

mod record;

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering as Atomic};

use egg_graph::Split;
use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{Cell, Experiment, Failure, Grid, Parallelism, RunOptions};
use egg_pool::train::Silent;
use egg_pool::{Error, Result};
use serde::{Deserialize, Serialize};

use record::FORMAT;
pub use record::{HalvingRecord, HalvingSubject, TriedRun, TriedSetting};

/// Chooses settings by the mean validation loss, with most repetitions for those
/// that have a chance.
///
/// [`GridSearch`](egg_pool::protocol::GridSearch) gives every setting all repetitions; this
/// gives each setting the first, and the later ones only to the best so far
/// ([`Rung`]). Every run is trained to its end, and repetition *i* has the same
/// split and random numbers for all settings, so that settings are compared in
/// pairs. Narrow models come first: they are quick, and a search that is cut
/// short has more of them.
///
/// The file is written atomically after every run; a search that was
/// stopped or killed resumes from it, to the same numbers on any number of
/// threads. Test scores are in it, to show afterwards what choosing is worth.
/// Nothing here looks at them.
///
/// ```
/// use egg_graph::synthetic::CovarianceSet;
/// use egg_pool::convolution::Gcn;
/// use egg_pool::protocol::{Experiment, Grid, Parallelism, Protocol};
/// use egg_reproduce::halving::{Halving, Rung};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// use std::ops::ControlFlow;
///
/// let small = CovarianceSet { graphs: 40, ..Default::default() };
/// let dataset = small.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "sum".parse()?)?;
/// experiment.training.max_epochs = 1;
/// let graphs = experiment.prepare(dataset)?;
/// let search = Halving {
///     experiment,
///     grid: Grid { weight_decay: vec![5e-4], hidden: vec![4], ..Grid::paper() },
///     rungs: vec![Rung { settings: 6, repetitions: 1 }, Rung { settings: 2, repetitions: 2 }],
///     parallelism: Parallelism::Auto,
/// };
/// let folder = tempfile::tempdir()?;
/// let record = search.run(&folder.path().join("grid.json"), &graphs, None, &|_| ControlFlow::Continue(()))?;
/// assert_eq!(record.settings.len(), 6);
/// assert_eq!(record.settings.iter().map(|setting| setting.runs.len()).sum::<usize>(), 8);
/// assert!(record.chosen.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Halving {
    /// What to train; its settings are replaced by each cell's, and how often it is
    /// repeated by the rungs.
    pub experiment: Experiment,
    /// The values to try.
    pub grid: Grid,
    /// From many settings with few repetitions to few with many.
    pub rungs: Vec<Rung>,
    /// What the cores share: runs.
    pub parallelism: Parallelism,
}

/// A step of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    /// How many settings get here, the best of those before; all if there are fewer.
    pub settings: usize,
    /// How many repetitions each has then.
    pub repetitions: usize,
}

impl Rung {
    /// All settings once, the best twelve three times, the best four of these five
    /// times: 104 runs for EGG in the paper's grid, where all five times are 360.
    pub const PAPER: &'static [Self] = &[Self::new(usize::MAX, 1), Self::new(12, 3), Self::new(4, 5)];

    const fn new(settings: usize, repetitions: usize) -> Self {
        Self {
            settings,
            repetitions,
        }
    }
}

/// What happens in a search.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum HalvingEvent<'a> {
    /// A run is about to begin; to break lets those that are running end, and
    /// begins no other.
    Begin {
        /// The setting.
        cell: &'a Cell,
        /// Which repetition of it, from 1.
        repetition: usize,
    },
    /// A run is in the file.
    Done {
        /// The setting.
        cell: &'a Cell,
        /// What came of it; `None` if it diverged.
        run: Option<&'a TriedRun>,
    },
}

impl Halving {
    /// Trains what the file at `path` lacks. If `on_event` breaks, what is there is
    /// returned, with nothing chosen.
    ///
    /// # Errors
    /// [`Error::Setting`] of a grid or rungs that are empty, [`Error::OtherRun`] if
    /// the file is of another search, [`Error::File`] if it can't be read or
    /// written, [`Error::InRepetition`] if training failed in another way than by
    /// diverging, [`Error::AllCellsFailed`] if every setting diverged.
    pub fn run(
        &self,
        path: &Path,
        graphs: &PreparedGraphs,
        revision: Option<String>,
        on_event: &(dyn Fn(HalvingEvent<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<HalvingRecord> {
        let mut record = self.open(path, graphs, revision)?;
        let mut remaining: Vec<usize> = (0..record.settings.len()).collect();
        let mut repetitions = 0;
        for rung in &self.rungs {
            // By the repetitions that all of them have, whatever of this rung is there.
            remaining.sort_by(|&a, &b| better(&record.settings, repetitions, a, b));
            remaining.retain(|&at| !record.settings[at].failed(repetitions));
            remaining.truncate(rung.settings);
            repetitions = rung.repetitions;
            // Those that are quick first.
            remaining.sort_by_key(|&at| (record.settings[at].cell.hidden, at));
            let todo: Vec<(usize, usize)> = remaining
                .iter()
                .flat_map(|&at| (1..=rung.repetitions).map(move |repetition| (at, repetition)))
                .filter(|&(at, repetition)| !record.settings[at].has(repetition))
                .collect();
            let (grown, stopped) = self.train(path, record, &todo, graphs, on_event)?;
            record = grown;
            if stopped {
                return Ok(record);
            }
        }
        let best = remaining
            .into_iter()
            .min_by(|&a, &b| better(&record.settings, repetitions, a, b));
        match best.map(|at| &record.settings[at]) {
            Some(best) if !best.failed(repetitions) => record.chosen = Some(best.cell),
            _ => {
                let mut failures = record.settings.iter().flat_map(|setting| &setting.failures);
                return Err(Error::AllCellsFailed {
                    cells: record.settings.len(),
                    first: failures
                        .next()
                        .map_or_else(String::new, |failure| failure.reason.clone()),
                });
            }
        }
        record.save(path)?;
        Ok(record)
    }

    /// The search that the file is of, or a new one.
    fn open(&self, path: &Path, graphs: &PreparedGraphs, revision: Option<String>) -> Result<HalvingRecord> {
        let cells = self.grid.cells(&self.experiment);
        let most = self.rungs.iter().map(|rung| rung.repetitions).max();
        let most = most
            .filter(|most| *most > 0 && !cells.is_empty())
            .ok_or_else(|| Error::Setting {
                name: "grid",
                value: "empty".to_owned(),
                requirement: "at least one value of each setting, and a repetition".to_owned(),
            })?;
        let experiment = Experiment {
            repetitions: most,
            ..self.experiment.clone()
        };
        let splits = experiment.splits(graphs.dataset())?;
        let rungs = self.rungs.iter().map(|rung| Rung {
            settings: rung.settings.min(cells.len()),
            ..*rung
        });
        let subject = HalvingSubject {
            format: FORMAT,
            dataset: graphs.dataset().name().to_owned(),
            graphs: graphs.dataset().len(),
            fingerprint: graphs.fingerprint().to_owned(),
            experiment,
            grid: self.grid.clone(),
            rungs: rungs.collect(),
            splits: splits.iter().map(Split::digest).collect(),
        };
        if path.exists() {
            let mut found = HalvingRecord::load(path)?;
            if found.subject != subject {
                return Err(Error::OtherRun {
                    path: path.to_owned(),
                    difference: "it is a search of other data, settings or splits".to_owned(),
                });
            }
            // All programs that had a part in it, in order; one that only looks has none.
            if found.chosen.is_none() {
                found.revision = match (found.revision, revision) {
                    (Some(old), Some(new)) if !old.ends_with(&new) => Some(format!("{old}, {new}")),
                    (old, new) => old.or(new),
                };
            }
            return Ok(found);
        }
        Ok(HalvingRecord {
            subject,
            revision,
            machine: crate::provenance::machine(),
            chosen: None,
            settings: cells
                .into_iter()
                .map(|cell| TriedSetting {
                    cell,
                    runs: Vec::new(),
                    failures: Vec::new(),
                })
                .collect(),
        })
    }

    /// The record with these runs in it, and whether it was stopped before the last.
    fn train(
        &self,
        path: &Path,
        record: HalvingRecord,
        todo: &[(usize, usize)],
        graphs: &PreparedGraphs,
        on_event: &(dyn Fn(HalvingEvent<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(HalvingRecord, bool)> {
        let base = record.subject.experiment.clone();
        let splits = base.splits(graphs.dataset())?;
        let cells: Vec<Cell> = record.settings.iter().map(|setting| setting.cell).collect();
        let record = Mutex::new(record);
        let stopped = AtomicBool::new(false);
        let metric = base.training.metric;
        self.parallelism.run(todo.len(), |job| {
            let (at, repetition) = todo[job];
            let cell = &cells[at];
            let begin = HalvingEvent::Begin { cell, repetition };
            if stopped.load(Atomic::Relaxed) || on_event(begin).is_break() {
                stopped.store(true, Atomic::Relaxed);
                return Ok(());
            }
            let split = &splits[repetition - 1];
            let options = RunOptions::default();
            let outcome = cell
                .apply(&base)
                .repetition(graphs, split, repetition - 1, &options, &mut Silent);
            let run = match outcome {
                Ok((_, outcome)) => Ok(TriedRun::from_outcome(&outcome, repetition, metric)?),
                Err(error) if error.is_divergence() => Err(Failure {
                    repetition,
                    reason: error.to_string(),
                }),
                Err(error) => {
                    return Err(Error::InRepetition {
                        repetition,
                        source: Box::new(error),
                    });
                }
            };
            let mut record = record.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            record.settings[at].add(run.clone());
            record.save(path)?;
            let done = HalvingEvent::Done {
                cell,
                run: run.as_ref().ok(),
            };
            if on_event(done).is_break() {
                stopped.store(true, Atomic::Relaxed);
            }
            Ok(())
        })?;
        let record = record
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let whole = todo
            .iter()
            .all(|&(at, repetition)| record.settings[at].has(repetition));
        Ok((record, !whole))
    }
}

/// The lower loss, then the one that comes first.
fn better(settings: &[TriedSetting], repetitions: usize, a: usize, b: usize) -> Ordering {
    let loss = |at: usize| settings[at].validation_loss(repetitions);
    loss(a).total_cmp(&loss(b)).then(a.cmp(&b))
}
