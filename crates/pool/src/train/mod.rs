//! Training that can be watched, stopped, and gone on with.
//!
//! [`Trainer`] runs Adam over a [`Split`](egg_graph::Split) as a
//! [`TrainConfig`] says, tells an [`Observer`] what happens, and leaves the
//! model at its best validation epoch. With a checkpoint on disk a run that
//! was killed goes on to the same bits.

mod batching;
mod checkpoint;
mod config;
mod evaluate;
mod event;
mod objective;
mod outcome;
mod trainer;

pub use config::{BatchLoss, RateSchedule, TrainConfig};
pub use evaluate::{Evaluation, evaluate, outputs};
pub use event::{Event, Observer, Silent};
pub use objective::Objective;
pub use outcome::{EpochReport, Outcome, PartReport, RankSummary, Stopped};
pub use trainer::Trainer;
