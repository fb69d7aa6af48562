//! Adam and AdamW, stepping in place.

use std::cell::RefCell;
use std::collections::BTreeMap;

use candle_core::backend::BackendStorage;
use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, DType, InplaceOp2, Layout, Tensor, Var, WithDType, bail};
use egg_tensor::blocks::share;
use egg_tensor::{Element, for_element, row_major, vectorised, with_slices};

use crate::check::check_dtype;
use crate::{Error, Parameters, Result};

mod config;
#[cfg(feature = "candle-nn")]
mod optimizer;

use config::check_rate;
pub use config::{AdamConfig, Decay};

/// Numbers per block of a parallel step.
const BLOCK: usize = 1 << 13;

/// Adam with L2 decay, or AdamW, as [`Decay`] says.
///
/// With gradient g (plus `weight * parameter` for [`Decay::L2`]) and t steps so
/// far, this one included:
/// `m = beta1 m + (1 - beta1) g`, `v = beta2 v + (1 - beta2) g^2`,
/// `parameter -= rate / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + epsilon)`.
///
/// Steps are written into the parameters' own memory. A parameter without a gradient is not
/// changed, not even by the decay, nor are its moments and step count, as in PyTorch.
///
/// Negligible values are flushed to 0: parameters below the root of the smallest normal number
/// (1e-19 in f32), moments below that number itself. The weights of a dead ReLU unit shrink without
/// bound under L2 decay, and once their products are subnormal a step takes ten times as long.
///
/// # Example
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::{Adam, AdamConfig, Decay, Init, Parameters};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let x = parameters.root(&mut rng).parameter("x", 2, Init::Ones)?;
/// let mut adam = Adam::new(&parameters, AdamConfig::new(0.1, Decay::L2(0.0)))?;
/// for _ in 0..100 {
///     let gradients = x.sqr()?.sum_all()?.backward()?;
///     adam.step(&gradients)?;
/// }
/// assert!(x.to_vec1::<f64>()?.iter().all(|x| x.abs() < 0.05));
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug)]
pub struct Adam {
    config: AdamConfig,
    slots: BTreeMap<String, Slot>,
}

/// A parameter and the moments of its gradients.
#[derive(Debug)]
struct Slot {
    parameter: Var,
    steps: u64,
    first: CpuStorage,
    second: CpuStorage,
}

/// The state of an [`Adam`], by the parameters' names.
///
/// # Example
/// ```
/// # use candle_core::{DType, Device};
/// # use egg_nn::{Adam, AdamConfig, Decay, Init, Parameters};
/// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// # let mut rng = ChaCha8Rng::seed_from_u64(1);
/// # let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// # parameters.root(&mut rng).parameter("x", 2, Init::Ones)?;
/// let adam = Adam::new(&parameters, AdamConfig::new(0.1, Decay::L2(0.0)))?;
/// let state = adam.state()?;
/// assert_eq!(state.moments["x"].steps, 0);
/// assert_eq!(state.moments["x"].first.dims(), [2]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdamState {
    /// The settings, with the learning rate as it stands.
    pub config: AdamConfig,
    /// The moments of each parameter.
    pub moments: BTreeMap<String, AdamMoments>,
}

/// The moments of one parameter's gradients.
#[derive(Debug, Clone)]
pub struct AdamMoments {
    /// How many steps the parameter took.
    pub steps: u64,
    /// The running mean of the gradients, of the parameter's shape.
    pub first: Tensor,
    /// The running mean of their squares, of the parameter's shape.
    pub second: Tensor,
}

impl Adam {
    /// An optimiser for the parameters that are in `parameters` now.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a setting is out of its range.
    pub fn new(parameters: &Parameters, config: AdamConfig) -> Result<Self> {
        let trainable = parameters.trainable();
        Self::from_named(
            trainable.map(|(name, parameter)| (name.to_owned(), parameter.clone())),
            config,
        )
    }

    /// An optimiser for f32 and f64 variables of different names.
    fn from_named(named: impl IntoIterator<Item = (String, Var)>, config: AdamConfig) -> Result<Self> {
        config.check()?;
        let slot = |(name, parameter): (String, Var)| {
            let zeros = || match parameter.dtype() {
                DType::F32 => CpuStorage::F32(vec![0.0; parameter.elem_count()]),
                _ => CpuStorage::F64(vec![0.0; parameter.elem_count()]),
            };
            let (first, second) = (zeros(), zeros());
            let slot = Slot {
                parameter,
                steps: 0,
                first,
                second,
            };
            (name, slot)
        };
        let slots = named.into_iter().map(slot).collect();
        Ok(Self { config, slots })
    }

    /// The learning rate.
    pub fn learning_rate(&self) -> f64 {
        self.config.learning_rate
    }

    /// Changes the learning rate of the steps to come.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is negative or not finite.
    pub fn set_learning_rate(&mut self, learning_rate: f64) -> Result<()> {
        check_rate(learning_rate)?;
        self.config.learning_rate = learning_rate;
        Ok(())
    }

