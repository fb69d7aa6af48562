//! Clipping of gradients by their norm.

use candle_core::WithDType;
use candle_core::backprop::GradStore;
use egg_tensor::blocks::map;
use egg_tensor::{for_element, with_slices};

use crate::{Error, Parameters, Result};

/// Numbers per partial sum.
const BLOCK: usize = 1 << 12;

/// Scales all gradients by `max_norm / (norm + 1e-6)` if that is below 1, and
/// gives the norm before, as PyTorch's `clip_grad_norm_`: the Euclidean norm of
/// the gradients of all parameters taken together.
///
/// Parameters without a gradient are skipped.
///
/// # Errors
/// [`Error::Parameter`] unless `max_norm` is above 0;
/// [`Error::NonFiniteGradient`] with the name of the first parameter whose
/// gradient is not finite, and then nothing is changed.
///
/// # Example
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::{Init, Parameters, clip_gradient_norm};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let x = parameters.root(&mut rng).parameter("x", 4, Init::Ones)?;
/// let mut gradients = x.sqr()?.sum_all()?.backward()?; // (2, 2, 2, 2)
/// assert_eq!(clip_gradient_norm(&parameters, &mut gradients, 1.0)?, 4.0);
/// let clipped = gradients.get(&x).unwrap().to_vec1::<f64>()?;
/// assert!(clipped.iter().all(|g| (g - 0.5).abs() < 1e-6));
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn clip_gradient_norm(parameters: &Parameters, gradients: &mut GradStore, max_norm: f64) -> Result<f64> {
    if max_norm.is_nan() || max_norm <= 0.0 {
        return Err(Error::Parameter {
            name: "max_norm",
            value: max_norm,
            requirement: "it must be above 0",
        });
    }
    let mut squares = 0.0;
    for (name, parameter) in parameters.trainable() {
        let Some(gradient) = gradients.get(parameter) else {
            continue;
        };
        let sum: candle_core::Result<f64> = for_element!(gradient.dtype(), T => {
            with_slices([gradient], |[values]: [&[T]; 1]| {
                let blocks = map(values, BLOCK, |_, values| {
                    let squares = values.iter().map(|&v| <T as WithDType>::to_f64(v).powi(2));
                    squares.sum::<f64>()
                });
                Ok(blocks.iter().sum())
            })
        });
        let sum = sum?;
        if !sum.is_finite() {
            return Err(Error::NonFiniteGradient {
                name: name.to_owned(),
            });
        }
        squares += sum;
    }
    let norm = squares.sqrt();
    let scale = max_norm / (norm + 1e-6);
    if scale < 1.0 {
        for (_, parameter) in parameters.trainable() {
            // A new tensor: gradients of different parameters may share memory.
            if let Some(gradient) = gradients.get(parameter) {
                let clipped = gradient.affine(scale, 0.0)?;
                gradients.insert(parameter, clipped);
            }
        }
    }
    Ok(norm)
}
