//! Batch normalisation of feature columns, optionally followed by a ReLU, as one operation.

use candle_core::{Tensor, Var, WithDType};
use egg_tensor::{
    Backward, Element, Forward, Operand, Operation, Tracked, apply, apply_and_inspect, for_element,
    with_slices,
};

use crate::check::{check_columns, check_dtype};
use crate::kernels::batch_norm::{Moments, backward, moments, normalise};
use crate::layers::linear::check_width;
use crate::{Error, Init, Pass, Result, Scope};

/// Added to the variance, PyTorch's default.
const EPSILON: f64 = 1e-5;

/// The weight of the newest batch in the running statistics, PyTorch's default.
const MOMENTUM: f64 = 0.1;

/// `y = (x - mean) / sqrt(variance + 1e-5) * weight + bias` for each column of
/// `x` (rows x features), as PyTorch's `BatchNorm1d`.
///
/// In training, mean and (biased) variance are the batch's, and the running
/// statistics move a tenth of the way to the batch's mean and unbiased
/// variance. In evaluation the running statistics are used.
///
/// Parameters: `weight` (ones), `bias` (zeros); buffers: `running_mean` (zeros)
/// and `running_var` (ones).
///
/// A batch of **one row** has variance 0 and no unbiased variance: in training
/// it is normalised to the bias, updates the running mean, and does not change the running variance
/// (PyTorch raises an error). An empty batch updates neither.
///
/// # Example
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{BatchNorm1d, Parameters, Pass};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let norm = BatchNorm1d::new(&mut parameters.root(&mut rng).enter("norm"), 1)?;
///
/// let x = Tensor::new(&[[1f64], [3.0]], &Device::Cpu)?;
/// let y = norm.forward(&x, &mut Pass::Training(&mut rng))?.to_vec2::<f64>()?;
/// assert!((y[0][0] + 1.0).abs() < 1e-5 && (y[1][0] - 1.0).abs() < 1e-5);
/// let mean = parameters.get("norm.running_mean").unwrap().to_vec1::<f64>()?;
/// assert!((mean[0] - 0.2).abs() < 1e-15); // 0.9 * 0 + 0.1 * 2
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchNorm1d {
    weight: Var,
    bias: Var,
    running_mean: Var,
    running_var: Var,
    features: usize,
    relu: bool,
}

impl BatchNorm1d {
    /// A layer for `features` columns.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) if there are none,
    /// [`Error::DuplicateName`](crate::Error::DuplicateName) if the scope has a
    /// layer already.
    pub fn new(scope: &mut Scope<'_>, features: usize) -> Result<Self> {
        check_width("features", features)?;
        Ok(Self {
            weight: scope.parameter("weight", features, Init::Ones)?,
            bias: scope.parameter("bias", features, Init::Zeros)?,
            running_mean: scope.buffer("running_mean", features, Init::Zeros)?,
            running_var: scope.buffer("running_var", features, Init::Ones)?,
            features,
            relu: false,
        })
    }

    /// The same layer with a [ReLU](crate::relu()) behind it, in one operation.
    pub fn with_relu(mut self) -> Self {
        self.relu = true;
        self
    }

    /// The number of columns.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The normalised input, of the same shape. Training updates the running statistics.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `x` is rows x features, [`Error::DType`] unless it has the
    /// model's type.
    pub fn forward(&self, x: impl Into<Tracked>, pass: &mut Pass<'_>) -> Result<Tracked> {
        let x = pass.input(x);
        let rows = check_columns("the input of batch normalisation", &x, self.features)?;
        check_dtype("the input of batch normalisation", x.dtype(), self.weight.dtype())?;
        let inputs = [x, pass.parameter(&self.weight), pass.parameter(&self.bias)];
        let relu = self.relu;
        if pass.is_training() {
            let op = Normalise { running: None, relu };
            let (y, batch) = apply_and_inspect(op, inputs, Moments::clone)?;
            self.update_running_stats(&batch, rows)?;
            return Ok(y);
        }
        let running = Some(self.running_moments()?);
        apply(Normalise { running, relu }, inputs)
    }

    fn running_moments(&self) -> Result<Moments> {
        for_element!(self.weight.dtype(), T => {
            Ok(with_slices([&self.running_mean, &self.running_var], |[mean, variance]: [&[T]; 2]| {
                Ok(Moments::new(mean, variance))
            })?)
        })
    }

    /// Updates the running statistics with those of a batch.
    fn update_running_stats(&self, batch: &Moments, rows: usize) -> Result<()> {
        if rows > 0 {
            blend(&self.running_mean, &batch.mean, 1.0)?;
        }
        if rows > 1 {
            let unbiased = rows as f64 / (rows - 1) as f64;
            blend(&self.running_var, &batch.variance, unbiased)?;
        }
        Ok(())
    }
}

/// `running = 0.9 running + 0.1 scale batch`.
fn blend(running: &Var, batch: &[f64], scale: f64) -> Result<()> {
    let next = for_element!(running.dtype(), T => {
        with_slices([running], |[old]: [&[T]; 1]| {
            let pairs = old.iter().zip(batch);
            let mix = |(old, batch): (&T, &f64)| {
                <T as WithDType>::from_f64((1.0 - MOMENTUM) * old.to_f64() + MOMENTUM * scale * batch)
            };
            Tensor::from_vec(pairs.map(mix).collect::<Vec<T>>(), batch.len(), running.device())
        })
    });
    let next: candle_core::Result<Tensor> = next;
    Ok(running.set(&next?)?)
}

struct Normalise {
    /// The running statistics, or those of the batch.
    running: Option<Moments>,
    relu: bool,
}

impl<T: Element> Operation<T, 3> for Normalise {
    /// What was subtracted and divided by.
    type Saved = Moments;
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-batch-norm"
    }

    fn forward(&self, [x, weight, bias]: [Operand<'_, T>; 3]) -> Result<Forward<T, Moments>> {
        let moments = match &self.running {
            None => moments(&x, weight.len()),
            Some(running) => running.clone(),
        };
        Ok(Forward {
            values: normalise(&x, &moments, EPSILON, &weight, &bias, self.relu),
            shape: x.dims.into(),
            saved: moments,
        })
    }

    fn backward(&self, of: Backward<'_, T, Moments, 3>) -> Result<[Option<Vec<T>>; 3]> {
        let [x, weight, _] = of.inputs;
        let output = self.relu.then_some(of.output.values);
        let (dx, dw, db) = backward(&x, of.saved, EPSILON, &weight, output, of.gradient);
        Ok([Some(dx), Some(dw), Some(db)])
    }
}
