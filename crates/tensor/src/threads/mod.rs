//! Parallel loops and joins for short work, on rayon's threads, which spin-wait for the next one.
//!
//! For work that comes in many small pieces with a little in between, as the layers of a small
//! network do. How many threads there are is what rayon says (`RAYON_NUM_THREADS`, or the pool
//! one is in); on one, everything is done on the calling thread.
//!
//! A thread that has helped spins until nothing has come for 200 microseconds (and for 5 ms at
//! most, if its tasks are short), yielding its core meanwhile: rayon's own threads fall asleep after
//! some microseconds, and waking one takes as long as such a loop. The price is processor time, up to 200
//! microseconds per thread and pause.

mod parts;
mod spin_wait;

pub use parts::{Parts, parts};

use spin_wait::Waiting;

/// How many threads other than the calling one could work on `pieces` pieces at the same time.
pub fn helpers(pieces: usize) -> usize {
    rayon::current_num_threads().min(pieces).saturating_sub(1)
}

/// Calls `work` on this thread and on up to `helpers` others at the same time, and returns when all
/// calls have returned.
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
/// egg_tensor::threads::parallel_for(egg_tensor::threads::helpers(100), || {
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
/// If a call of `work` does, once all have returned.
pub fn parallel_for(helpers: usize, work: impl Fn() + Sync) {
    if helpers == 0 {
        return work();
    }
    let _waiting = Waiting::begin();
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| {
                work();
                spin_wait::spin_after_task();
            });
        }
        work();
    });
}

/// Runs two closures, in parallel if there is a thread for the first, and returns both results. As
/// [`parallel_for`], it is meant to be called inside a pool.
///
/// ```
/// assert_eq!(egg_tensor::threads::join(|| 6 * 7, || "and this thread"), (42, "and this thread"));
/// ```
///
/// # Panics
/// If one of the two does, once both have returned; on one thread the second is not begun if the
/// first panics.
pub fn join<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if rayon::current_num_threads() == 1 {
        return (first(), second());
    }
    let mut found = None;
    let _waiting = Waiting::begin();
    let second = rayon::in_place_scope(|scope| {
        scope.spawn(|_| {
            found = Some(first());
            spin_wait::spin_after_task();
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
