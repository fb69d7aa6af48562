//! Adam as an optimiser of candle-nn.

use candle_core::backprop::GradStore;
use candle_core::{Result, Tensor, Var};
use candle_nn::Optimizer;

use super::Adam;
use crate::AdamConfig;
use crate::check::check_float;

/// For training loops that take any optimiser, and variables without names.
///
/// - `new` is by the trait's name, `Optimizer::new(vars, config)`; [`Adam::new`] takes
///   [`Parameters`](crate::Parameters). Variables are f32 or f64; those of integers are
///   left out, as candle-nn's AdamW does.
/// - Names in [`Adam::state`] are the positions in `vars`. `VarMap::all_vars` has another
///   order in every process: for a state that outlives this one, make an [`Adam::new`] of
///   [`Parameters::from_var_map`](crate::Parameters::from_var_map).
/// - `set_learning_rate` can't refuse a rate; if it is negative or not finite, the next
///   step does.
/// - `backward_step` is by [`backward`](crate::backward()), which is faster than candle's.
///
/// # Example
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use candle_nn::{Module, Optimizer, VarBuilder, VarMap, linear, loss};
/// use egg_nn::{Adam, AdamConfig, Decay};
///
/// let map = VarMap::new();
/// let model = linear(2, 1, VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu))?;
/// // Adam with L2 decay, which candle-nn has not.
/// let mut adam: Adam = Optimizer::new(map.all_vars(), AdamConfig::new(0.1, Decay::L2(1e-4)))?;
///
/// let x = Tensor::new(&[[1f32, 2.0], [2.0, 1.0], [0.0, 1.0]], &Device::Cpu)?;
/// let y = Tensor::new(&[[3f32], [0.0], [2.0]], &Device::Cpu)?; // 2 x_1 - x_0
/// for _ in 0..500 {
///     adam.backward_step(&loss::mse(&model.forward(&x)?, &y)?)?;
/// }
/// assert!(loss::mse(&model.forward(&x)?, &y)?.to_scalar::<f32>()? < 1e-2);
/// # Ok::<(), candle_core::Error>(())
/// ```
impl Optimizer for Adam {
    type Config = AdamConfig;

    fn new(vars: Vec<Var>, config: AdamConfig) -> Result<Self> {
        let mut named = Vec::with_capacity(vars.len());
        for (position, var) in vars.into_iter().enumerate() {
            if var.dtype().is_float() {
                check_float(&format!("variable {position}"), var.dtype())?;
                named.push((position.to_string(), var));
            }
        }
        Ok(Self::from_named(named, config)?)
    }

    fn step(&mut self, gradients: &GradStore) -> Result<()> {
        Ok(Adam::step(self, gradients)?)
    }

    fn learning_rate(&self) -> f64 {
        Adam::learning_rate(self)
    }

    fn set_learning_rate(&mut self, learning_rate: f64) {
        self.config.learning_rate = learning_rate;
    }

    fn backward_step(&mut self, loss: &Tensor) -> Result<()> {
        Ok(Adam::step(self, &crate::backward(loss)?)?)
    }
}
