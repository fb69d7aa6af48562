//! The distribution of every node's latent vector: its sample and its distance
//! from the prior.

use std::sync::{Mutex, PoisonError};

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp2, DType, Layout, Shape, Tensor, WithDType};
use egg_nn::Pass;
use egg_nn::blocks::{map_chunks, map_new};
use egg_nn::numbers::{in_order, with_values};

use super::element::for_element;
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
/// let posterior = Posterior::new(mu, Some(log_sigma))?;
/// let divergence = posterior.divergence()?.unwrap().to_scalar::<f64>()?;
/// assert_eq!(divergence, 0.5); // mu^2 / 2
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Posterior {
    mu: Tensor,
    log_sigma: Option<Tensor>,
}

impl Posterior {
    /// Means (n x d) and, unless the encoder is not variational, the logarithms
    /// of the standard deviations (n x d).
    ///
    /// # Errors
    /// [`Error::Layer`] unless the shapes and types are the same.
    pub fn new(mu: Tensor, log_sigma: Option<Tensor>) -> Result<Self> {
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
    pub fn mu(&self) -> &Tensor {
        &self.mu
    }

    /// n x d, before the limit of [`MAX_LOG_SIGMA`].
    pub fn log_sigma(&self) -> Option<&Tensor> {
        self.log_sigma.as_ref()
    }

    /// In training `mu + sigma * noise` (the noise from the pass's generator, in
    /// blocks with a stream each), in evaluation `mu`.
    ///
    /// # Errors
    /// [`Error::Candle`] unless the tensors are f32 or f64 on the CPU.
    pub fn sample(&self, pass: &mut Pass<'_>) -> Result<Tensor> {
        match (pass, &self.log_sigma) {
            (Pass::Training(rng), Some(log_sigma)) => {
                let op = Reparametrise {
                    streams: Streams::split(rng),
                    pull: Mutex::new(None),
                };
                Ok(self.mu.apply_op2(log_sigma, op)?)
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
        let divergence = |log_sigma: &Tensor| Ok(self.mu.apply_op2(log_sigma, Divergence)?);
        self.log_sigma.as_ref().map(divergence).transpose()
    }
}

fn limited<T: WithDType>(log_sigma: T) -> f64 {
    let log_sigma = log_sigma.to_f64();
    // A NaN stays one.
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
    /// `sigma * noise`, which is also the derivative by log sigma.
    pull: Mutex<Option<CpuStorage>>,
}

impl CustomOp2 for Reparametrise {
    fn name(&self) -> &'static str {
        "egg-reparametrise"
    }

    fn cpu_fwd(
        &self,
        mu: &CpuStorage,
        mu_layout: &Layout,
        log_sigma: &CpuStorage,
        log_sigma_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let (z, pull) = for_element!(mu.dtype(), T => {
            let mu = in_order::<T>(mu, mu_layout)?;
            let log_sigma = in_order::<T>(log_sigma, log_sigma_layout)?;
            let mut pull = self.streams.normal::<T>(mu.len());
            map_chunks(&mut pull, BLOCK, |block, pull| {
                for (pull, log_sigma) in pull.iter_mut().zip(&log_sigma[block * BLOCK..]) {
                    *pull *= T::from_f64(limited(*log_sigma).exp());
                }
            });
            let z = new(mu.len(), |index| mu[index] + pull[index]);
            candle_core::Result::Ok((<T as WithDType>::to_cpu_storage_owned(z), <T as WithDType>::to_cpu_storage_owned(pull)))
        })?;
        *self.pull.lock().unwrap_or_else(PoisonError::into_inner) = Some(pull);
        Ok((z, mu_layout.shape().clone()))
    }

    fn bwd(
        &self,
        _: &Tensor,
        log_sigma: &Tensor,
        _: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let pull = self.pull.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pull) = pull.as_ref() else {
            candle_core::bail!("a sample has no gradient before its forward pass");
        };
        for_element!(log_sigma.dtype(), T => {
            let pull = <T as WithDType>::cpu_storage_as_slice(pull)?;
            let gradient = with_values::<T, _>(g, |g| with_values::<T, _>(log_sigma, |log_sigma| {
                Ok(new(g.len(), |index| {
                    let limited = log_sigma[index].to_f64() > MAX_LOG_SIGMA;
                    if limited { T::from_f64(0.0) } else { g[index] * pull[index] }
                }))
            }))?;
            Ok((Some(g.clone()), Some(Tensor::from_vec(gradient, g.shape(), g.device())?)))
        })
    }
}

struct Divergence;

impl CustomOp2 for Divergence {
    fn name(&self) -> &'static str {
        "egg-divergence"
    }

    fn cpu_fwd(
        &self,
        mu: &CpuStorage,
        mu_layout: &Layout,
        log_sigma: &CpuStorage,
        log_sigma_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let nodes = mu_layout.shape().dims2()?.0;
        let value = for_element!(mu.dtype(), T => {
            let mu = in_order::<T>(mu, mu_layout)?;
            let log_sigma = in_order::<T>(log_sigma, log_sigma_layout)?;
            let sums = egg_nn::blocks::map(&mu, BLOCK, |block, mu| {
                let pairs = mu.iter().zip(&log_sigma[block * BLOCK..]);
                pairs.map(|(mu, log_sigma)| {
                    let (mu, log_sigma) = (mu.to_f64(), limited(*log_sigma));
                    1.0 + 2.0 * log_sigma - mu * mu - (2.0 * log_sigma).exp()
                }).sum::<f64>()
            });
            let value = -0.5 * sums.iter().sum::<f64>() / nodes.max(1) as f64;
            candle_core::Result::Ok(<T as WithDType>::to_cpu_storage_owned(vec![T::from_f64(value)]))
        })?;
        Ok((value, ().into()))
    }

    fn bwd(
        &self,
        mu: &Tensor,
        log_sigma: &Tensor,
        _: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let scale = g.to_dtype(DType::F64)?.to_scalar::<f64>()? / mu.dims2()?.0.max(1) as f64;
        for_element!(mu.dtype(), T => {
            let of_mu = with_values::<T, _>(mu, |mu| {
                Ok(new(mu.len(), |index| T::from_f64(scale * mu[index].to_f64())))
            })?;
            let of_log_sigma = with_values::<T, _>(log_sigma, |values| {
                Ok(new(values.len(), |index| {
                    let log_sigma = values[index].to_f64();
                    let inside = log_sigma <= MAX_LOG_SIGMA;
                    T::from_f64(if inside { scale * ((2.0 * log_sigma).exp() - 1.0) } else { 0.0 })
                }))
            })?;
            let tensor = |values: Vec<T>| Tensor::from_vec(values, mu.shape(), mu.device());
            Ok((Some(tensor(of_mu)?), Some(tensor(of_log_sigma)?)))
        })
    }
}
