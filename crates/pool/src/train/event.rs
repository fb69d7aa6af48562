//! What a run tells while it runs.

use std::ops::ControlFlow;

use super::outcome::{EpochReport, Outcome};

/// Something that happened in a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins, or goes on.
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

/// Follows a run, and may end it.
///
/// Closures from [`Event`] to [`ControlFlow`] are observers.
///
/// ```
/// use std::ops::ControlFlow;
/// use egg_pool::train::{Event, Observer};
///
/// let mut epochs = 0;
/// let mut three_epochs = |event: Event<'_>| {
///     epochs += usize::from(matches!(event, Event::Epoch(_)));
///     if epochs < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
/// };
/// fn takes(_: &mut dyn Observer) {}
/// takes(&mut three_epochs);
/// ```
pub trait Observer {
    /// Takes an event. To break ends the run: the model is left at its best
    /// epoch so far, and is not tested.
    fn observe(&mut self, event: Event<'_>) -> ControlFlow<()>;
}

impl<F: FnMut(Event<'_>) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self(event)
    }
}

/// The observer that does not look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
