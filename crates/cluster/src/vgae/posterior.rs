//! The distribution of every node's latent vector: its sample and its distance
//! from the prior.

use candle_core::{Tensor, WithDType};
use egg_nn::{Pass, Tracked};
use egg_tensor::blocks::{map, map_chunks, map_new};
use egg_tensor::{Backward, Element, Forward, Operand, Operation, apply};

use super::streams::Streams;
use crate::error::{Error, Result};

/// The largest log sigma that counts, as in PyTorch Geometric; above it there is
/// no gradient either.
pub const MAX_LOG_SIGMA: f64 = 10.0;

/// Numbers per block.
const BLOCK: usize = 1 << 12;

/// Gaussian latent vectors with independent coordinates, or points.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_cluster::vgae::Posterior;
///
/// let (mu, log_sigma) = (Tensor::new(&[[1f64, 0.0]], &Device::Cpu)?, Tensor::zeros((1, 2), candle_core::DType::F64, &Device::Cpu)?);
/// let posterior = Posterior::new(mu, Some(log_sigma.into()))?;
/// let divergence = posterior.divergence()?.unwrap().to_scalar::<f64>()?;
/// assert_eq!(divergence, 0.5); // mu^2 / 2
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Posterior {
    mu: Tracked,
    log_sigma: Option<Tracked>,
}

impl Posterior {
    /// Means (n x d) and, unless the encoder is not variational, the logarithms
    /// of the standard deviations (n x d).
    ///
    /// # Errors
    /// [`Error::Layer`] unless the shapes and types are the same.
    pub fn new(mu: impl Into<Tracked>, log_sigma: Option<Tracked>) -> Result<Self> {
        let mu = mu.into();
        mu.dims2()?;
        if let Some(log_sigma) = &log_sigma
            && (log_sigma.dims() != mu.dims() || log_sigma.dtype() != mu.dtype())
        {
            return Err(Error::Layer(egg_nn::Error::Shape {
                what: "log sigma".to_owned(),
                found: log_sigma.dims().to_vec(),
                expected: format!("{:?} and {:?}, as the means", mu.dims(), mu.dtype()),
            }));
        }
        Ok(Self { mu, log_sigma })
    }

    /// n x d.
    pub fn mu(&self) -> &Tracked {
        &self.mu
    }

    /// n x d, before the limit of [`MAX_LOG_SIGMA`].
    pub fn log_sigma(&self) -> Option<&Tracked> {
        self.log_sigma.as_ref()
    }

    /// In training `mu + sigma * noise` (the noise from the pass's generator, in
    /// blocks with a stream each), in evaluation `mu`.
    ///
    /// # Errors
    /// [`Error::Candle`] unless the tensors are f32 or f64 on the CPU.
    pub fn sample(&self, pass: &mut Pass<'_>) -> Result<Tracked> {
        match (pass, &self.log_sigma) {
            (Pass::Training(rng), Some(log_sigma)) => {
                let streams = Streams::split(rng);
                Ok(apply(Reparametrise { streams }, [&self.mu, log_sigma])?)
            }
            _ => Ok(self.mu.clone()),
        }
    }

    /// The mean over nodes of the divergence from the standard normal,
    /// `KL_i = -1/2 sum_k (1 + 2 log sigma - mu^2 - sigma^2)`, a scalar; none for
    /// points.
    ///
    /// # Errors
    /// [`Error::Candle`] unless the tensors are f32 or f64 on the CPU.
    pub fn divergence(&self) -> Result<Option<Tensor>> {
        let divergence = |log_sigma: &Tracked| Ok(apply(Divergence, [&self.mu, log_sigma])?.into());
        self.log_sigma.as_ref().map(divergence).transpose()
    }
}

fn limited<T: WithDType>(log_sigma: T) -> f64 {
    let log_sigma = log_sigma.to_f64();
    // NaN stays NaN.
    if log_sigma > MAX_LOG_SIGMA {
        MAX_LOG_SIGMA
    } else {
        log_sigma
    }
}

/// A vector of which each number is worked out by its index, in parallel.
fn new<T: WithDType + Default>(len: usize, number: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (numbers, _) = map_new(len, BLOCK, |block, out: &mut [T]| {
        let places = out.iter_mut().zip(block * BLOCK..);
        places.for_each(|(out, index)| *out = number(index));
    });
    numbers
}

struct Reparametrise {
    streams: Streams,
}

impl<T: Element> Operation<T, 2> for Reparametrise {
    /// `sigma * noise`, which is also the derivative by log sigma.
    type Saved = Vec<T>;
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "egg-reparametrise"
    }

    fn forward(&self, [mu, log_sigma]: [Operand<'_, T>; 2]) -> candle_core::Result<Forward<T, Vec<T>>> {
        let mut scaled = self.streams.normal::<T>(mu.len());
        map_chunks(&mut scaled, BLOCK, |block, scaled| {
            for (noise, log_sigma) in scaled.iter_mut().zip(&log_sigma[block * BLOCK..]) {
                *noise *= T::from_f64(limited(*log_sigma).exp());
            }
        });
        Ok(Forward {
            values: new(mu.len(), |index| mu[index] + scaled[index]),
            shape: mu.dims.into(),
            saved: scaled,
        })
    }

    fn backward(&self, of: Backward<'_, T, Vec<T>, 2>) -> candle_core::Result<[Option<Vec<T>>; 2]> {
        let ([_, log_sigma], g) = (of.inputs, of.gradient);
        let of_log_sigma = new(g.len(), |index| {
            let limited = log_sigma[index].to_f64() > MAX_LOG_SIGMA;
            if limited {
                T::zero()
            } else {
                g[index] * of.saved[index]
            }
        });
        Ok([Some(g.to_vec()), Some(of_log_sigma)])
    }
}

struct Divergence;

impl<T: Element> Operation<T, 2> for Divergence {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "egg-divergence"
    }

    fn forward(&self, [mu, log_sigma]: [Operand<'_, T>; 2]) -> candle_core::Result<Forward<T>> {
        let (nodes, _) = mu.dims2()?;
        let sums = map(&mu, BLOCK, |block, mu| {
            let pairs = mu.iter().zip(&log_sigma[block * BLOCK..]);
            let terms = pairs.map(|(mu, log_sigma)| {
                let (mu, log_sigma) = (mu.to_f64(), limited(*log_sigma));
                1.0 + 2.0 * log_sigma - mu * mu - (2.0 * log_sigma).exp()
            });
            terms.sum::<f64>()
        });
        let value = -0.5 * sums.iter().sum::<f64>() / nodes.max(1) as f64;
        Ok(Forward::new(vec![T::from_f64(value)], ()))
    }

    fn backward(&self, of: Backward<'_, T, (), 2>) -> candle_core::Result<[Option<Vec<T>>; 2]> {
        let [mu, log_sigma] = of.inputs;
        let scale = of.scalar_gradient() / mu.dims2()?.0.max(1) as f64;
        let of_mu = new(mu.len(), |index| T::from_f64(scale * mu[index].to_f64()));
        let of_log_sigma = new(log_sigma.len(), |index| {
            let log_sigma = log_sigma[index].to_f64();
            let inside = log_sigma <= MAX_LOG_SIGMA;
            T::from_f64(if inside {
                scale * ((2.0 * log_sigma).exp() - 1.0)
            } else {
                0.0
            })
        });
        Ok([Some(of_mu), Some(of_log_sigma)])
    }
}
