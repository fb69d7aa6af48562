//! The mode of a forward pass: training or evaluation.

use candle_core::Var;
use egg_tensor::Tracked;
use rand_chacha::ChaCha8Rng;

/// Training, with the generator that dropout draws from, or evaluation.
///
/// In evaluation every layer works on detached tensors: no tape is built, and
/// no gradient flows, not even to the input. Batch statistics are not touched.
///
/// # Example
/// ```
/// use egg_nn::Pass;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// assert!(Pass::Training(&mut rng).is_training());
/// assert!(!Pass::Evaluation.is_training());
/// ```
#[derive(Debug)]
pub enum Pass<'a> {
    /// Builds a tape, updates running statistics, drops.
    Training(&'a mut ChaCha8Rng),
    /// No tape, running statistics, nothing dropped.
    Evaluation,
}

impl Pass<'_> {
    /// Whether this is training.
    pub fn is_training(&self) -> bool {
        matches!(self, Self::Training(_))
    }

    /// A parameter as this pass should use it: on the tape in training,
    /// detached in evaluation.
    ///
    /// # Example
    /// ```
    /// use candle_core::{Device, Var};
    /// use egg_nn::Pass;
    ///
    /// let weight = Var::new(&[1f32, 2.0], &Device::Cpu)?;
    /// assert!(!Pass::Evaluation.parameter(&weight).is_tracked());
    /// # Ok::<(), candle_core::Error>(())
    /// ```
    pub fn parameter(&self, parameter: &Var) -> Tracked {
        self.input(parameter)
    }

    /// An input as this pass should use it: as it is in training, detached in
    /// evaluation. Both share the numbers; nothing is copied.
    ///
    /// # Example
    /// ```
    /// use candle_core::{Device, Var};
    /// use egg_nn::Pass;
    ///
    /// let x = Var::new(&[1f32, 2.0], &Device::Cpu)?;
    /// let y = x.sqr()?;
    /// assert!(y.track_op() && !Pass::Evaluation.input(&y).is_tracked());
    /// # Ok::<(), candle_core::Error>(())
    /// ```
    pub fn input(&self, tensor: impl Into<Tracked>) -> Tracked {
        match self {
            Self::Training(_) => tensor.into(),
            Self::Evaluation => Tracked::constant(tensor),
        }
    }
}
