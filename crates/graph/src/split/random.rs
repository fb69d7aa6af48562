//! Splits by chance: the usual proportions, and the paper's own.

use rand::Rng;

use super::Split;
use super::mt19937::Mt19937;
use crate::draw;

impl Split {
    /// 80 % for training, 10 % for validation, the rest for testing, rounded as
    /// the paper's code does: `int(0.8 N)`, `int(0.1 N)`, rest.
    ///
    /// ```
    /// use egg_graph::Split;
    /// use rand::SeedableRng;
    /// use rand_chacha::ChaCha8Rng;
    ///
    /// let split = Split::random(188, &mut ChaCha8Rng::seed_from_u64(7));
    /// assert_eq!((split.train.len(), split.validation.len(), split.test.len()), (150, 18, 20));
    /// ```
    pub fn random(items: usize, rng: &mut impl Rng) -> Self {
        cut(draw::random_order(items, rng))
    }

    /// The split of the paper's GIN experiments: the same proportions of
    /// PyTorch's `randperm(items)` after `manual_seed(0)`.
    ///
    /// ```
    /// use egg_graph::Split;
    /// let split = Split::paper(1113);
    /// assert_eq!(split, Split::paper(1113));
    /// assert_eq!(split.train.len(), 890);
    /// ```
    pub fn paper(items: usize) -> Self {
        cut(torch_randperm(items, 0))
    }
}

fn cut(order: Vec<usize>) -> Split {
    // In integers, so that 0.8 * 10 is not 7.999.
    let (train, validation) = (order.len() * 8 / 10, order.len() / 10);
    let mut rest = order;
    let test = rest.split_off(train + validation);
    let validation = rest.split_off(train);
    Split {
        train: rest,
        validation,
        test,
    }
}

/// `torch.randperm(items)` after `torch.manual_seed(seed)`, on a CPU.
fn torch_randperm(items: usize, seed: u32) -> Vec<usize> {
    let mut generator = Mt19937::new(seed);
    let mut order: Vec<usize> = (0..items).collect();
    for at in 0..items.saturating_sub(1) {
        let step = generator.next_u32() as usize % (items - at);
        order.swap(at, at + step);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_those_of_pytorch() {
        let fixture: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/fixtures/randperm.json")).unwrap();
        let cases = fixture["permutations"].as_array().unwrap();
        assert!(cases.len() >= 5);
        for case in cases {
            let count = usize::try_from(case["count"].as_u64().unwrap()).unwrap();
            let seed = u32::try_from(case["seed"].as_u64().unwrap()).unwrap();
            let order = torch_randperm(count, seed);
            let number = |value: &serde_json::Value| usize::try_from(value.as_u64().unwrap()).unwrap();
            let first: Vec<usize> = case["first"].as_array().unwrap().iter().map(number).collect();
            assert_eq!(order[..first.len()], first, "{count}");
            // A sum over all positions, modulo a prime, stands for the rest.
            let sum = order.iter().enumerate().fold(0u64, |sum, (at, value)| {
                (sum + (at as u64 + 1) * (*value as u64 + 1)) % 1_000_000_007
            });
            assert_eq!(sum, case["checksum"].as_u64().unwrap(), "{count}");
        }
    }

    #[test]
    fn parts_are_truncated_as_pythons_int_does() {
        for items in 0..2000usize {
            let split = Split::paper(items);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss
            )]
            let int = |x: f64| (x * items as f64) as usize;
            assert_eq!(split.train.len(), int(0.8), "{items}");
            assert_eq!(split.validation.len(), int(0.1), "{items}");
            split.check(items).unwrap();
            assert_eq!(split.len(), items);
        }
    }
}
