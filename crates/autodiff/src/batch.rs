//! One operation on every graph of a mini-batch, in parallel, as one candle op.
//!
//! A [`Kernel`] is the operation on one graph; [`Runner`] applies it to a batch. The results of the
//! forward pass of a graph (its factors) are saved with the op until the tape is dropped, and then
//! return to a pool.

use std::fmt::Debug;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{Device, Shape};
use egg_tensor::threads::{self, Parts};
use egg_tensor::{Backward, Forward, Operand, Operation, Tracked, apply_and_inspect};
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::element::{Element, check_matrix};
use crate::pool::Pool;
use crate::{Error, Result};

/// The operation on one graph: from its n x m rows to some numbers, and its gradient.
pub(crate) trait Kernel: Debug + Send + Sync + 'static {
    /// What the backward pass needs of the forward pass, one per graph.
    type Saved: Default + Debug + Send + Sync;
    /// Memory for intermediate results, one per thread.
    type Scratch: Default + Debug + Send;

    fn name(&self) -> &'static str;

    /// The number of outputs of a graph of n rows and m columns.
    fn length(&self, n: usize, m: usize) -> usize;

    /// The shape of the output of all graphs: by default a row for each.
    fn shape(&self, graphs: usize, rows: usize, m: usize) -> Shape {
        (graphs, self.length(rows, m)).into()
    }

    fn forward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        out: &mut [T],
        saved: &mut Self::Saved,
        scratch: &mut Self::Scratch,
    ) -> Result<()>;

    /// Writes `dL/dH` from the gradient of the output.
    fn backward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: &[T],
        out: ArrayViewMut2<'_, T>,
        saved: &Self::Saved,
        scratch: &mut Self::Scratch,
    ) -> Result<()>;
}

/// A kernel with the memory it works in.
#[derive(Debug)]
pub(crate) struct Runner<K: Kernel> {
    kernel: K,
    saved: Pool<K::Saved>,
    scratch: Pool<K::Scratch>,
}

impl<K: Kernel> Runner<K> {
    pub(crate) fn new(kernel: K) -> Arc<Self> {
        Arc::new(Self {
            kernel,
            saved: Pool::default(),
            scratch: Pool::default(),
        })
    }

    pub(crate) fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Applies the kernel to the graphs that `offsets` cut from the rows of `h`,
    /// and passes what it saved for each graph to `inspect`.
    pub(crate) fn apply<R>(
        self: &Arc<Self>,
        h: impl Into<Tracked>,
        offsets: &[usize],
        inspect: impl FnOnce(&[K::Saved]) -> R,
    ) -> Result<(Tracked, R)> {
        let h = h.into();
        let (rows, columns) = check_matrix("H", &h)?;
        check_offsets(offsets, rows)?;
        if columns == 0 {
            return Err(Error::Shape {
                what: "H",
                found: h.dims().to_vec(),
                expected: "at least one column".to_owned(),
            });
        }
        let op = PerGraph {
            runner: Arc::clone(self),
            offsets: offsets.to_vec(),
        };
        let inspect = |saved: &Saved<K>| inspect(saved);
        let device = h.values().device().clone();
        if device.is_cpu() {
            return apply_and_inspect(op, [h], inspect);
        }
        // Both transfers are on the tape.
        let (out, found) = apply_and_inspect(op, [h.to_device(&Device::Cpu)?], inspect)?;
        Ok((out.to_device(&device)?.into(), found))
    }
}

/// Refuses offsets that are not an ascending list from 0 to the number of rows.
fn check_offsets(offsets: &[usize], rows: usize) -> Result<()> {
    let refuse = |position: usize, value: usize, requirement: String| {
        Err(Error::Offsets {
            position,
            value,
            requirement,
        })
    };
    match offsets.first() {
        None => return refuse(0, 0, "there must be at least one offset".to_owned()),
        Some(0) => {}
        Some(&first) => return refuse(0, first, "the first offset must be 0".to_owned()),
    }
    for (position, pair) in offsets.windows(2).enumerate() {
        if pair[1] < pair[0] {
            let requirement = format!("it must not be less than the offset before it, {}", pair[0]);
            return refuse(position + 1, pair[1], requirement);
        }
    }
    let last = offsets[offsets.len() - 1];
    if last != rows {
        let requirement = format!("the last offset must be the number of rows, {rows}");
        return refuse(offsets.len() - 1, last, requirement);
    }
    Ok(())
}

