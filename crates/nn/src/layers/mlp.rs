//! Linear layers with batch normalisation and ReLUs between them.

use egg_tensor::Tracked;

use crate::{BatchNorm1d, Error, Linear, Pass, Result, Scope};

/// What to build an [`Mlp`] from.
///
/// # Example
/// ```
/// // As GIN's: 7 features in, 32 hidden, 32 out, all normalised, with ReLUs.
/// let config = egg_nn::MlpConfig {
///     output_norm: true,
///     output_relu: true,
///     ..egg_nn::MlpConfig::new(&[7, 32, 32])
/// };
/// assert!(config.hidden_norm);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MlpConfig {
    /// Widths from the input to the output: at least two.
    pub widths: Vec<usize>,
    /// Batch normalisation after every layer but the last.
    pub hidden_norm: bool,
    /// Batch normalisation after the last layer.
    pub output_norm: bool,
    /// A ReLU after the last layer.
    pub output_relu: bool,
}

impl MlpConfig {
    /// Hidden layers with normalisation and ReLU, and a plain last one.
    pub fn new(widths: &[usize]) -> Self {
        Self {
            widths: widths.to_vec(),
            hidden_norm: true,
            output_norm: false,
            output_relu: false,
        }
    }
}

/// Linear -> BatchNorm -> ReLU -> ... -> Linear, as an [`MlpConfig`] says.
///
/// Names: `lins.0.weight`, `lins.0.bias`, `norms.0.weight`, ..., as PyTorch
/// Geometric's `MLP` spells them.
///
/// # Example
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{Mlp, MlpConfig, Parameters, Pass};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let mlp = Mlp::new(&mut parameters.root(&mut rng), &MlpConfig::new(&[4, 8, 2]))?;
///
/// let x = Tensor::ones((5, 4), DType::F32, &Device::Cpu)?;
/// let y = mlp.forward(&x, &mut Pass::Training(&mut rng))?;
/// assert_eq!(y.dims(), [5, 2]);
/// let gradients = y.sum_all()?.backward()?;
/// assert!(parameters.trainable().all(|(_, var)| gradients.get(var).is_some()));
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mlp {
    layers: Vec<Layer>,
}

#[derive(Debug, Clone)]
struct Layer {
    linear: Linear,
    norm: Option<BatchNorm1d>,
    /// A ReLU that is not in one of them.
    relu: bool,
}

impl Mlp {
    /// Registers the layers in `scope`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are fewer than two widths or one is 0.
    pub fn new(scope: &mut Scope<'_>, config: &MlpConfig) -> Result<Self> {
        let count = config.widths.len();
        if count < 2 {
            return Err(Error::Parameter {
                name: "widths.len()",
                value: count as f64,
                requirement: "a width for the input and one for the output are needed",
            });
        }
        let mut layers = Vec::with_capacity(count - 1);
        for (index, pair) in config.widths.windows(2).enumerate() {
            let last = index + 2 == count;
            let mut linear = Linear::new(&mut scope.enter("lins").enter(index), pair[0], pair[1])?;
            let (normed, relu) = match last {
                true => (config.output_norm, config.output_relu),
                false => (config.hidden_norm, true),
            };
            let mut norm = None;
            if normed {
                let plain = BatchNorm1d::new(&mut scope.enter("norms").enter(index), pair[1])?;
                norm = Some(if relu { plain.with_relu() } else { plain });
            } else if relu && index > 0 {
                linear = linear.with_relu();
            }
            layers.push(Layer {
                linear,
                norm,
                // Callers may compute the first linear layer themselves, so its ReLU is separate.
                relu: relu && !normed && index == 0,
            });
        }
        Ok(Self { layers })
    }

    /// rows x first width -> rows x last width.
    ///
    /// # Errors
    /// As [`Linear::forward`].
    pub fn forward(&self, x: impl Into<Tracked>, pass: &mut Pass<'_>) -> Result<Tracked> {
        let y = self.first_linear().forward(x, pass)?;
        self.after_first_linear(y, pass)
    }

    /// The first linear layer, for callers that compute its output themselves.
    pub fn first_linear(&self) -> &Linear {
        // `new` refuses fewer than two widths.
        &self.layers[0].linear
    }

    /// What [`Self::forward`] does after the first linear layer; `y` is its output (bias added):
    /// rows x second width -> rows x last width.
    ///
    /// # Errors
    /// As [`Linear::forward`].
    pub fn after_first_linear(&self, y: impl Into<Tracked>, pass: &mut Pass<'_>) -> Result<Tracked> {
        let mut x = y.into();
        for (index, layer) in self.layers.iter().enumerate() {
            if index > 0 {
                x = layer.linear.forward(x, pass)?;
            }
            if let Some(norm) = &layer.norm {
                x = norm.forward(x, pass)?;
            }
            if layer.relu {
                x = crate::relu(x)?;
            }
        }
        Ok(x)
    }
}
