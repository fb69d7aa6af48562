#![doc = include_str!("../README.md")]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod linger;
mod parts;

pub use parts::{Parts, parts};

use linger::Waiting;

/// How many threads besides the calling one could work on `pieces` pieces at once.
pub fn helpers(pieces: usize) -> usize {
    rayon::current_num_threads().min(pieces).saturating_sub(1)
}

/// Calls `work` on this thread and on up to `helpers` others at the same time, and
/// comes back when all calls have.
///
/// `work` takes pieces of what there is to do until nothing is left, so that it
/// doesn't matter how many calls do something. Inside a pool, what no other thread has
/// begun is called here at the end, and finds nothing left. From outside, this thread
/// waits until one of the pool has come, busy as it may be: call it inside
/// (`rayon::scope`, `ThreadPool::install`).
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
    let _waiting = Waiting::begin();
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

/// Two results, side by side if there is a thread for the first. As [`together`], it is
/// meant to be called inside a pool.
///
/// ```
/// assert_eq!(egg_threads::both(|| 6 * 7, || "and this thread"), (42, "and this thread"));
/// ```
///
/// # Panics
/// If one of the two does, once both have come back; on one thread the second is not
/// begun if the first does.
pub fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if rayon::current_num_threads() == 1 {
        return (first(), second());
    }
    let mut found = None;
    let _waiting = Waiting::begin();
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
