//! Parallel loops over blocks whose size depends on the shape alone.
//!
//! A sum over rows is the sum of one partial result per block, added in the
//! order of the blocks. How many threads share the blocks changes nothing in
//! that order, and so no bit of the result.

use rayon::prelude::*;

/// Fewer numbers than this are done on the calling thread: waking a pool costs
/// more than it saves.
const PARALLEL_FROM: usize = 1 << 14;

/// Rows per block such that a block of `width` columns stays in a core's own
/// cache.
pub(crate) fn rows_in_cache(width: usize) -> usize {
    (8192 / width.max(1)).clamp(4, 1024)
}

/// Calls `work(k, chunk k)` for each chunk of `chunk` numbers of `out` (the
/// last may be shorter), and gives the results in the order of the chunks.
pub(crate) fn map_chunks<T: Send, R: Send>(
    out: &mut [T],
    chunk: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let chunk = chunk.max(1);
    if out.len() < PARALLEL_FROM || out.len() <= chunk {
        let chunks = out.chunks_mut(chunk).enumerate();
        return chunks.map(|(index, chunk)| work(index, chunk)).collect();
    }
    let chunks = out.par_chunks_mut(chunk).enumerate();
    chunks.map(|(index, chunk)| work(index, chunk)).collect()
}

/// Calls `work(k, chunk k)` for each chunk of `chunk` numbers of `data`, and
/// gives the results in the order of the chunks.
pub(crate) fn map<T: Sync, R: Send>(
    data: &[T],
    chunk: usize,
    work: impl Fn(usize, &[T]) -> R + Sync,
) -> Vec<R> {
    let chunk = chunk.max(1);
    if data.len() < PARALLEL_FROM || data.len() <= chunk {
        let chunks = data.chunks(chunk).enumerate();
        return chunks.map(|(index, chunk)| work(index, chunk)).collect();
    }
    let chunks = data.par_chunks(chunk).enumerate();
    chunks.map(|(index, chunk)| work(index, chunk)).collect()
}
