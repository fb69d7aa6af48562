//! What a run reports while it runs.

use egg_nn::Observer;

use super::outcome::{EpochReport, Outcome};

/// Something that happened in a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins, or is resumed.
    Started {
        /// How many numbers are trained.
        parameters: usize,
        /// How many graphs are for training, validation and testing.
        graphs: (usize, usize, usize),
        /// How many epochs a checkpoint says are done.
        done: u64,
    },
    /// A step was made.
    Batch {
        /// Counted from 1.
        epoch: u64,
        /// Counted from 1.
        batch: usize,
        /// How many there are in an epoch.
        batches: usize,
    },
    /// An epoch is done and validated.
    Epoch(&'a EpochReport),
    /// The run is over.
    Finished(&'a Outcome),
}

/// What a run reports its [events](Event) to, and is stopped by: after a break the model is
/// left at its best epoch so far, and is not tested.
///
/// ```
/// use std::ops::ControlFlow;
/// use egg_pool::train::{Event, EventObserver};
///
/// let mut epochs = 0;
/// let mut three_epochs = |event: Event<'_>| {
///     epochs += usize::from(matches!(event, Event::Epoch(_)));
///     if epochs < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
/// };
/// fn takes(_: &mut EventObserver<'_>) {}
/// takes(&mut three_epochs);
/// ```
pub type EventObserver<'o> = dyn for<'e> Observer<Event<'e>> + 'o;
