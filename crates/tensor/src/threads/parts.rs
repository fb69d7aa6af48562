//! Work that stays on the same thread from one loop to the next.
//!
//! What a thread has written lies in the cache of its core, and another core reads it more
//! slowly: on an AMD EPYC (Zen 5) 40 GB/s instead of 250. The layers of a network work on the
//! same rows one after another; if each of them gives a row to the first free thread, half of the
//! rows are on the wrong core each time.

use std::sync::{Mutex, PoisonError};

use super::helpers;

/// Pieces of work, in parts: each thread of a pool begins with a part of its own, the same in
/// every loop over as many parts, and helps with the others when that is done. (A thread from
/// outside begins with that of the first.)
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let (pieces, sum) = (egg_tensor::threads::Parts::even(0u32..100), AtomicU32::new(0));
/// egg_tensor::threads::parallel_for(pieces.helpers(), || {
///     while let Some(piece) = pieces.next() {
///         sum.fetch_add(piece, Ordering::Relaxed);
///     }
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// ```
#[derive(Debug)]
pub struct Parts<P> {
    parts: Mutex<Vec<std::vec::IntoIter<P>>>,
    helpers: usize,
}

impl<P> Parts<P> {
    /// One part for each thread that can work on the pieces, contiguous and of about equal length.
    ///
    /// Loops over the same rows whose pieces are in the order of the rows have about the same rows
    /// in the same part.
    pub fn even(pieces: impl ExactSizeIterator<Item = P>) -> Self {
        let (count, mut pieces) = (pieces.len(), pieces);
        let parts = parts(count);
        let length = |part: usize| (part + 1) * count / parts - part * count / parts;
        Self::new((0..parts).map(|part| pieces.by_ref().take(length(part)).collect()))
    }

    /// These parts. A thread takes pieces of its own part from the front, and of others from the
    /// back: long pieces should come first.
    pub fn new(parts: impl IntoIterator<Item = Vec<P>>) -> Self {
        let parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        Self {
            helpers: helpers(parts.iter().map(ExactSizeIterator::len).sum()),
            parts: Mutex::new(parts),
        }
    }

    /// How many threads other than the calling one could work on these.
    pub fn helpers(&self) -> usize {
        self.helpers
    }

    /// The next piece for the calling thread, until there is none.
    pub fn next(&self) -> Option<P> {
        // Pieces are taken under the lock and worked on outside it: no panic leaves them half taken.
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let own = rayon::current_thread_index().unwrap_or(0) % parts.len().max(1);
        if let Some(piece) = parts.get_mut(own).and_then(Iterator::next) {
            return Some(piece);
        }
        let longest = parts.iter_mut().max_by_key(|part| part.len());
        longest.and_then(DoubleEndedIterator::next_back)
    }
}

/// The number of parts to divide `count` pieces into: one for each thread that could work on them,
/// and at least one.
pub fn parts(count: usize) -> usize {
    helpers(count) + 1
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::threads::parallel_for;
    use crate::threads::tests::pool;

    fn all<P>(pieces: &Parts<P>) -> Vec<P> {
        std::iter::from_fn(|| pieces.next()).collect()
    }

    #[test]
    fn thread_takes_own_pieces_from_the_front_then_others_from_the_back() {
        let pieces = || Parts::new([vec![1, 2, 3], vec![4, 5], vec![6, 7, 8, 9]]);
        // Outside any pool, as the first thread of one.
        assert_eq!(all(&pieces()), [1, 2, 3, 9, 8, 7, 5, 6, 4]);
        let by_thread = pool(3).broadcast(|_| all(&pieces()));
        assert_eq!(by_thread[1], [4, 5, 9, 8, 3, 7, 2, 6, 1]);
        assert_eq!(by_thread[2], [6, 7, 8, 9, 3, 5, 2, 4, 1]);
        // The fourth of four threads has no part of its own left, and shares the first one's.
        assert_eq!(pool(4).broadcast(|_| all(&pieces()))[3], by_thread[0]);
    }

    #[test]
    fn even_parts_are_contiguous_and_one_per_thread() {
        for (threads, count) in [(1, 7), (2, 7), (3, 10), (4, 2), (2, 0), (2, 1)] {
            let first = pool(threads).broadcast(|_| Parts::even(0..count).next());
            let used = threads.min(count).max(1);
            for (thread, first) in first.into_iter().enumerate() {
                let part = thread % used;
                let expected = (part * count / used < count).then_some(part * count / used);
                assert_eq!(first, expected, "thread {thread} of {threads}, {count} pieces");
            }
        }
    }

    #[test]
    fn no_parts_yield_no_piece() {
        assert!(all(&Parts::<u8>::new([])).is_empty());
        assert_eq!(Parts::<u8>::new([]).helpers(), 0);
    }

    /// Each of two threads gets the same half in every loop.
    #[test]
    fn piece_stays_with_its_thread_across_loops() {
        let barrier = Barrier::new(2);
        pool(2).install(|| {
            for _ in 0..100 {
                let pieces = Parts::even(0..2);
                parallel_for(pieces.helpers(), || {
                    barrier.wait();
                    assert_eq!(pieces.next(), rayon::current_thread_index());
                });
            }
        });
    }
}
