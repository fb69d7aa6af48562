use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::*;

pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap_or_else(|error| unreachable!("{error}"))
}

/// For each of the pieces 0 to `count`, how often it was run.
fn worked(count: usize) -> Vec<usize> {
    let next = AtomicUsize::new(0);
    let times: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
    parallel_for(helpers(count), || {
        while let Some(times) = times.get(next.fetch_add(1, Ordering::Relaxed)) {
            times.fetch_add(1, Ordering::Relaxed);
        }
    });
    times.into_iter().map(AtomicUsize::into_inner).collect()
}

#[test]
fn every_piece_runs_once_inside_and_outside_a_pool() {
    for count in [0, 1, 2, 3, 1000] {
        assert_eq!(worked(count), vec![1; count]);
        for threads in [1, 2, 5] {
            assert_eq!(pool(threads).install(|| worked(count)), vec![1; count]);
        }
    }
}

#[test]
fn other_threads_help() {
    // Whether two calls have met within ten seconds, which those of one thread can't.
    let met = |both_call: &(dyn Fn(&(dyn Fn() + Sync)) + Sync)| {
        let (calls, met) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let meet = || {
            calls.fetch_add(1, Ordering::AcqRel);
            let start = Instant::now();
            while calls.load(Ordering::Acquire) < 2 && start.elapsed() < Duration::from_secs(10) {
                std::thread::yield_now();
            }
            met.fetch_add(
                usize::from(start.elapsed() < Duration::from_secs(10)),
                Ordering::AcqRel,
            );
        };
        pool(2).install(|| both_call(&meet));
        met.into_inner()
    };
    assert_eq!(met(&|meet| parallel_for(1, meet)), 2);
    assert_eq!(
        met(&|meet| {
            join(meet, meet);
        }),
        2
    );
}

#[test]
fn join_returns_results_in_order_on_any_number_of_threads() {
    for threads in [1, 2, 3] {
        let found = pool(threads).install(|| join(|| "first", || 2));
        assert_eq!(found, ("first", 2));
    }
}

/// Loops in loops, in parallel iterators, on more threads than there are cores: no deadlock.
#[test]
fn nested_loops_terminate() {
    for threads in [2, 3, 8] {
        let total: usize = pool(threads).install(|| {
            let each = |seed: usize| {
                let sums = Mutex::new(0);
                let next = AtomicUsize::new(0);
                parallel_for(helpers(4), || {
                    while next.fetch_add(1, Ordering::Relaxed) < 4 {
                        let (ours, theirs) = join(|| worked(seed % 7).len(), || worked(seed % 5).len());
                        *sums.lock().unwrap_or_else(|_| unreachable!()) += ours + theirs;
                    }
                });
                sums.into_inner().unwrap_or_else(|_| unreachable!())
            };
            (0..2000).into_par_iter().map(each).sum()
        });
        let one = |seed: usize| 4 * (seed % 7 + seed % 5);
        assert_eq!(total, (0..2000).map(one).sum::<usize>());
    }
}

#[test]
#[should_panic(expected = "not the caller")]
fn panic_of_a_helper_reaches_the_caller() {
    let barrier = Barrier::new(2);
    pool(2).install(|| {
        let caller = std::thread::current().id();
        parallel_for(1, || {
            barrier.wait();
            assert_eq!(std::thread::current().id(), caller, "not the caller");
        });
    });
}