    /// Updates every parameter that has a gradient.
    ///
    /// # Errors
    /// [`Error::Shape`] and [`Error::DType`] if a gradient is not of its
    /// parameter's shape or type, [`Error::Parameter`] if candle-nn's `Optimizer`,
    /// which can't refuse one, set an invalid learning rate; then no parameter is changed.
    pub fn step(&mut self, gradients: &GradStore) -> Result<()> {
        check_rate(self.config.learning_rate)?;
        for (name, slot) in &self.slots {
            if let Some(gradient) = gradients.get(&slot.parameter) {
                check_fits(name, gradient, &slot.parameter)?;
                check_dtype(name, gradient.dtype(), slot.parameter.dtype())?;
            }
        }
        for slot in self.slots.values_mut() {
            if let Some(gradient) = gradients.get(&slot.parameter) {
                slot.steps = slot.steps.saturating_add(1);
                let kernel = Kernel::new(&self.config, slot.steps);
                let moments = RefCell::new((&mut slot.first, &mut slot.second));
                let parameter = slot.parameter.as_tensor();
                parameter.inplace_op2(gradient, &Step { kernel, moments })?;
            }
        }
        Ok(())
    }

    /// A copy of the state.
    ///
    /// # Errors
    /// [`Error::Candle`] if a copy fails.
    pub fn state(&self) -> Result<AdamState> {
        let moments = self.slots.iter().map(|(name, slot)| {
            let moments = AdamMoments {
                steps: slot.steps,
                first: tensor(&slot.first, &slot.parameter)?,
                second: tensor(&slot.second, &slot.parameter)?,
            };
            Ok((name.clone(), moments))
        });
        Ok(AdamState {
            config: self.config,
            moments: moments.collect::<Result<_>>()?,
        })
    }

    /// Restores `state`: settings, moments and step counts. Nothing is changed unless all of it
    /// fits.
    ///
    /// # Errors
    /// [`Error::MissingName`], [`Error::UnexpectedName`] and [`Error::Shape`]
    /// if the state is of other parameters, [`Error::Parameter`] if a setting
    /// is out of its range.
    ///
    /// # Example
    /// ```
    /// # use candle_core::{DType, Device};
    /// # use egg_nn::{Adam, AdamConfig, Decay, Init, Parameters};
    /// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// # let mut rng = ChaCha8Rng::seed_from_u64(1);
    /// # let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
    /// # parameters.root(&mut rng).parameter("x", 2, Init::Ones)?;
    /// let old = Adam::new(&parameters, AdamConfig::new(0.1, Decay::L2(0.01)))?;
    /// let mut new = Adam::new(&parameters, AdamConfig::new(0.5, Decay::L2(0.0)))?;
    /// new.load_state(&old.state()?)?;
    /// assert_eq!(new.learning_rate(), 0.1);
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn load_state(&mut self, state: &AdamState) -> Result<()> {
        state.config.check()?;
        if let Some(name) = state.moments.keys().find(|name| !self.slots.contains_key(*name)) {
            return Err(Error::UnexpectedName { name: name.clone() });
        }
        let mut loaded = Vec::with_capacity(self.slots.len());
        for (name, slot) in &self.slots {
            let Some(moments) = state.moments.get(name) else {
                return Err(Error::MissingName { name: name.clone() });
            };
            let storage = |tensor: &Tensor| {
                check_fits(name, tensor, &slot.parameter)?;
                storage(&tensor.to_dtype(slot.parameter.dtype())?)
            };
            loaded.push((moments.steps, storage(&moments.first)?, storage(&moments.second)?));
        }
        for (slot, (steps, first, second)) in self.slots.values_mut().zip(loaded) {
            (slot.steps, slot.first, slot.second) = (steps, first, second);
        }
        self.config = state.config;
        Ok(())
    }
}

fn check_fits(name: &str, tensor: &Tensor, parameter: &Var) -> Result<()> {
    if tensor.dims() == parameter.dims() {
        return Ok(());
    }
    Err(Error::Shape {
        what: format!("the gradient or a moment of {name:?}"),
        found: tensor.dims().to_vec(),
        expected: format!("{:?}", parameter.dims()),
    })
}

fn tensor(moment: &CpuStorage, parameter: &Var) -> Result<Tensor> {
    for_element!(moment.dtype(), T => {
        let values = <T as WithDType>::cpu_storage_as_slice(moment)?;
        Ok(Tensor::from_slice(values, parameter.shape(), parameter.device())?)
    })
}

fn storage(moment: &Tensor) -> Result<CpuStorage> {
    for_element!(moment.dtype(), T => {
        Ok(with_slices([moment], |[values]: [&[T]; 1]| Ok(<T as WithDType>::to_cpu_storage(values)))?)
    })
}

/// The constants of one step of one parameter.
struct Kernel {
    /// L2 decay, added to the gradient.
    pull: f64,
    /// The factor of decoupled decay.
    shrink: f64,
    /// `1 - beta1`.
    first_share: f64,
    beta2: f64,
    /// `rate / (1 - beta1^t)`.
    step_size: f64,
    /// `sqrt(1 - beta2^t)`.
    root_correction: f64,
    epsilon: f64,
}

