//! Independent runs, side by side or one after the other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What the cores share. The results are the same bits in every case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parallelism {
    /// Repetitions, if there are several and more than one core; the batches of
    /// benchmark data sets are too small for threads to be of much use inside.
    #[default]
    Auto,
    /// Each repetition has a share of the threads to itself, at least one.
    Repetitions,
    /// One repetition after the other, each with all threads.
    Inside,
}

impl Parallelism {
    /// How many jobs run at once, and on how many threads each.
    fn workers(self, jobs: usize) -> (usize, usize) {
        let threads = rayon::current_num_threads().max(1);
        match self {
            Self::Inside => (1, threads),
            Self::Auto | Self::Repetitions => {
                let workers = threads.min(jobs).max(1);
                (workers, threads / workers)
            }
        }
    }
}

/// Runs jobs `0..count` and gives their results in order. After an error no new
/// job is begun; of several errors that of the first job counts, which is the
/// same whatever the threads did, since jobs are begun in order.
pub(super) fn run<T: Send>(
    count: usize,
    parallelism: Parallelism,
    job: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (workers, threads) = parallelism.workers(count);
    if workers == 1 {
        return (0..count).map(job).collect();
    }
    let pools = (0..workers).map(|_| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    let pools = pools
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| Error::setting("threads", threads * workers, error.to_string()))?;
    let results = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<Result<T>>>>());
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = pool.install(|| job(index));
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    results[index] = Some(result);
                }
            });
        }
    });
    let results = results
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    // Jobs that were not begun come after one that failed.
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_error_counts() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for parallelism in [Parallelism::Auto, Parallelism::Repetitions, Parallelism::Inside] {
            let squares = pool
                .install(|| run(20, parallelism, |job| Ok(job * job)))
                .unwrap();
            assert_eq!(squares, (0..20).map(|job| job * job).collect::<Vec<_>>());
            let failing = |job: usize| match job {
                7.. => Err(Error::setting("job", job, "below 7")),
                _ => Ok(job),
            };
            let error = pool.install(|| run(20, parallelism, failing)).unwrap_err();
            assert!(error.to_string().contains("job = 7 "), "{error}");
        }
        assert!(run(0, Parallelism::Auto, Ok).unwrap().is_empty());
    }
}
