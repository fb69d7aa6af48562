//! Dropout, and models with dropout, as modules of candle.

use std::sync::{Mutex, TryLockError};

use candle_core::{ModuleT, Tensor, bail};
use rand_chacha::ChaCha8Rng;

use crate::{Pass, Result};

/// A forward pass that draws random numbers, together with its generator, as a `ModuleT` of
/// candle's, whose `forward_t` has no generator argument.
///
/// Consecutive training passes give the same bits as with a [`Pass`] of the same generator. Two
/// concurrent ones on one `Seeded` are refused: their numbers would depend on which comes first.
/// Evaluations may run on any number of threads.
///
/// # Example
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{Dropout, Seeded};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let dropout = Dropout::new(0.5)?;
/// let rng = ChaCha8Rng::seed_from_u64(3);
/// let module = Seeded::new(rng, move |x, pass| dropout.forward(x, pass));
///
/// let x = Tensor::ones(1000, DType::F32, &Device::Cpu)?;
/// let y = x.apply_t(&module, true)?.to_vec1::<f32>()?;
/// assert!(y.iter().all(|&y| y == 0.0 || y == 2.0));
/// assert_eq!(x.apply_t(&module, false)?.to_vec1::<f32>()?, [1.0; 1000]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug)]
pub struct Seeded<F> {
    forward: F,
    rng: Mutex<ChaCha8Rng>,
}

impl<T: Into<Tensor>, F: Fn(&Tensor, &mut Pass<'_>) -> Result<T>> Seeded<F> {
    /// `forward`, with `rng` in its training passes.
    pub fn new(rng: ChaCha8Rng, forward: F) -> Self {
        let rng = Mutex::new(rng);
        Self { forward, rng }
    }
}

impl<T: Into<Tensor>, F: Fn(&Tensor, &mut Pass<'_>) -> Result<T>> ModuleT for Seeded<F> {
    fn forward_t(&self, x: &Tensor, train: bool) -> candle_core::Result<Tensor> {
        if !train {
            return Ok((self.forward)(x, &mut Pass::Evaluation)?.into());
        }
        // Not `lock`: a layer shares its rows on rayon, and a thread that waits for
        // others there may run the other pass, which would then deadlock.
        let mut rng = match self.rng.try_lock() {
            Ok(rng) => rng,
            // A pass that panicked leaves the generator in a valid state.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                bail!("two concurrent training passes draw from one generator; give each a Seeded of its own")
            }
        };
        Ok((self.forward)(x, &mut Pass::Training(&mut rng))?.into())
    }
}
