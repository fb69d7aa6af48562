//! Parallel loops over blocks whose size depends only on the shape.
//!
//! A sum over rows is the sum of one partial result per block, added in the
//! order of the blocks. How many threads share the blocks changes nothing in
//! that order, and so no bit of the result.
//!
//! The calling thread takes blocks as well, and rayon's threads help
//! ([`threads`](crate::threads)).

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use crate::threads::{Parts, helpers, parallel_for};

/// Fewer numbers than this are done on the calling thread: waking a pool costs
/// more than it saves.
const PARALLEL_FROM: usize = 1 << 14;

/// Rows per block such that a block of `width` columns stays in a core's own
/// cache.
pub fn rows_in_cache(width: usize) -> usize {
    (8192 / width.max(1)).clamp(4, 1024)
}

/// Calls `work(k, chunk k)` for each chunk of `chunk` numbers of `out` (the
/// last may be shorter), and gives the results in the order of the chunks.
///
/// ```
/// let mut numbers = [1.0, 2.0, 3.0];
/// let sums = egg_tensor::blocks::map_chunks(&mut numbers, 2, |index, chunk| {
///     chunk.iter_mut().for_each(|number| *number *= 10.0);
///     (index, chunk.iter().sum::<f64>())
/// });
/// assert_eq!((numbers, sums), ([10.0, 20.0, 30.0], vec![(0, 30.0), (1, 30.0)]));
/// ```
pub fn map_chunks<T: Send, R: Send>(
    out: &mut [T],
    chunk: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let (numbers, chunk) = (out.len(), chunk.max(1));
    share(numbers, out.chunks_mut(chunk), work)
}

/// [`map_chunks`] on a new vector of `len` zeros.
///
/// Each chunk is zeroed right before its `work`, while it comes into the cache,
/// and by the thread that works on it: a large vector made of zeros at once is
/// written to memory twice, the first time by one thread.
///
/// ```
/// let (squares, _) = egg_tensor::blocks::map_new(5, 2, |index, chunk: &mut [f64]| {
///     chunk.iter_mut().zip(2 * index..).for_each(|(out, at)| *out = (at * at) as f64);
/// });
/// assert_eq!(squares, [0.0, 1.0, 4.0, 9.0, 16.0]);
/// ```
pub fn map_new<T: Copy + Default + Send, R: Send>(
    len: usize,
    chunk: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync,
) -> (Vec<T>, Vec<R>) {
    map_unwritten(len, chunk, |index, chunk: &mut [MaybeUninit<T>]| {
        chunk.iter_mut().for_each(|place| {
            place.write(T::default());
        });
        // SAFETY: all of it was written just now.
        let chunk = unsafe { chunk.assume_init_mut() };
        let result = work(index, chunk);
        (chunk, result)
    })
}

/// [`map_new`] for work that writes all of its chunk without reading it, and shows so by
/// giving it back: nothing is zeroed first.
pub(crate) fn map_unwritten<T: Copy + Send, R: Send>(
    len: usize,
    chunk: usize,
    work: impl for<'a> Fn(usize, &'a mut [MaybeUninit<T>]) -> (&'a mut [T], R) + Sync,
) -> (Vec<T>, Vec<R>) {
    let mut out: Vec<T> = Vec::with_capacity(len);
    let chunks = out.spare_capacity_mut()[..len].chunks_mut(chunk.max(1));
    let results = share(len, chunks, |index, chunk: &mut [MaybeUninit<T>]| {
        let place = (chunk.as_ptr().cast::<T>(), chunk.len());
        let (written, result) = work(index, chunk);
        assert_eq!(
            (written.as_ptr(), written.len()),
            place,
            "another chunk came back"
        );
        result
    });
    // SAFETY: the chunks cover the first `len` places, which are within the
    // capacity, and `share` has come back with a result of each, so each of them was filled: a slice of
    // numbers at its very place has been shown for each. (Had one panicked, the panic
    // would have gone through here.)
    unsafe { out.set_len(len) };
    (out, results)
}

/// Calls `work(k, chunk k)` for each chunk of `chunk` numbers of `data`, and
/// gives the results in the order of the chunks.
///
/// ```
/// let sums = egg_tensor::blocks::map(&[1, 2, 3], 2, |_, chunk| chunk.iter().sum::<i32>());
/// assert_eq!(sums, [3, 3]);
/// ```
pub fn map<T: Sync, R: Send>(data: &[T], chunk: usize, work: impl Fn(usize, &[T]) -> R + Sync) -> Vec<R> {
    share(data.len(), data.chunks(chunk.max(1)), work)
}

/// Shares blocks, `numbers` numbers in all, between the threads.
pub fn share<B: Send, R: Send>(
    numbers: usize,
    blocks: impl ExactSizeIterator<Item = B> + Send,
    work: impl Fn(usize, B) -> R + Sync,
) -> Vec<R> {
    let count = blocks.len();
    let blocks = blocks.enumerate();
    let helpers = helpers(count);
    if numbers < PARALLEL_FROM || helpers == 0 {
        return blocks.map(|(index, block)| work(index, block)).collect();
    }
    // A block of rows goes to the same thread as in the loop before.
    let blocks = Parts::even(blocks);
    let results = Mutex::new(Vec::with_capacity(count));
    let take = || {
        while let Some((index, block)) = blocks.next() {
            let result = work(index, block);
            // A panic in `work` propagates to the caller, so a poisoned lock is harmless.
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((index, result));
        }
    };
    parallel_for(helpers, take);
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(results.len(), count, "a result for each block");
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_runs_once_and_results_are_in_order() {
        for (len, chunk) in [(0, 4), (1, 4), (1 << 13, 100), (1 << 16, 999), (1 << 16, 1 << 16)] {
            let mut numbers = vec![0u32; len];
            let starts = map_chunks(&mut numbers, chunk, |index, part| {
                part.iter_mut().for_each(|number| *number += 1);
                index * chunk
            });
            assert!(numbers.iter().all(|number| *number == 1));
            assert_eq!(starts, (0..len).step_by(chunk).collect::<Vec<_>>());
        }
    }

    #[test]
    fn map_new_fills_every_element() {
        for (len, chunk) in [(0, 4), (3, 4), (1 << 13, 100), ((1 << 16) + 1, 999)] {
            let (numbers, starts) = map_new(len, chunk, |index, part: &mut [u32]| {
                assert!(part.iter().all(|number| *number == 0));
                part.fill(7);
                index * chunk
            });
            assert_eq!(numbers, vec![7; len]);
            assert_eq!(starts, (0..len).step_by(chunk).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "another chunk came back")]
    fn incompletely_written_chunk_panics() {
        map_unwritten(10, 5, |_, _: &mut [MaybeUninit<u32>]| (&mut [][..], ()));
    }

    #[test]
    fn blocks_can_be_shared_inside_a_parallel_loop() {
        use rayon::prelude::*;
        let sums: Vec<usize> = (0..8usize)
            .into_par_iter()
            .map(|seed| {
                let numbers = vec![seed; 1 << 15];
                map(&numbers, 1000, |_, part| part.iter().sum::<usize>())
                    .into_iter()
                    .sum()
            })
            .collect();
        assert_eq!(sums, (0..8).map(|seed| seed << 15).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "block 3")]
    fn panic_in_a_block_reaches_the_caller() {
        map(&[0u8; 1 << 15], 1 << 12, |index, _| {
            assert_ne!(index, 3, "block 3")
        });
    }
}
