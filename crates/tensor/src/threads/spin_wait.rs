//! Spin-waiting: a thread that has helped stays awake for a moment, waiting for the next task.
//!
//! A step of training is dozens of loops of some ten microseconds with a little
//! work between them. rayon's threads fall asleep in that time, and waking one
//! takes as long as such a loop: an epoch of GCN-EGG on PROTEINS on two threads
//! took 1.12 times as long.
//!
//! A spinning thread runs any task of its pool. A thread that waits in
//! [`parallel_for`](super::parallel_for) or [`join`](super::join) for others does not spin:
//! it has to continue when they are done. One that waits in `rayon::join` or `scope` looks like an
//! idle one; if it helps there, it may continue later by the length of one task and [`BUSY_LIMIT`].

use std::cell::Cell;
use std::time::{Duration, Instant};

use rayon::Yield;

/// A thread goes to sleep after this long without a task.
const IDLE_LIMIT: Duration = Duration::from_micros(200);

/// No further task is begun after this long.
const BUSY_LIMIT: Duration = Duration::from_millis(5);

thread_local! {
    static SPINS: Cell<bool> = const { Cell::new(false) };
    static WAITS: Cell<usize> = const { Cell::new(0) };
}

/// Called at the end of a task: afterwards its thread spin-waits for the next one.
///
/// The wait is a task of its own, so that no thread has to wait for it.
pub(crate) fn spin_after_task() {
    if SPINS.get() || WAITS.get() > 0 {
        return;
    }
    let Some(here) = rayon::current_thread_index() else {
        return;
    };
    rayon::spawn(move || {
        // Another thread may have taken it, or this one while it waits for others.
        if rayon::current_thread_index() == Some(here) && WAITS.get() == 0 {
            spin();
        }
    });
}

/// Runs tasks until there has been none for [`IDLE_LIMIT`].
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

/// At most one spin-wait per thread: tasks that run during it must not start another.
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

/// While it exists, its thread waits for others.
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
            "a refused one has not ended the first"
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
            assert_eq!(rayon::yield_local(), Some(Yield::Idle), "a task is still queued");
        });
    }
}
