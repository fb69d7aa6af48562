//! A thread that has helped waits a moment for the next piece of work.
//!
//! A step of training is dozens of loops of some ten microseconds with a little
//! work between them. rayon's threads fall asleep in that time, and waking one
//! takes as long as the loop: an epoch of GCN-EGG on PROTEINS on two threads took
//! 1.12 times as long.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rayon::Yield;

/// How long nothing has to come before a thread goes to sleep.
const PATIENCE: Duration = Duration::from_micros(200);

/// How long a thread stays at most, however much comes: what lies below on its
/// stack may wait to go on.
const LIMIT: Duration = Duration::from_millis(5);

thread_local! {
    static LINGERS: Cell<bool> = const { Cell::new(false) };
}

/// To be called at the end of a task: when it is over, its thread waits for more.
///
/// The wait is a task by itself, since nobody may have to wait for it.
pub(crate) fn afterwards() {
    if LINGERS.get() {
        return;
    }
    let Some(here) = rayon::current_thread_index() else {
        return;
    };
    rayon::spawn(move || {
        // Another thread may have taken it, one that has something else to wait for.
        if rayon::current_thread_index() == Some(here) {
            linger();
        }
    });
}

/// Does what there is to do, until there has been nothing for a while.
fn linger() {
    let Some(_guard) = Lingering::begin() else {
        return;
    };
    let start = Instant::now();
    let mut busy = start;
    while let Some(done) = rayon::yield_now() {
        let now = Instant::now();
        match done {
            Yield::Executed if now - start > LIMIT => break,
            Yield::Executed => busy = now,
            Yield::Idle if now - busy > PATIENCE => break,
            // Another program's thread may want this core.
            Yield::Idle => std::thread::yield_now(),
        }
    }
}

/// One at a time on a thread: tasks that are done while it waits are not to wait
/// on top of it.
struct Lingering;

impl Lingering {
    fn begin() -> Option<Self> {
        (!LINGERS.replace(true)).then_some(Self)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        LINGERS.set(false);
    }
}
