#![doc = include_str!("../README.md")]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod linger;

/// How many threads besides the calling one could work on `pieces` pieces at once.
pub fn helpers(pieces: usize) -> usize {
    rayon::current_num_threads().min(pieces).saturating_sub(1)
}

/// Calls `work` on this thread and on up to `helpers` others at the same time, and
/// comes back when all calls have.
///
/// `work` takes pieces of what there is to do until nothing is left, so that it
/// doesn't matter how many calls there are: at least this thread's, and the others'
/// if they find the time. (A parallel iterator called from outside the pool hands
/// everything over and sleeps until it is done.)
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
/// egg_threads::together(egg_threads::helpers(100), || {
///     loop {
///         let piece = next.fetch_add(1, Ordering::Relaxed);
///         if piece >= 100 {
///             break;
///         }
///         sum.fetch_add(piece, Ordering::Relaxed);
///     }
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// ```
///
/// # Panics
/// If a call of `work` does, once all have come back.
pub fn together(helpers: usize, work: impl Fn() + Sync) {
    if helpers == 0 {
        return work();
    }
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| {
                work();
                linger::afterwards();
            });
        }
        work();
    });
}

/// Two results, side by side if there is a thread for the first.
///
/// ```
/// assert_eq!(egg_threads::both(|| 6 * 7, || "and this thread"), (42, "and this thread"));
/// ```
///
/// # Panics
/// If one of the two does, once both have come back.
pub fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if rayon::current_num_threads() == 1 {
        return (first(), second());
    }
    let mut found = None;
    let second = rayon::in_place_scope(|scope| {
        scope.spawn(|_| {
            found = Some(first());
            linger::afterwards();
        });
        second()
    });
    (
        found.unwrap_or_else(|| unreachable!("the scope waits for it")),
        second,
    )
}

#[cfg(test)]
mod tests;
