//! Where a generator stands, to be kept and restored.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// The seed, the stream and the position of a [`ChaCha8Rng`].
///
/// # Example
/// ```
/// use egg_nn::GeneratorState;
/// use rand_chacha::{ChaCha8Rng, rand_core::{Rng, SeedableRng}};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// rng.next_u32();
/// let mut again = GeneratorState::from_rng(&rng).generator();
/// assert_eq!(again.next_u64(), rng.next_u64());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorState {
    seed: [u8; 32],
    stream: u64,
    /// Blocks of 16 words, and words of the next: the position has 68 bits,
    /// which JSON has no number for.
    block: u64,
    word: u8,
}

impl GeneratorState {
    /// The current state of `rng`.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a generator has 2^64 blocks of 16 words"
    )]
    pub fn from_rng(rng: &ChaCha8Rng) -> Self {
        let position = rng.get_word_pos();
        Self {
            seed: rng.get_seed(),
            stream: rng.get_stream(),
            block: (position >> 4) as u64,
            word: (position & 15) as u8,
        }
    }

    /// A generator that continues from this state.
    pub fn generator(&self) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.seed);
        rng.set_stream(self.stream);
        rng.set_word_pos((u128::from(self.block) << 4) + u128::from(self.word & 15));
        rng
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::Rng;

    use super::*;

    #[test]
    fn every_position_is_restored() {
        for draws in 0..200 {
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            rng.set_stream(u64::MAX);
            for _ in 0..draws {
                rng.next_u32();
            }
            let state = GeneratorState::from_rng(&rng);
            let json = serde_json::to_string(&state).unwrap();
            let state: GeneratorState = serde_json::from_str(&json).unwrap();
            let mut again = state.generator();
            for _ in 0..50 {
                assert_eq!(again.next_u32(), rng.next_u32(), "after {draws} draws");
            }
        }
    }

    #[test]
    fn far_positions_are_restored() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        rng.set_word_pos((1 << 68) - 5);
        let mut again = GeneratorState::from_rng(&rng).generator();
        assert_eq!(again.next_u64(), rng.next_u64());
    }
}
