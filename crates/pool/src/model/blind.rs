//! The control that sees no edges.

use candle_core::{Device, Tensor};
use egg_graph::conv::NodeInput;
use egg_nn::{Pass, Scope, Segments, Tracked};

use super::config::ModelConfig;
use super::graph_model::{Embedded, GraphModel, Output};
use super::head::Head;
use crate::data::{Batch, Convolved};
use crate::error::{Error, Result};

/// The sum of a graph's node features, and a [`Head`]: what can be learnt
/// without looking at the structure. A model that is no better has learnt
/// nothing from edges.
///
/// Names: `head...`.
#[derive(Debug)]
pub struct BlindClassifier {
    convolved: Convolved,
    inputs: usize,
    outputs: usize,
    head: Head,
}

impl BlindClassifier {
    /// Registers the head that `config` asks for; layers, hidden width and
    /// pooling don't count.
    ///
    /// # Errors
    /// As [`ModelConfig::build`].
    pub fn new(scope: &mut Scope<'_>, config: &ModelConfig, inputs: usize, outputs: usize) -> Result<Self> {
        config.check(inputs, outputs)?;
        let head = Head::new(&mut scope.enter("head"), inputs, outputs, &config.head)?;
        Ok(Self {
            // Not used; as the graphs are prepared for the model it is a control of.
            convolved: config.architecture.convolved(),
            inputs,
            outputs,
            head,
        })
    }

    /// B x inputs.
    fn sums(&self, batch: &Batch, pass: &Pass<'_>) -> Result<Tracked> {
        if batch.input.width() != self.inputs {
            return Err(Error::FeatureWidth {
                expected: self.inputs,
                found: batch.input.width(),
            });
        }
        let offsets = batch.structure.offsets();
        Ok(match &batch.input {
            NodeInput::Dense(x) => Segments::new(offsets)?.sum(pass.input(x))?,
            NodeInput::Propagated(_) => return Err(egg_graph::Error::Propagated.into()),
            NodeInput::Sparse(x) => {
                let mut sums = vec![0f64; batch.len() * self.inputs];
                for (graph, rows) in offsets.windows(2).enumerate() {
                    let sum = &mut sums[graph * self.inputs..][..self.inputs];
                    for (column, value) in (rows[0]..rows[1]).flat_map(|row| x.csr().row(row)) {
                        sum[column] += f64::from(value);
                    }
                }
                let dtype = self.head.dtype();
                Tensor::from_vec(sums, (batch.len(), self.inputs), &Device::Cpu)?
                    .to_dtype(dtype)?
                    .into()
            }
        })
    }
}

impl GraphModel for BlindClassifier {
    fn convolved(&self) -> Convolved {
        self.convolved
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn forward(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Output> {
        let sums = self.sums(batch, pass)?;
        Ok(self.head.forward(sums, pass)?.into())
    }

    fn embed(&self, batch: &Batch) -> Result<Embedded> {
        Ok(Embedded {
            graphs: self.sums(batch, &Pass::Evaluation)?.into(),
            nodes: None,
        })
    }
}
