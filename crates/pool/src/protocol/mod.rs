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
//! A data set that comes with a split of its own (OGB's) keeps it in both.
//! Tests are looked at once, at the best validation epoch, and never chosen by.

mod experiment;
mod grid;
mod jobs;
mod kind;
mod preset;
mod record;
mod report;
mod search;

pub use experiment::{Experiment, Follow, RunOptions};
pub use grid::{Cell, Grid};
pub use jobs::Parallelism;
pub use kind::Protocol;
pub use record::RunRecord;
pub use report::Report;
pub use search::{CellRecord, Failure, GridReport, GridSearch, RepetitionRecord, SearchEvent};
