//! From a graph's vector to its scores.

use candle_core::DType;
use egg_nn::{BatchNorm1d, Dropout, Linear, Pass, Scope, Tracked};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What a [`Head`] is built from; by default the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeadConfig {
    /// Hidden widths; the paper's are 64 and 16.
    pub widths: Vec<usize>,
    /// The probability with which a hidden number is dropped in training.
    pub dropout: f64,
    /// Batch normalisation of the scores themselves, as the paper's code has it.
    /// Not for regression: it would fix the scale of predictions.
    pub output_norm: bool,
}

impl Default for HeadConfig {
    fn default() -> Self {
        Self {
            widths: vec![64, 16],
            dropout: 0.5,
            output_norm: true,
        }
    }
}

/// Linear, batch norm, ReLU, dropout for every hidden width, then Linear, and
/// batch norm if [`HeadConfig::output_norm`].
///
/// Names: `lins.0.weight`, `lins.0.bias`, `norms.0.weight`, ...
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{Parameters, Pass};
/// use egg_pool::model::{Head, HeadConfig};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let head = Head::new(&mut parameters.root(&mut rng), 2080, 2, &HeadConfig::default())?;
/// let x = Tensor::ones((5, 2080), DType::F32, &Device::Cpu)?;
/// assert_eq!(head.forward(&x, &mut Pass::Evaluation)?.dims(), [5, 2]);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Head {
    hidden: Vec<(Linear, BatchNorm1d)>,
    last: Linear,
    output_norm: Option<BatchNorm1d>,
    dropout: Dropout,
}

impl Head {
    /// Registers the layers.
    ///
    /// # Errors
    /// [`egg_nn::Error::Parameter`] for a width of 0 or a dropout outside [0, 1).
    pub fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize, config: &HeadConfig) -> Result<Self> {
        if outputs == 0 {
            return Err(Error::setting("outputs", outputs, "at least one class or number"));
        }
        let mut width = inputs;
        let mut hidden = Vec::with_capacity(config.widths.len());
        for (index, &next) in config.widths.iter().enumerate() {
            let linear = Linear::new(&mut scope.enter("lins").enter(index), width, next)?;
            let norm = BatchNorm1d::new(&mut scope.enter("norms").enter(index), next)?;
            hidden.push((linear, norm.with_relu()));
            width = next;
        }
        let index = hidden.len();
        Ok(Self {
            hidden,
            last: Linear::new(&mut scope.enter("lins").enter(index), width, outputs)?,
            output_norm: match config.output_norm {
                true => Some(BatchNorm1d::new(&mut scope.enter("norms").enter(index), outputs)?),
                false => None,
            },
            dropout: Dropout::new(config.dropout)?,
        })
    }

    /// The type it computes in.
    pub fn dtype(&self) -> DType {
        self.last.weight().dtype()
    }

    /// B x inputs -> B x outputs.
    ///
    /// # Errors
    /// [`egg_nn::Error::Shape`] if the width is another.
    pub fn forward(&self, x: impl Into<Tracked>, pass: &mut Pass<'_>) -> Result<Tracked> {
        let mut x = x.into();
        for (linear, norm) in &self.hidden {
            let y = norm.forward(linear.forward(x, pass)?, pass)?;
            x = self.dropout.forward(y, pass)?;
        }
        let y = self.last.forward(x, pass)?;
        Ok(match &self.output_norm {
            Some(norm) => norm.forward(y, pass)?,
            None => y,
        })
    }
}
