//! Initial values of parameters, from the seeded generator.
//!
//! The numbers are drawn in f64 and rounded to the parameter's type, so that an
//! f32 model starts at the rounded values of the f64 one. Only operations that
//! IEEE 754 defines to the last bit are used (no library logarithm), so the
//! same seed gives the same bits on every platform.

use candle_core::{DType, Device, Shape, Tensor};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::check::check_float;
use crate::{Error, Result};

/// How a parameter is initialised.
///
/// # Example
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::Init;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(3);
/// let weight = Init::linear(16).tensor((8, 16), DType::F32, &Device::Cpu, &mut rng)?;
/// let largest = weight.abs()?.max_all()?.to_scalar::<f32>()?;
/// assert!(largest <= 0.25); // 1 / sqrt(16)
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Init {
    /// All 0.
    Zeros,
    /// All 1.
    Ones,
    /// Uniform on `[-bound, bound)`.
    Uniform {
        /// Half the width, at least 0.
        bound: f64,
    },
    /// Glorot's uniform: `bound = sqrt(6 / (in + out))` for an `out x in`
    /// matrix.
    GlorotUniform,
    /// Normal.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation, at least 0.
        deviation: f64,
    },
}

impl Init {
    /// PyTorch's default for the weight and the bias of a linear layer:
    /// uniform with `bound = 1 / sqrt(in_features)`.
    ///
    /// # Example
    /// ```
    /// assert_eq!(egg_nn::Init::linear(4), egg_nn::Init::Uniform { bound: 0.5 });
    /// ```
    pub fn linear(in_features: usize) -> Self {
        Self::Uniform {
            bound: 1.0 / (in_features.max(1) as f64).sqrt(),
        }
    }

    /// A tensor of shape `shape`, drawn in row-major order.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a negative or non-finite bound or deviation,
    /// [`Error::Shape`] for [`Init::GlorotUniform`] of anything but a matrix,
    /// [`Error::DType`] for anything but f32 and f64.
    ///
    /// # Example
    /// ```
    /// use candle_core::{DType, Device};
    /// use egg_nn::Init;
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    ///
    /// let draw = |seed| {
    ///     let mut rng = ChaCha8Rng::seed_from_u64(seed);
    ///     let normal = Init::Normal { mean: 0.0, deviation: 1.0 };
    ///     normal.tensor(3, DType::F64, &Device::Cpu, &mut rng)?.to_vec1::<f64>()
    ///         .map_err(egg_nn::Error::from)
    /// };
    /// assert_eq!(draw(5)?, draw(5)?);
    /// assert_ne!(draw(5)?, draw(6)?);
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn tensor(
        self,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
        rng: &mut ChaCha8Rng,
    ) -> Result<Tensor> {
        check_float("a parameter", dtype)?;
        let shape = shape.into();
        let count = shape.elem_count();
        let values: Vec<f64> = match self {
            Self::Zeros => vec![0.0; count],
            Self::Ones => vec![1.0; count],
            Self::Uniform { bound } => {
                check_spread("bound", bound)?;
                (0..count).map(|_| bound * (2.0 * unit(rng) - 1.0)).collect()
            }
            Self::GlorotUniform => {
                let &[rows, columns] = shape.dims() else {
                    return Err(Error::Shape {
                        what: "a Glorot-initialised parameter".to_owned(),
                        found: shape.dims().to_vec(),
                        expected: "(out, in)".to_owned(),
                    });
                };
                let bound = (6.0 / (rows + columns).max(1) as f64).sqrt();
                (0..count).map(|_| bound * (2.0 * unit(rng) - 1.0)).collect()
            }
            Self::Normal { mean, deviation } => {
                check_spread("deviation", deviation)?;
                (0..count)
                    .map(|_| mean + deviation * standard_normal(rng))
                    .collect()
            }
        };
        Ok(match dtype {
            DType::F32 => {
                #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
                let rounded: Vec<f32> = values.into_iter().map(|v| v as f32).collect();
                Tensor::from_vec(rounded, shape, device)?
            }
            _ => Tensor::from_vec(values, shape, device)?,
        })
    }
}

fn check_spread(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::Parameter {
        name,
        value,
        requirement: "it must be finite and at least 0",
    })
}

/// Uniform on `[0, 1)`, a multiple of 2^-53.
pub(crate) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Marsaglia's polar method. It makes two normal numbers; the second is thrown
/// away, so that the generator's state is all the state there is.
fn standard_normal(rng: &mut ChaCha8Rng) -> f64 {
    loop {
        let u = 2.0 * unit(rng) - 1.0;
        let v = 2.0 * unit(rng) - 1.0;
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            return u * (-2.0 * logarithm(s) / s).sqrt();
        }
    }
}

/// The natural logarithm of a normal positive number, to about 1e-16, from
/// operations that give the same bits everywhere (the library's need not).
fn logarithm(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & FRACTION) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh(z), z = (m - 1) / (m + 1), |z| < 0.172.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let square = z * z;
    let series = (0..12)
        .rev()
        .fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * z * series
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq};
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn logarithm_matches_the_standard_library() {
        for x in [1e-300, 1e-17, 0.1, 0.5, 0.707, 0.99999, 1.0, 1.5, 3.0, 1e10] {
            let x: f64 = x;
            let (ours, library) = (logarithm(x), x.ln());
            assert!(
                abs_diff_eq!(ours, library, epsilon = 4e-16 * library.abs().max(1.0)),
                "ln {x}"
            );
        }
    }

    #[test]
    fn normal_numbers_have_the_right_moments() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let draws: Vec<f64> = (0..100_000).map(|_| standard_normal(&mut rng)).collect();
        let moment = |k: i32| draws.iter().map(|x| x.powi(k)).sum::<f64>() / draws.len() as f64;
        assert!(moment(1).abs() < 0.02);
        assert_abs_diff_eq!(moment(2), 1.0, epsilon = 0.02);
        assert!(moment(3).abs() < 0.05);
        assert_abs_diff_eq!(moment(4), 3.0, epsilon = 0.15);
    }

    #[test]
    fn seed_determines_the_sequence() {
        // Bits this code gave when it was written, not an independent source: they
        // say that another platform or version repeats them.
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let uniform: Vec<u64> = (0..2).map(|_| unit(&mut rng).to_bits()).collect();
        let normal = standard_normal(&mut rng).to_bits();
        assert_eq!(
            (uniform, normal),
            (
                vec![4604562003098661703, 4602064919497455152],
                4594726829371073393
            )
        );
    }
}
