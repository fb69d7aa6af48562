//! Dropout, with random numbers from the generator of the pass.

use egg_tensor::blocks::{map_chunks, map_new};
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply, vectorised};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::check::check_float;
use crate::{Error, Pass, Result};

/// Numbers per block, each with a stream of random numbers of its own.
const BLOCK: usize = 1 << 12;

/// Inverted dropout: in training each number is 0 with probability p and
/// multiplied by `1 / (1 - p)` otherwise, so that its expectation stays; in
/// evaluation nothing happens.
///
/// A training pass draws one 32-byte key from the [`Pass`]'s generator; each
/// block of numbers then has its own ChaCha8 stream under that key. The same
/// seed gives the same mask on any number of threads and any platform.
///
/// # Example
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{Dropout, Pass};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let dropout = Dropout::new(0.5)?;
/// let x = Tensor::ones((100, 10), DType::F32, &Device::Cpu)?;
/// let mut rng = ChaCha8Rng::seed_from_u64(3);
/// let y = dropout.forward(&x, &mut Pass::Training(&mut rng))?.flatten_all()?.to_vec1::<f32>()?;
/// assert!(y.iter().all(|&y| y == 0.0 || y == 2.0));
/// let kept = y.iter().filter(|&&y| y > 0.0).count();
/// assert!((400..600).contains(&kept));
///
/// let y = dropout.forward(&x, &mut Pass::Evaluation)?;
/// assert_eq!(y.sum_all()?.to_scalar::<f32>()?, 1000.0);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    probability: f64,
}

impl Dropout {
    /// Dropout with probability `p`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `0 <= p < 1`.
    pub fn new(probability: f64) -> Result<Self> {
        if !(0.0..1.0).contains(&probability) {
            return Err(Error::Parameter {
                name: "dropout",
                value: probability,
                requirement: "it must be at least 0 and below 1",
            });
        }
        Ok(Self { probability })
    }

    /// The probability with which a number is dropped.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// The input with some numbers dropped, of the same shape, any. Nothing is
    /// drawn if the probability is 0.
    ///
    /// # Errors
    /// [`Error::DType`] unless `x` is f32 or f64.
    pub fn forward(&self, x: impl Into<Tracked>, pass: &mut Pass<'_>) -> Result<Tracked> {
        let x = x.into();
        check_float("the input of dropout", x.dtype())?;
        match pass {
            Pass::Training(rng) if self.probability > 0.0 => {
                let op = Drop {
                    kept: mask(self.probability, x.elem_count(), rng),
                    scale: 1.0 / (1.0 - self.probability),
                };
                apply(op, [x])
            }
            pass => Ok(pass.input(x)),
        }
    }
}

/// Which of `count` numbers are kept.
fn mask(probability: f64, count: usize, rng: &mut ChaCha8Rng) -> Vec<bool> {
    let mut key = [0; 32];
    rng.fill_bytes(&mut key);
    // Below 2^32, as the probability is below 1 by at least 2^-53.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounding down is the purpose, and a probability is not negative"
    )]
    let threshold = (probability * (1u64 << 32) as f64) as u64;
    let mut kept = vec![false; count];
    map_chunks(&mut kept, BLOCK, |block, kept| {
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(block as u64);
        kept.iter_mut()
            .for_each(|kept| *kept = u64::from(rng.next_u32()) >= threshold);
    });
    kept
}

struct Drop {
    kept: Vec<bool>,
    scale: f64,
}

impl Drop {
    /// What is kept, scaled: the same for values and for gradients.
    fn run<T: Element>(&self, x: &[T]) -> Vec<T> {
        let scale = T::from_f64(self.scale);
        let (out, _) = map_new(x.len(), BLOCK, |block, out| {
            let from = block * BLOCK..block * BLOCK + out.len();
            keep(&x[from.clone()], &self.kept[from], scale, out);
        });
        out
    }
}

vectorised! {
    /// What is kept, scaled, and 0 elsewhere.
    fn keep<T: Element>(x: &'a [T], kept: &'a [bool], scale: T, out: &'a mut [T]) -> () {
        for (out, (&x, &kept)) in out.iter_mut().zip(x.iter().zip(kept)) {
            // Computed in any case: no branch, so no misprediction.
            let scaled = x * scale;
            *out = if kept { scaled } else { T::zero() };
        }
    }
}

impl<T: Element> Operation<T, 1> for Drop {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-dropout"
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T>> {
        Ok(Forward::new(self.run(&x), x.dims))
    }

    fn backward(&self, of: Backward<'_, T, (), 1>) -> Result<[Option<Vec<T>>; 1]> {
        Ok([Some(self.run(of.gradient))])
    }
}

#[cfg(test)]
mod tests {
    use approx::abs_diff_eq;

    use super::*;

    #[test]
    fn seed_determines_the_mask() {
        // Bits this code gave when it was written, not an independent source: they
        // say that another platform or version repeats them.
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let kept = mask(0.5, BLOCK + 32, &mut rng);
        let bits = |kept: &[bool]| kept.iter().fold(0u32, |bits, &kept| bits << 1 | u32::from(kept));
        assert_eq!(
            (bits(&kept[..32]), bits(&kept[BLOCK..])),
            (3218390020, 4270875952)
        );
    }

    #[test]
    fn dropout_rate_matches_the_probability() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for probability in [0.001, 0.1, 0.5, 0.9, 1.0 - 1e-16] {
            let kept = mask(probability, 200_000, &mut rng)
                .iter()
                .filter(|kept| **kept)
                .count();
            let expected = 200_000.0 * (1.0 - probability);
            let deviation = (expected * probability).sqrt();
            assert!(
                abs_diff_eq!(kept as f64, expected, epsilon = 5.0 * deviation.max(0.1)),
                "{probability}"
            );
        }
    }
}
