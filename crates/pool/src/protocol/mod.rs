//! How results are made: which splits, how many repetitions, and how settings
//! are chosen.
//!
//! | | [`Protocol::Paper`] | [`Protocol::Fair`] |
//! |---|---|---|
//! | split | GIN: the paper's own, for all repetitions; GCN: a new random one for each (80/10/10) | stratified 10-fold, 10 % of the rest for validation |
//! | loss of a batch | sum | mean |
//! | batch norm on the scores | yes | no |
//! | settings chosen | once, by the mean validation score | for each fold, by its validation score |
//! | standard deviation | ddof 0, as in the paper's tables | ddof 1 |
//!
//! [`SplitRule`] and all else can be set on its own. A data set that comes with a split of its own (OGB's) keeps it in both.
//! Tests are looked at once, at the best validation epoch, and never chosen by.

mod experiment;
mod generator;
mod grid;
mod kind;
mod parallelism;
mod preset;
mod record;
mod report;
mod run;
mod saved_experiment;
mod search;
mod splits;

pub use egg_results::Comparison;
pub use experiment::{Experiment, RunObserver, RunOptions};
pub use generator::{Stream, generator};
pub use grid::{Cell, Grid};
pub use kind::Protocol;
pub use parallelism::Parallelism;
pub use preset::Preset;
pub use record::RunRecord;
pub use report::Report;
pub use run::Run;
pub use search::{CellRecord, Failure, GridReport, GridSearch, RepetitionRecord, SearchEvent};
pub use splits::SplitRule;
