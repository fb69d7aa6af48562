//! Batch normalisation of feature columns, alone or rectified, as one operation.

use std::sync::{Arc, OnceLock};

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp3, Layout, Shape, Tensor, Var, WithDType};

use crate::element::{Element, check_columns, check_dtype, for_element};
use crate::linear::check_width;
use crate::normalise::{Moments, backward, moments, normalise};
use crate::numbers::{in_order, with_values};
use crate::{Init, Pass, Result, Scope, given};

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
/// it is normalised to the bias, moves the running mean, and leaves the running
/// variance alone (PyTorch raises an error). An empty batch moves neither.
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
        })
    }

    /// The number of columns.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The normalised input, of the same shape. In training the running
    /// statistics are moved.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) unless `x` is rows x features,
    /// [`Error::DType`](crate::Error::DType) unless it has the model's type.
    pub fn forward(&self, x: &Tensor, pass: &mut Pass<'_>) -> Result<Tensor> {
        self.apply(x, pass, false)
    }

    /// [`forward`](Self::forward), then the rectifier with the gradient of
    /// [`relu`](crate::relu()), in one operation.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn forward_relu(&self, x: &Tensor, pass: &mut Pass<'_>) -> Result<Tensor> {
        self.apply(x, pass, true)
    }

    fn apply(&self, x: &Tensor, pass: &Pass<'_>, rectify: bool) -> Result<Tensor> {
        let rows = check_columns("the input of batch normalisation", x, self.features)?;
        check_dtype("the input of batch normalisation", x, self.weight.dtype())?;
        let source = match pass {
            Pass::Training(_) => Source::Batch,
            Pass::Evaluation => Source::Running(for_element!(x.dtype(), T => {
                with_values::<T, _>(&self.running_mean, |mean| {
                    with_values::<T, _>(&self.running_var, |variance| Ok(Moments::new(mean, variance)))
                })
            })?),
        };
        let used = Arc::new(OnceLock::new());
        let op = Normalise {
            source,
            rectify,
            used: used.clone(),
        };
        let (weight, bias) = (pass.parameter(&self.weight), pass.parameter(&self.bias));
        let y = pass.input(x).apply_op3(&weight, &bias, op)?;
        if let (true, Some(batch)) = (pass.is_training(), used.get()) {
            self.follow(batch, rows)?;
        }
        Ok(y)
    }

    /// Moves the running statistics towards those of a batch.
    fn follow(&self, batch: &Moments, rows: usize) -> Result<()> {
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
        with_values::<T, _>(running, |old| {
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

/// Whose mean and variance are subtracted and divided by.
enum Source {
    Batch,
    Running(Moments),
}

struct Normalise {
    source: Source,
    rectify: bool,
    /// What the forward pass used: read by the layer and by the backward pass.
    used: Arc<OnceLock<Moments>>,
}

impl Normalise {
    fn run<T: Element>(&self, x: &[T], weight: &[T], bias: &[T]) -> CpuStorage {
        let moments = self.used.get_or_init(|| match &self.source {
            Source::Batch => moments(x, weight.len()),
            Source::Running(moments) => moments.clone(),
        });
        T::to_cpu_storage_owned(normalise(x, moments, EPSILON, weight, bias, self.rectify))
    }

    fn pull_back<T: Element>(
        &self,
        x: &Tensor,
        weight: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Tensor, Tensor, Tensor)> {
        let Some(moments) = self.used.get() else {
            candle_core::bail!("batch normalisation was asked for a gradient before its forward pass");
        };
        let (dx, dw, db) = with_values::<T, _>(x, |xs| {
            with_values::<T, _>(weight, |ws| {
                with_values::<T, _>(g, |gs| {
                    let run = |ys: Option<&[T]>| Ok(backward(xs, moments, EPSILON, ws, ys, gs));
                    if self.rectify {
                        with_values(y, |ys| run(Some(ys)))
                    } else {
                        run(None)
                    }
                })
            })
        })?;
        Ok((
            Tensor::from_vec(dx, x.shape(), x.device())?,
            Tensor::from_vec(dw, weight.shape(), x.device())?,
            Tensor::from_vec(db, weight.shape(), x.device())?,
        ))
    }
}

impl CustomOp3 for Normalise {
    fn name(&self) -> &'static str {
        "egg-batch-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let out = for_element!(x.dtype(), T => {
            let x = in_order::<T>(x, x_layout)?;
            let weight = in_order::<T>(weight, weight_layout)?;
            let bias = in_order::<T>(bias, bias_layout)?;
            candle_core::Result::Ok(self.run(&x, &weight, &bias))
        })?;
        Ok((out, x_layout.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        bias: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (dx, dw, db) = for_element!(x.dtype(), T => self.pull_back::<T>(x, weight, y, g))?;
        Ok((given(x, dx), given(weight, dw), given(bias, db)))
    }
}
