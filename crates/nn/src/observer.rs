//! How a caller follows a long computation, and cancels it.

use std::ops::ControlFlow;

/// Receives the events of a training or a clustering and may cancel it.
///
/// Closures `FnMut(E) -> ControlFlow<()>` are observers; [`Silent`] ignores everything.
///
/// ```
/// use std::ops::ControlFlow;
/// use egg_nn::Observer;
///
/// fn count_to(last: u32, observer: &mut dyn Observer<u32>) -> u32 {
///     (1..=last).find(|n| observer.observe(*n).is_break()).unwrap_or(last)
/// }
///
/// let mut cancel_at_three = |n: u32| match n {
///     3 => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// };
/// assert_eq!(count_to(10, &mut cancel_at_three), 3);
/// assert_eq!(count_to(10, &mut egg_nn::Silent), 10);
/// ```
pub trait Observer<E> {
    /// Takes an event. `Break` cancels what is being observed.
    fn observe(&mut self, event: E) -> ControlFlow<()>;
}

impl<E, F: FnMut(E) -> ControlFlow<()>> Observer<E> for F {
    fn observe(&mut self, event: E) -> ControlFlow<()> {
        self(event)
    }
}

/// The observer that ignores every event and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl<E> Observer<E> for Silent {
    fn observe(&mut self, _: E) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