impl Kernel {
    fn new(config: &AdamConfig, steps: u64) -> Self {
        let (pull, shrink) = match config.decay {
            Decay::L2(weight) => (weight, 1.0),
            Decay::Decoupled(weight) => (0.0, 1.0 - config.learning_rate * weight),
        };
        Self {
            pull,
            shrink,
            first_share: 1.0 - config.beta1,
            beta2: config.beta2,
            step_size: config.learning_rate / (1.0 - power(config.beta1, steps)),
            root_correction: (1.0 - power(config.beta2, steps)).sqrt(),
            epsilon: config.epsilon,
        }
    }

    fn run<T: Element>(&self, parameter: &mut [T], gradient: &[T], first: &mut [T], second: &mut [T]) {
        let constant = |value: f64| T::from_f64(value);
        let (pull, shrink) = (constant(self.pull), constant(self.shrink));
        let (first_share, beta2) = (constant(self.first_share), constant(self.beta2));
        let second_share = constant(1.0 - self.beta2);
        let (step_size, epsilon) = (constant(self.step_size), constant(self.epsilon));
        let root_correction = constant(self.root_correction);
        let constants = [
            pull,
            shrink,
            first_share,
            beta2,
            second_share,
            step_size,
            epsilon,
            root_correction,
        ];
        advance(parameter, gradient, first, second, constants);
    }
}

vectorised! {
    /// One step of some numbers; `constants` are those of [`Kernel`].
    fn advance<T: Element>(
        parameter: &'a mut [T],
        gradient: &'a [T],
        first: &'a mut [T],
        second: &'a mut [T],
        constants: [T; 8],
    ) -> () {
        let [pull, shrink, first_share, beta2, second_share, step_size, epsilon, root_correction] = constants;
        let zero = T::default();
        let (smallest, negligible) = (T::SMALLEST_NORMAL, T::SMALLEST_NORMAL.sqrt());
        let numbers = parameter.iter_mut().zip(gradient);
        for ((p, &g), (m, v)) in numbers.zip(first.iter_mut().zip(second)) {
            let g = g + pull * *p;
            let mean = *m + first_share * (g - *m);
            *m = if mean.abs() < smallest { zero } else { mean };
            let square = beta2 * *v + second_share * g * g;
            *v = if square < smallest { zero } else { square };
            let moved = *p * shrink - step_size * *m / (v.sqrt() / root_correction + epsilon);
            *p = if moved.abs() < negligible { zero } else { moved };
        }
    }
}

/// `base^exponent` by squaring: the standard library's may give other bits on other platforms.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

/// One step of one parameter, in memory that candle lends to the operation. The moments are in a
/// cell because candle calls the operation by `&self`.
struct Step<'a> {
    kernel: Kernel,
    moments: RefCell<(&'a mut CpuStorage, &'a mut CpuStorage)>,
}

impl Step<'_> {
    fn run<T: Element>(
        &self,
        parameter: &mut CpuStorage,
        layout: &Layout,
        gradient: &[T],
    ) -> candle_core::Result<()> {
        let Some((start, end)) = layout.contiguous_offsets() else {
            bail!("Adam steps contiguous parameters; make one with Tensor::contiguous");
        };
        let kernel = &self.kernel;
        let parameter = &mut T::values_mut(parameter)?[start..end];
        let (first, second) = &mut *self.moments.borrow_mut();
        let (first, second) = (T::values_mut(first)?, T::values_mut(second)?);
        let numbers = parameter.len();
        let blocks = parameter.chunks_mut(BLOCK).zip(gradient.chunks(BLOCK));
        let moments = first.chunks_mut(BLOCK).zip(second.chunks_mut(BLOCK));
        share(
            numbers,
            blocks.zip(moments),
            |_, ((parameter, gradient), (first, second))| {
                kernel.run(parameter, gradient, first, second);
            },
        );
        Ok(())
    }
}

impl InplaceOp2 for Step<'_> {
    fn name(&self) -> &'static str {
        "egg-adam"
    }

    fn cpu_fwd(
        &self,
        parameter: &mut CpuStorage,
        layout: &Layout,
        gradient: &CpuStorage,
        gradient_layout: &Layout,
    ) -> candle_core::Result<()> {
        for_element!(parameter.dtype(), T => {
            let gradient = row_major::<T>(gradient, gradient_layout)?;
            self.run::<T>(parameter, layout, &gradient)
        })
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::power;

    #[test]
    fn power_matches_repeated_multiplication() {
        assert_eq!(power(0.9, 0), 1.0);
        assert_eq!(power(0.5, 10), 1.0 / 1024.0);
        assert_abs_diff_eq!(power(0.999, 12345), 0.999f64.powf(12345.0), epsilon = 1e-15);
        assert_eq!(power(0.9, u64::MAX), 0.0);
    }
}
