//! Random choices whose results never change: not between platforms, and not
//! when a library changes how it draws.

use rand::Rng;

/// A whole number below `bound`, all equally likely; 0 if `bound` is 0.
pub(crate) fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    // Multiply and keep the high half; redraw the few low halves that would
    // favour some results.
    let unfair = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        #[expect(clippy::cast_possible_truncation, reason = "the low and the high half")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        if low >= unfair {
            return high;
        }
    }
}

/// An index below `bound`.
pub(crate) fn index(rng: &mut impl Rng, bound: usize) -> usize {
    usize::try_from(below(rng, bound as u64)).unwrap_or(0)
}

/// Uniform in [0, 1), 53 bits.
pub(crate) fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Every order equally likely (Fisher and Yates).
pub(crate) fn shuffle<T>(rng: &mut impl Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, index(rng, last + 1));
    }
}

/// The numbers below `count` in a random order, the same for the same generator
/// on every platform.
///
/// ```
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let order = egg_graph::random_order(5, &mut ChaCha8Rng::seed_from_u64(0));
/// assert_eq!(order, egg_graph::random_order(5, &mut ChaCha8Rng::seed_from_u64(0)));
/// ```
pub fn random_order(count: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    shuffle(rng, &mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn bounded_draws_are_uniform() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            let mut order = [0, 1, 2];
            shuffle(&mut rng, &mut order);
            counts[order[0] * 2 + usize::from(order[1] > order[2])] += 1;
        }
        // Six standard deviations of a binomial(60000, 1/6).
        assert!(
            counts.iter().all(|count| count.abs_diff(10_000) < 550),
            "{counts:?}"
        );
        assert_eq!(below(&mut rng, 0), 0);
        assert_eq!(below(&mut rng, 1), 0);
    }
}