/// A kernel on the graphs of one mini-batch.
struct PerGraph<K: Kernel> {
    runner: Arc<Runner<K>>,
    offsets: Vec<usize>,
}

/// What the forward pass saved for each graph; its memory returns to the runner.
struct Saved<K: Kernel> {
    graphs: Vec<K::Saved>,
    runner: Arc<Runner<K>>,
}

impl<K: Kernel> Deref for Saved<K> {
    type Target = [K::Saved];

    fn deref(&self) -> &[K::Saved] {
        &self.graphs
    }
}

impl<K: Kernel> Drop for Saved<K> {
    fn drop(&mut self) {
        self.runner.saved.put_back(std::mem::take(&mut self.graphs));
    }
}

impl<K: Kernel, T: Element> Operation<T, 1> for PerGraph<K> {
    type Saved = Saved<K>;
    type Error = Error;

    fn name(&self) -> &'static str {
        self.runner.kernel.name()
    }

    fn forward(&self, [h]: [Operand<'_, T>; 1]) -> Result<Forward<T, Saved<K>>> {
        let Runner { kernel, scratch, .. } = &*self.runner;
        let (rows, columns) = h.dims2()?;
        let graphs = self.offsets.len() - 1;
        let shape = kernel.shape(graphs, rows, columns);
        let mut saved = Saved {
            graphs: self.runner.saved.take(graphs),
            runner: Arc::clone(&self.runner),
        };
        let mut values = vec![T::zero(); shape.elem_count()];
        let mut rest = &mut values[..];
        let mut jobs = Vec::with_capacity(graphs);
        for (graph, (rows, saved)) in self.offsets.windows(2).zip(&mut saved.graphs).enumerate() {
            let n = rows[1] - rows[0];
            let (out, tail) = std::mem::take(&mut rest).split_at_mut(kernel.length(n, columns));
            rest = tail;
            let h = &h[rows[0] * columns..rows[1] * columns];
            jobs.push(Job {
                graph,
                rows: rows[0]..rows[1],
                cost: cost(n, columns),
                work: move |scratch: &mut K::Scratch| {
                    kernel.forward(matrix(h, n, columns), out, saved, scratch)
                },
            });
        }
        run(jobs, scratch)?;
        Ok(Forward { values, shape, saved })
    }

    fn backward(&self, of: Backward<'_, T, Saved<K>, 1>) -> Result<[Option<Vec<T>>; 1]> {
        let Runner { kernel, scratch, .. } = &*self.runner;
        let [h] = of.inputs;
        let (_, columns) = h.dims2()?;
        let mut output = vec![T::zero(); h.len()];
        let (mut rest, mut upstream) = (&mut output[..], of.gradient);
        let mut jobs = Vec::with_capacity(of.saved.len());
        for (graph, (rows, saved)) in self.offsets.windows(2).zip(of.saved.iter()).enumerate() {
            let n = rows[1] - rows[0];
            let (out, tail) = std::mem::take(&mut rest).split_at_mut(n * columns);
            rest = tail;
            let (g, tail) = upstream.split_at(kernel.length(n, columns));
            upstream = tail;
            // A graph without rows has no gradient: kernels need not handle it.
            if n == 0 {
                continue;
            }
            let h = &h[rows[0] * columns..rows[1] * columns];
            jobs.push(Job {
                graph,
                rows: rows[0]..rows[1],
                cost: cost(n, columns),
                work: move |scratch: &mut K::Scratch| {
                    let out = matrix_mut(out, n, columns);
                    kernel.backward(matrix(h, n, columns), g, out, saved, scratch)
                },
            });
        }
        run(jobs, scratch)?;
        Ok([Some(output)])
    }
}

