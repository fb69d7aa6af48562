//! Convolutions of Kipf and Welling, a pooling, and a head.

use candle_core::Tensor;
use egg_graph::conv::{GcnConv, NodeInput};
use egg_nn::{BatchNorm1d, Pass, Scope};

use super::config::ModelConfig;
use super::graph_model::{Embedded, GraphModel, Output};
use super::head::Head;
use super::virtual_node::VirtualInput;
use crate::data::{Batch, Convolved};
use crate::error::Result;
use crate::pooling::{Pooling, RelayedPooled};

/// `H_l = ReLU(A H_{l-1} W_l + b_l)`, then a pooling of the last `H`, then a
/// [`Head`].
///
/// With [`ModelConfig::rectify`] off the convolutions are linear. With
/// [`ModelConfig::node_norm`] nodes are normalised before they are pooled. With a virtual
/// node, features are encoded first, and there is no normalisation between
/// layers, as in the paper's other models.
///
/// Names: `convs.0...`, `pool...`, `head...`, and, if there is one, `norm...`,
/// `encoder.weight`, `virtual_node...`.
#[derive(Debug)]
pub struct GcnClassifier {
    inputs: usize,
    outputs: usize,
    virtual_input: Option<VirtualInput>,
    convs: Vec<GcnConv>,
    rectify: bool,
    norm: Option<BatchNorm1d>,
    pool: Box<dyn Pooling>,
    head: Head,
}

impl GcnClassifier {
    /// Registers the layers that `config` asks for.
    ///
    /// # Errors
    /// As [`ModelConfig::build`].
    pub fn new(scope: &mut Scope<'_>, config: &ModelConfig, inputs: usize, outputs: usize) -> Result<Self> {
        config.check(inputs, outputs)?;
        let (layers, hidden) = (config.layers, config.hidden);
        let virtual_input = match config.virtual_node {
            true => Some(VirtualInput::new(scope, inputs, hidden, layers)?),
            false => None,
        };
        let mut width = if config.virtual_node { hidden } else { inputs };
        let mut convs = Vec::with_capacity(layers);
        for layer in 0..layers {
            convs.push(GcnConv::new(
                &mut scope.enter("convs").enter(layer),
                width,
                hidden,
            )?);
            width = hidden;
        }
        let norm = match config.node_norm {
            true => Some(BatchNorm1d::new(&mut scope.enter("norm"), hidden)?),
            false => None,
        };
        let pool = config.pooling.build(&mut scope.enter("pool"), hidden)?;
        let head = Head::new(&mut scope.enter("head"), pool.width(), outputs, &config.head)?;
        Ok(Self {
            inputs,
            outputs,
            virtual_input,
            convs,
            rectify: config.rectify,
            norm,
            pool,
            head,
        })
    }

    /// The nodes after the last convolution (and [`ModelConfig::node_norm`]), n x
    /// hidden: what is pooled.
    ///
    /// # Errors
    /// If the batch does not fit.
    pub fn nodes(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Tensor> {
        let offsets = batch.structure.offsets();
        let mut x = batch.input.clone();
        let mut between = None;
        if let Some(virtual_input) = &self.virtual_input {
            let (h, state) = virtual_input.begin(&batch.input, offsets, pass)?;
            (x, between) = (h.into(), Some(state));
        }
        let mut h = None;
        for (layer, conv) in self.convs.iter().enumerate() {
            let next = match (&self.virtual_input, &mut between, &x) {
                (Some(virtual_input), Some(between), NodeInput::Dense(nodes)) => {
                    let nodes = between.read(nodes, offsets)?;
                    let next = self.convolve(conv, &nodes.clone().into(), batch, pass)?;
                    virtual_input.update(layer, self.convs.len(), between, &nodes, offsets, pass)?;
                    next
                }
                _ => self.convolve(conv, &x, batch, pass)?,
            };
            x = next.clone().into();
            h = Some(next);
        }
        // `ModelConfig::check` refuses a model without layers.
        let h = h.ok_or_else(|| crate::Error::setting("layers", 0, "at least 1"))?;
        Ok(match &self.norm {
            Some(norm) => norm.forward(&h, pass)?,
            None => h,
        })
    }

    /// What a relayed pooling makes of the nodes, without a gradient of rows on candle's
    /// tape; `None` where something is in the way, or there is no tape.
    fn pool_relayed(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Option<RelayedPooled>> {
        let plain = pass.is_training() && self.virtual_input.is_none() && self.norm.is_none();
        let (Some(pool), Some((first, others)), true) =
            (self.pool.relayed(), self.convs.split_first(), plain)
        else {
            return Ok(None);
        };
        let mut h = match &batch.propagated {
            Some(propagated) => first.relay_propagated(propagated, pass, self.rectify)?,
            None => first.relay(&batch.input, &batch.propagation, pass, self.rectify)?,
        };
        for conv in others {
            h = conv.relay_on(&h, &batch.propagation, pass, self.rectify)?;
        }
        pool.pool_relayed(&h, &batch.structure).map(Some)
    }

    fn convolve(&self, conv: &GcnConv, x: &NodeInput, batch: &Batch, pass: &mut Pass<'_>) -> Result<Tensor> {
        Ok(match self.rectify {
            true => conv.forward_relu(x, &batch.propagation, pass)?,
            false => conv.forward(x, &batch.propagation, pass)?,
        })
    }
}

impl GraphModel for GcnClassifier {
    fn convolved(&self) -> Convolved {
        Convolved::Normalised
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn forward(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Output> {
        let (scores, ranks) = match self.pool_relayed(batch, pass)? {
            Some(pooled) => (self.head.forward_relayed(&pooled.readout, pass)?, pooled.ranks),
            None => {
                let h = self.nodes(batch, pass)?;
                let pooled = self.pool.pool(&h, &batch.structure, pass)?;
                (self.head.forward(&pooled.readout, pass)?, pooled.ranks)
            }
        };
        Ok(Output {
            scores,
            ranks: ranks.into_iter().collect(),
        })
    }

    fn embed(&self, batch: &Batch) -> Result<Embedded> {
        let h = self.nodes(batch, &mut Pass::Evaluation)?;
        let pooled = self.pool.pool(&h, &batch.structure, &mut Pass::Evaluation)?;
        Ok(Embedded {
            graphs: pooled.readout,
            nodes: Some(h),
        })
    }
}
