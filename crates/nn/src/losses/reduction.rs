//! The reduction of a batch's losses to one number.

use crate::{Error, Result};

/// The sum or the mean of a batch's losses.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_nn::{Reduction, mse};
///
/// let (x, y) = (Tensor::new(&[1f64, 2.0], &Device::Cpu)?, Tensor::new(&[0f64, 0.0], &Device::Cpu)?);
/// assert_eq!(mse(&x, &y, Reduction::Sum)?.to_scalar::<f64>()?, 5.0);
/// assert_eq!(mse(&x, &y, Reduction::Mean)?.to_scalar::<f64>()?, 2.5);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The sum; 0 for an empty batch.
    Sum,
    /// The mean; an empty batch has none.
    Mean,
}

impl Reduction {
    /// What the sum over `count` losses is multiplied by.
    pub(crate) fn scale(self, what: &str, count: usize, shape: &[usize]) -> Result<f64> {
        match self {
            Self::Sum => Ok(1.0),
            Self::Mean if count > 0 => Ok(1.0 / count as f64),
            Self::Mean => Err(Error::Shape {
                what: what.to_owned(),
                found: shape.to_vec(),
                expected: "at least one element, to take the mean of; skip the batch or take the sum"
                    .to_owned(),
            }),
        }
    }
}