/// The work on one graph.
struct Job<W> {
    graph: usize,
    rows: Range<usize>,
    cost: usize,
    work: W,
}

/// What a decomposition of n x m costs, up to a factor.
fn cost(n: usize, m: usize) -> usize {
    n.saturating_mul(m).saturating_mul(n.min(m))
}

/// Jobs divided by the position of their rows, since the thread that made rows has them in its
/// cache; the longest of a part first, so that short ones fill the gaps at the end.
fn in_parts<W>(jobs: Vec<Job<W>>) -> Parts<Job<W>> {
    let rows = jobs.iter().map(|job| job.rows.end).max().unwrap_or_default();
    let mut parts: Vec<Vec<Job<W>>> = Vec::new();
    let count = threads::parts(jobs.len());
    parts.resize_with(count, || Vec::with_capacity(jobs.len() / count + 1));
    for job in jobs {
        let middle = job.rows.start.midpoint(job.rows.end);
        let part = middle.saturating_mul(count).checked_div(rows).unwrap_or_default();
        // The offset of an empty graph may be the number of rows.
        parts[part.min(count - 1)].push(job);
    }
    for part in &mut parts {
        part.sort_by_key(|job| (std::cmp::Reverse(job.cost), job.graph));
    }
    Parts::new(parts)
}

/// Runs the jobs on rayon's threads.
///
/// The error is that of the first graph that has one, whichever thread met it.
fn run<S, W>(jobs: Vec<Job<W>>, scratch: &Pool<S>) -> Result<()>
where
    S: Default + Send,
    W: FnOnce(&mut S) -> Result<()> + Send,
{
    let first_error: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let work = |job: Job<W>, scratch: &mut S| {
        if let Err(error) = (job.work)(scratch) {
            let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(graph, _)| job.graph < *graph) {
                *first = Some((job.graph, error));
            }
        }
    };
    let jobs = in_parts(jobs);
    let take = || {
        let mut loan = scratch.borrow_one();
        while let Some(job) = jobs.next() {
            work(job, loan.get());
        }
    };
    threads::parallel_for(jobs.helpers(), take);
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some((graph, error)) => Err(error.in_graph(graph)),
    }
}

fn matrix<T>(entries: &[T], rows: usize, columns: usize) -> ArrayView2<'_, T> {
    ArrayView2::from_shape((rows, columns), entries)
        .unwrap_or_else(|_| unreachable!("offsets were checked against the rows"))
}

fn matrix_mut<T>(entries: &mut [T], rows: usize, columns: usize) -> ArrayViewMut2<'_, T> {
    ArrayViewMut2::from_shape((rows, columns), entries)
        .unwrap_or_else(|_| unreachable!("offsets were checked against the rows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The indices of the graphs in the order in which one of `threads` threads gets them.
    fn order(threads: usize, offsets: &[usize]) -> Vec<usize> {
        let jobs = offsets.windows(2).enumerate().map(|(graph, rows)| Job {
            graph,
            rows: rows[0]..rows[1],
            cost: rows[1] - rows[0],
            work: (),
        });
        let jobs: Vec<_> = jobs.collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.unwrap_or_else(|error| unreachable!("{error}"));
        pool.install(|| {
            let parts = in_parts(jobs);
            std::iter::from_fn(|| parts.next()).map(|job| job.graph).collect()
        })
    }

    #[test]
    fn every_graph_is_in_exactly_one_part() {
        for offsets in [
            &[0][..],
            &[0, 0],
            &[0, 0, 0],
            &[0, 3],
            &[0, 0, 5, 5],
            &[0, 9, 10, 11, 12, 12],
            &[0, 1, 2, 3, 20, 21, 22, 22],
        ] {
            for threads in [1, 2, 3, 7] {
                let mut graphs = order(threads, offsets);
                graphs.sort_unstable();
                assert_eq!(graphs, (0..offsets.len() - 1).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn longest_graph_comes_first() {
        assert_eq!(order(1, &[0, 2, 7, 8, 12, 12, 14]), [1, 3, 0, 5, 2, 4]);
    }
}
