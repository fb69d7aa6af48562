//! The random generators of an experiment.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What random numbers are for. Each use has streams of its own, so that more of one
/// changes nothing in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stream {
    /// First values of parameters, the order of graphs, dropout.
    Training = 1,
    /// Random splits.
    Split = 2,
    /// Stratified folds.
    Folds = 3,
}

/// The generator of one use in one repetition (counted from 0): what
/// [`Experiment::repetition`](super::Experiment::repetition) draws from.
///
/// ```
/// use egg_pool::protocol::{Stream, generator};
/// assert_eq!(generator(7, Stream::Training, 2), generator(7, Stream::Training, 2));
/// assert_ne!(generator(7, Stream::Training, 2), generator(7, Stream::Training, 3));
/// ```
pub fn generator(seed: u64, stream: Stream, index: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((stream as u64) << 48 | index as u64);
    rng
}
