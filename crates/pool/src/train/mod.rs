//! Training that can be watched, stopped and resumed.
//!
//! [`Trainer`] runs Adam over a [`Split`](egg_graph::Split) as a
//! [`TrainConfig`] says, reports to an [`Observer`], and leaves the model at its best
//! validation epoch. With a checkpoint on disk a run that was killed resumes bit for
//! bit.

mod batching;
mod checkpoint;
mod config;
mod evaluate;
mod event;
mod objective;
mod outcome;
mod trainer;

pub use config::{BatchLoss, RateSchedule, TrainConfig};
pub use egg_nn::{Observer, Silent};
pub use evaluate::{Evaluation, evaluate, outputs};
pub use event::{Event, EventObserver};
pub use objective::Objective;
pub use outcome::{EpochReport, Outcome, PartReport, RankSummary, Stopped};
pub use trainer::Trainer;
