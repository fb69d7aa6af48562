//! A thread that has helped spins for a moment, waiting for the next piece of work.
//!
//! A step of training is dozens of loops of some ten microseconds with a little
//! work between them. rayon's threads fall asleep in that time, and waking one
//! takes as long as such a loop: an epoch of GCN-EGG on PROTEINS on two threads
//! took 1.12 times as long.
//!
//! A thread that spins does what else there is to do, whatever it is. A thread that waits in
//! [`parallel_for`](super::parallel_for) or [`join`](super::join) for others does not spin:
//! it has to go on when they are done. One that waits in `rayon::join` or `scope` can't
//! be told from one that has nothing to do; if it helps somebody there, it may go on
//! later by the length of one task and what [`BUSY_LIMIT`] allows.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rayon::Yield;

/// How long nothing has to come before a thread goes to sleep.
const IDLE_LIMIT: Duration = Duration::from_micros(200);

/// After so long no further task is begun.
const BUSY_LIMIT: Duration = Duration::from_millis(5);

thread_local! {
    static SPINS: Cell<bool> = const { Cell::new(false) };
    static WAITS: Cell<usize> = const { Cell::new(0) };
}

/// To be called at the end of a task: when it is over, its thread waits for more.
///
/// The wait is a task by itself, since nobody may have to wait for it.
pub(crate) fn spin_after_task() {
    if SPINS.get() || WAITS.get() > 0 {
        return;
    }
    let Some(here) = rayon::current_thread_index() else {
        return;
    };
    rayon::spawn(move || {
        // Another thread may have taken it, or this one at a time when it waits for somebody.
        if rayon::current_thread_index() == Some(here) && WAITS.get() == 0 {
            spin();
        }
    });
}

/// Does what there is to do, until there has been nothing for a while.
fn spin() {
    let Some(_spinning) = Spinning::begin() else {
        return;
    };
    let start = Instant::now();
    let mut busy = start;
    while let Some(done) = rayon::yield_now() {
        let now = Instant::now();
        match done {
            Yield::Executed if now - start > BUSY_LIMIT => break,
            Yield::Executed => busy = now,
            Yield::Idle if now - busy > IDLE_LIMIT => break,
            // Another program's thread may want this core.
            Yield::Idle => std::thread::yield_now(),
        }
    }
}

/// One at a time on a thread: tasks that are done while it waits are not to wait
/// on top of it.
struct Spinning;

impl Spinning {
    fn begin() -> Option<Self> {
        if SPINS.replace(true) {
            return None;
        }
        #[cfg(test)]
        tests::BEGUN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(Self)
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        SPINS.set(false);
    }
}

/// As long as it lives, its thread has others to wait for.
pub(crate) struct Waiting;

impl Waiting {
    pub(crate) fn begin() -> Self {
        WAITS.set(WAITS.get() + 1);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITS.set(WAITS.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread::sleep;

    use super::*;
    use crate::threads::tests::pool;
    use crate::threads::{join, parallel_for};

    /// How often a thread has begun to spin.
    pub(super) static BEGUN: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn thread_does_not_spin_recursively() {
        let first = Spinning::begin();
        assert!(first.is_some());
        assert!(Spinning::begin().is_none());
        assert!(
            Spinning::begin().is_none(),
            "who was refused has not ended the first"
        );
        drop(first);
        assert!(Spinning::begin().is_some());
    }

    #[test]
    fn thread_spins_after_helping() {
        let (pool, barrier) = (pool(2), Barrier::new(2));
        let before = BEGUN.load(Ordering::Relaxed);
        for _ in 0..1000 {
            pool.install(|| {
                parallel_for(1, || {
                    barrier.wait();
                });
            });
            sleep(Duration::from_micros(10));
        }
        assert!(BEGUN.load(Ordering::Relaxed) > before);
    }

    /// Calls `work` in a pool of two whose other thread has something else to do.
    fn with_no_idle_helper(work: impl FnOnce() + Send) {
        /// Even if `work` panics.
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Release);
            }
        }
        let (begun, over) = (AtomicBool::new(false), AtomicBool::new(false));
        pool(2).scope(|scope| {
            scope.spawn(|_| {
                begun.store(true, Ordering::Release);
                while !over.load(Ordering::Acquire) {
                    sleep(Duration::from_millis(1));
                }
            });
            let _over = Over(&over);
            // This thread must not take it.
            while !begun.load(Ordering::Acquire) {
                sleep(Duration::from_millis(1));
            }
            work();
        });
    }

    #[test]
    fn spin_tasks_do_not_pile_up_without_helpers() {
        with_no_idle_helper(|| {
            for _ in 0..1000 {
                parallel_for(1, || ());
                join(|| (), || ());
            }
            assert_eq!(rayon::yield_local(), Some(Yield::Idle), "a task was left behind");
        });
    }
}
