//! Random numbers for blocks that run in parallel.

use candle_core::WithDType;
use egg_tensor::blocks::map_chunks;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// As many independent generators as there are blocks, from one draw: the same
/// whichever thread works a block.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    key: [u8; 32],
}

impl Streams {
    /// Splits off; `rng` moves on by 32 bytes.
    pub(super) fn split(rng: &mut ChaCha8Rng) -> Self {
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        Self { key }
    }

    /// The generator of a block.
    pub(super) fn stream(&self, block: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.key);
        rng.set_stream(block as u64);
        rng
    }

    /// Standard normal numbers, in parallel.
    pub(super) fn normal<T: WithDType>(&self, count: usize) -> Vec<T> {
        const BLOCK: usize = 1 << 12;
        let mut numbers = vec![T::zero(); count];
        map_chunks(&mut numbers, BLOCK, |block, numbers| {
            let mut rng = self.stream(block);
            for number in numbers {
                let drawn: f64 = StandardNormal.sample(&mut rng);
                *number = T::from_f64(drawn);
            }
        });
        numbers
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn numbers_are_standard_normal_and_differ_between_blocks_and_splits() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let first: Vec<f64> = Streams::split(&mut rng).normal(100_000);
        let second: Vec<f64> = Streams::split(&mut rng).normal(100_000);
        assert_ne!(first[..10], second[..10]);
        assert_ne!(first[..10], first[4096..4106]);
        let moment = |power: i32| first.iter().map(|x| x.powi(power)).sum::<f64>() / 1e5;
        // Five standard errors.
        assert!(moment(1).abs() < 0.016);
        assert_abs_diff_eq!(moment(2), 1.0, epsilon = 0.023);
        assert_abs_diff_eq!(moment(4), 3.0, epsilon = 0.16);
    }
}
