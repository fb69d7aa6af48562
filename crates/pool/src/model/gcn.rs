//! Convolutions of Kipf and Welling, a pooling, and a head.

use egg_graph::conv::{GcnConv, NodeInput};
use egg_nn::{BatchNorm1d, Pass, Scope, Tracked};

use super::config::ModelConfig;
use super::graph_model::{Embedded, GraphModel, Output};
use super::head::Head;
use super::virtual_node::VirtualInput;
use crate::data::{Batch, Convolved};
use crate::error::Result;
use crate::pooling::Pooling;

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
            let conv = GcnConv::new(&mut scope.enter("convs").enter(layer), width, hidden)?;
            convs.push(if config.rectify { conv.with_relu() } else { conv });
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
    pub fn nodes(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Tracked> {
        let h = match &self.virtual_input {
            Some(virtual_input) => self.nodes_beside(virtual_input, batch, pass)?,
            None => {
                let mut x = match &batch.propagated {
                    Some(propagated) if pass.is_training() => NodeInput::Propagated(propagated.clone()),
                    _ => batch.input.clone(),
                };
                for conv in &self.convs {
                    x = conv.forward(&x, &batch.propagation, pass)?.into();
                }
                x
            }
        };
        let NodeInput::Dense(h) = h else {
            // `ModelConfig::check` refuses a model without layers.
            return Err(crate::Error::setting("layers", 0, "at least 1"));
        };
        Ok(match &self.norm {
            Some(norm) => norm.forward(h, pass)?,
            None => h,
        })
    }

    /// The same with a virtual node.
    fn nodes_beside(
        &self,
        virtual_input: &VirtualInput,
        batch: &Batch,
        pass: &mut Pass<'_>,
    ) -> Result<NodeInput> {
        let offsets = batch.structure.offsets();
        let (mut h, mut between) = virtual_input.begin(&batch.input, offsets, pass)?;
        for (layer, conv) in self.convs.iter().enumerate() {
            let nodes = between.read(&h, offsets)?;
            h = conv.forward(&(&nodes).into(), &batch.propagation, pass)?;
            virtual_input.update(layer, self.convs.len(), &mut between, &nodes, offsets, pass)?;
        }
        Ok(h.into())
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
        let h = self.nodes(batch, pass)?;
        let pooled = self.pool.pool(&h, &batch.structure, pass)?;
        Ok(Output {
            scores: self.head.forward(pooled.readout, pass)?,
            ranks: pooled.ranks.into_iter().collect(),
        })
    }

    fn embed(&self, batch: &Batch) -> Result<Embedded> {
        let h = self.nodes(batch, &mut Pass::Evaluation)?;
        let pooled = self.pool.pool(&h, &batch.structure, &mut Pass::Evaluation)?;
        Ok(Embedded {
            graphs: pooled.readout.into(),
            nodes: Some(h.into()),
        })
    }
}
