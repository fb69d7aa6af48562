//! Independent runs, side by side or one after the other.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What the cores share. The results are the same bits in every case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parallelism {
    /// Whichever is faster. A run alone on a thread wastes nothing, while a
    /// second thread inside a run has only the large steps to help with; so
    /// runs are made side by side, one thread each, as long as there is one for
    /// every thread. Those that are left at the end are fewer than threads, and
    /// share all of them: 10 runs on 4 threads are 8 on one thread each, then
    /// 2 on two each; 1 run has all 4.
    #[default]
    Auto,
    /// Side by side to the end: each run has a share of the threads to itself,
    /// at least one.
    Repetitions,
    /// One after the other, each with all threads: the least memory.
    Inside,
}

/// Jobs in a row that are run on the same groups of threads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phase {
    jobs: Range<usize>,
    /// The threads of each worker.
    workers: Vec<usize>,
}

impl Phase {
    /// Shares threads between as many workers as can be busy.
    fn new(jobs: Range<usize>, threads: usize) -> Self {
        let workers = threads.min(jobs.len()).max(1);
        let (share, more) = (threads / workers, threads % workers);
        Self {
            jobs,
            workers: (0..workers).map(|at| share + usize::from(at < more)).collect(),
        }
    }
}

impl Parallelism {
    /// Runs jobs `0..count` on the threads of the current pool and gives their results in order.
    /// After an error no new job is begun; of several errors that of the first job counts, which is
    /// the same whatever the threads did, since jobs are begun in order.
    ///
    /// ```
    /// use egg_pool::protocol::Parallelism;
    /// let squares = Parallelism::Auto.run(4, |job| Ok(job * job))?;
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of the first job that failed; [`Error::Setting`] if threads can't be started.
    pub fn run<T: Send>(self, count: usize, job: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        let threads = rayon::current_num_threads().max(1);
        let mut results = Vec::with_capacity(count);
        for phase in self.phases(count, threads) {
            match phase.workers.as_slice() {
                // The caller's own threads.
                [_] => {
                    for index in phase.jobs {
                        results.push(job(index)?);
                    }
                }
                workers => results.extend(side_by_side(phase.jobs, workers, &job)?),
            }
        }
        Ok(results)
    }

    /// What is run after what.
    fn phases(self, jobs: usize, threads: usize) -> Vec<Phase> {
        let whole = Phase {
            jobs: 0..jobs,
            workers: vec![threads],
        };
        let phases = match self {
            Self::Inside => vec![whole],
            Self::Repetitions => vec![Phase::new(0..jobs, threads)],
            Self::Auto => {
                let rounds = jobs - jobs % threads;
                vec![Phase::new(0..rounds, threads), Phase::new(rounds..jobs, threads)]
            }
        };
        phases
            .into_iter()
            .filter(|phase| !phase.jobs.is_empty())
            .collect()
    }
}

/// Runs jobs on as many groups of threads as there are numbers in `workers`.
fn side_by_side<T: Send>(
    jobs: Range<usize>,
    workers: &[usize],
    job: &(impl Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let pools = workers
        .iter()
        .map(|&threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    let pools = pools
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| Error::setting("threads", workers.iter().sum::<usize>(), error.to_string()))?;
    let results = Mutex::new(jobs.clone().map(|_| None).collect::<Vec<Option<Result<T>>>>());
    let (next, failed) = (AtomicUsize::new(jobs.start), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= jobs.end {
                        break;
                    }
                    let result = pool.install(|| job(index));
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    results[index - jobs.start] = Some(result);
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
    fn every_thread_has_work_while_there_is_some() {
        let workers = |jobs, threads| {
            let phases = Parallelism::Auto.phases(jobs, threads);
            let workers = phases.into_iter().map(|phase| (phase.jobs.len(), phase.workers));
            workers.collect::<Vec<_>>()
        };
        assert_eq!(workers(10, 4), [(8, vec![1; 4]), (2, vec![2, 2])]);
        assert_eq!(workers(3, 8), [(3, vec![3, 3, 2])]);
        assert_eq!(workers(3, 2), [(2, vec![1, 1]), (1, vec![2])]);
        assert_eq!(workers(1, 2), [(1, vec![2])]);
        assert_eq!(workers(4, 1), [(4, vec![1])]);
        assert_eq!(workers(0, 2), []);
        for jobs in 0..40 {
            for threads in 1..17 {
                for parallelism in [Parallelism::Auto, Parallelism::Repetitions, Parallelism::Inside] {
                    let phases = parallelism.phases(jobs, threads);
                    let all: Vec<usize> = phases.iter().flat_map(|phase| phase.jobs.clone()).collect();
                    assert_eq!(all, (0..jobs).collect::<Vec<_>>());
                    assert!(
                        phases
                            .iter()
                            .all(|phase| phase.workers.iter().sum::<usize>() == threads)
                    );
                }
            }
        }
    }

    #[test]
    fn results_are_in_order_and_the_first_error_counts() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for parallelism in [Parallelism::Auto, Parallelism::Repetitions, Parallelism::Inside] {
            let squares = pool.install(|| parallelism.run(20, |job| Ok(job * job))).unwrap();
            assert_eq!(squares, (0..20).map(|job| job * job).collect::<Vec<_>>());
            let failing = |job: usize| match job {
                7.. => Err(Error::setting("job", job, "below 7")),
                _ => Ok(job),
            };
            let error = pool.install(|| parallelism.run(20, failing)).unwrap_err();
            assert!(error.to_string().contains("job = 7 "), "{error}");
        }
        assert!(Parallelism::Auto.run(0, Ok).unwrap().is_empty());
    }
}
