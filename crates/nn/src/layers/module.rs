//! The layers as candle's `Module` and `ModuleT`, for `Tensor::apply`,
//! `candle_nn::seq` and other users of these traits.
//!
//! Both traits are candle-core's, which candle-nn only re-exports: no feature is
//! needed. A function such as [`relu`](crate::relu()) becomes a module by a closure,
//! `|x: &Tensor| Ok(egg_nn::relu(x)?.into())`; what draws random numbers, by a
//! [`Seeded`](crate::Seeded).

use candle_core::{Module, ModuleT, Result, Tensor};
use egg_tensor::Tracked;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::{BatchNorm1d, Linear, Mlp, Pass};

/// The pass for a layer without randomness: its generator is never used.
fn run(train: bool, forward: impl FnOnce(&mut Pass<'_>) -> crate::Result<Tracked>) -> Result<Tensor> {
    let mut unused = ChaCha8Rng::from_seed([0; 32]);
    let y = match train {
        true => forward(&mut Pass::Training(&mut unused)),
        false => forward(&mut Pass::Evaluation),
    };
    Ok(y?.into())
}

/// [`Linear::forward`] on the tape, in evaluation too, as candle's own `Linear`: a `Module` does
/// not know which it is.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{Linear, Parameters};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let layer = Linear::new(&mut parameters.root(&mut rng), 3, 2)?;
/// let y = Tensor::ones((4, 3), DType::F32, &Device::Cpu)?.apply(&layer)?;
/// assert_eq!(y.dims(), [4, 2]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
impl Module for Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        run(true, |pass| Linear::forward(self, x, pass))
    }
}

/// [`BatchNorm1d::forward`]. Evaluation is off the tape, unlike that of candle's
/// `BatchNorm`: no gradient goes through it.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{BatchNorm1d, Parameters};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let norm = BatchNorm1d::new(&mut parameters.root(&mut rng), 1)?;
/// let x = Tensor::new(&[[1f64], [3.0]], &Device::Cpu)?;
/// let before = x.apply_t(&norm, false)?; // running mean 0, running variance 1
/// assert!((before.to_vec2::<f64>()?[1][0] - 3.0).abs() < 1e-4);
/// x.apply_t(&norm, true)?; // moves both
/// assert!(x.apply_t(&norm, false)?.to_vec2::<f64>()?[1][0] < 2.8);
/// # Ok::<(), egg_nn::Error>(())
/// ```
impl ModuleT for BatchNorm1d {
    fn forward_t(&self, x: &Tensor, train: bool) -> Result<Tensor> {
        run(train, |pass| self.forward(x, pass))
    }
}

/// [`Mlp::forward`]. Evaluation is off the tape.
impl ModuleT for Mlp {
    fn forward_t(&self, x: &Tensor, train: bool) -> Result<Tensor> {
        run(train, |pass| self.forward(x, pass))
    }
}
