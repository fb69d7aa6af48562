//! The protocol of events and cancellation that training and clustering share.

use std::ops::ControlFlow;

/// Receives the events `E` of a run and decides after each one whether the run continues.
///
/// Training and clustering report to an observer. The run stops at the first
/// [`ControlFlow::Break`]; what it returns then is documented where it starts.
///
/// Every closure `FnMut(E) -> ControlFlow<()>` is an observer. A run whose events borrow from it
/// takes `&mut dyn for<'a> Observer<Event<'a>>`:
///
/// ```
/// use std::ops::ControlFlow;
///
/// use egg_nn::{Observer, Silent};
///
/// enum Event<'a> {
///     Started { name: &'a str },
///     Epoch { epoch: usize, loss: f64 },
/// }
///
/// /// Returns the number of epochs that were run.
/// fn run(observer: &mut dyn for<'a> Observer<Event<'a>>) -> usize {
///     let name = String::from("example");
///     if observer.observe(Event::Started { name: &name }).is_break() {
///         return 0;
///     }
///     for epoch in 1..=10 {
///         let loss = 1.0 / epoch as f64;
///         if observer.observe(Event::Epoch { epoch, loss }).is_break() {
///             return epoch;
///         }
///     }
///     10
/// }
///
/// // A closure that stops the run once the loss is small enough.
/// let mut losses = Vec::new();
/// let epochs = run(&mut |event: Event<'_>| match event {
///     Event::Started { name } => {
///         assert_eq!(name, "example");
///         ControlFlow::Continue(())
///     }
///     Event::Epoch { loss, .. } => {
///         losses.push(loss);
///         if loss < 0.3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
///     }
/// });
/// assert_eq!((epochs, losses.len()), (4, 4));
///
/// // Nobody watches.
/// assert_eq!(run(&mut Silent), 10);
/// ```
pub trait Observer<E> {
    /// Called once for each event, in the order in which they happen.
    ///
    /// [`ControlFlow::Break`] asks the run to stop.
    fn observe(&mut self, event: E) -> ControlFlow<()>;
}

impl<E, F: FnMut(E) -> ControlFlow<()>> Observer<E> for F {
    fn observe(&mut self, event: E) -> ControlFlow<()> {
        self(event)
    }
}

/// An [`Observer`] that ignores every event and never stops a run.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use egg_nn::{Observer, Silent};
///
/// assert_eq!(Silent.observe("an event"), ControlFlow::Continue(()));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Silent;

impl<E> Observer<E> for Silent {
    fn observe(&mut self, _event: E) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
