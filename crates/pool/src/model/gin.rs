//! The graph isomorphism network with jumping knowledge.

use candle_core::Tensor;
use egg_graph::conv::{GinConv, JumpingKnowledge, SparseMatrix};
use egg_nn::{BatchNorm1d, Pass, Scope, Tracked};

use super::config::ModelConfig;
use super::graph_model::{Embedded, GraphModel, Output};
use super::head::Head;
use super::virtual_node::VirtualInput;
use crate::data::{Batch, Convolved};
use crate::error::Result;
use crate::pooling::{Pooled, Pooling};

/// `H_l = MLP_l((1 + eps_l) H_{l-1} + A H_{l-1})` without an activation between
/// layers; each layer has a pooling and a [`Head`] of its own, and the scores
/// of all heads are added (JK).
///
/// A pooling that makes smaller graphs hands them to the next layer. With
/// [`ModelConfig::node_norm`] a layer's nodes are normalised first.
///
/// Names: `layers.0.conv...`, `layers.0.pool...`, `layers.0.head...`, and
/// `encoder.weight`, `virtual_node...` if there is a virtual node.
#[derive(Debug)]
pub struct GinClassifier {
    inputs: usize,
    outputs: usize,
    virtual_input: Option<VirtualInput>,
    layers: Vec<Layer>,
}

/// Looks at a layer, its nodes and what was pooled of them.
type Visit<'a> = dyn FnMut(&Layer, &Tracked, &Pooled, &mut Pass<'_>) -> Result<()> + 'a;

#[derive(Debug)]
struct Layer {
    conv: GinConv,
    norm: Option<BatchNorm1d>,
    pool: Box<dyn Pooling>,
    head: Head,
}

impl GinClassifier {
    /// Registers the layers that `config` asks for.
    ///
    /// # Errors
    /// As [`ModelConfig::build`].
    pub fn new(scope: &mut Scope<'_>, config: &ModelConfig, inputs: usize, outputs: usize) -> Result<Self> {
        config.check(inputs, outputs)?;
        let hidden = config.hidden;
        let virtual_input = match config.virtual_node {
            true => Some(VirtualInput::new(scope, inputs, hidden, config.layers)?),
            false => None,
        };
        let mut width = if config.virtual_node { hidden } else { inputs };
        let mut layers = Vec::with_capacity(config.layers);
        for index in 0..config.layers {
            let mut scope = scope.enter("layers");
            let mut scope = scope.enter(index);
            let conv = GinConv::new(&mut scope.enter("conv"), width, hidden)?;
            let norm = match config.node_norm {
                true => Some(BatchNorm1d::new(&mut scope.enter("norm"), hidden)?),
                false => None,
            };
            let pool = config.pooling.build(&mut scope.enter("pool"), hidden)?;
            let head = Head::new(&mut scope.enter("head"), pool.width(), outputs, &config.head)?;
            layers.push(Layer {
                conv,
                norm,
                pool,
                head,
            });
            width = hidden;
        }
        Ok(Self {
            inputs,
            outputs,
            virtual_input,
            layers,
        })
    }

    /// Goes through the layers; `visit` is given each with its nodes and what
    /// was pooled of them.
    fn walk(&self, batch: &Batch, pass: &mut Pass<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let mut x = batch.input.clone();
        let mut structure = batch.structure.clone();
        let mut adjacency = batch.propagation.clone();
        let mut virtual_nodes = None;
        if let Some(virtual_input) = &self.virtual_input {
            let (h, between) = virtual_input.begin(&x, structure.offsets(), pass)?;
            (x, virtual_nodes) = (h.into(), Some((virtual_input, between)));
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let count = self.layers.len();
            if let (Some((virtual_input, between)), egg_graph::conv::NodeInput::Dense(nodes)) =
                (&mut virtual_nodes, &x)
            {
                let nodes = between.read(nodes, structure.offsets())?;
                virtual_input.update(index, count, between, &nodes, structure.offsets(), pass)?;
                x = nodes.into();
            }
            let mut h = layer.conv.forward(&x, &adjacency, pass)?;
            if let Some(norm) = &layer.norm {
                h = norm.forward(&h, pass)?;
            }
            let pooled = layer.pool.pool(&h, &structure, pass)?;
            visit(layer, &h, &pooled, pass)?;
            x = match pooled.coarser {
                None => h.into(),
                Some(_) if index + 1 == count => break,
                Some(coarser) => {
                    structure = coarser.structure;
                    adjacency = SparseMatrix::new(structure.adjacency().clone());
                    coarser.h.into()
                }
            };
        }
        Ok(())
    }
}

impl GraphModel for GinClassifier {
    fn convolved(&self) -> Convolved {
        Convolved::Sum
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn forward(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Output> {
        let mut scores: Vec<Tracked> = Vec::with_capacity(self.layers.len());
        let mut ranks = Vec::new();
        self.walk(batch, pass, &mut |layer, _, pooled, pass| {
            scores.push(layer.head.forward(&pooled.readout, pass)?);
            ranks.extend(pooled.ranks.clone());
            Ok(())
        })?;
        let scores = JumpingKnowledge::Sum.join(&scores)?;
        Ok(Output { scores, ranks })
    }

    fn embed(&self, batch: &Batch) -> Result<Embedded> {
        let mut graphs = Vec::with_capacity(self.layers.len());
        let (mut nodes, mut coarser) = (None, false);
        self.walk(batch, &mut Pass::Evaluation, &mut |_, h, pooled, _| {
            graphs.push(pooled.readout.tensor().clone());
            if !coarser {
                nodes = Some(h.tensor().clone());
            }
            coarser |= pooled.coarser.is_some();
            Ok(())
        })?;
        Ok(Embedded {
            graphs: Tensor::cat(&graphs, 1)?,
            nodes,
        })
    }
}
