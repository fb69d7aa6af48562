//! The model that every convolution and pooling goes into.

use candle_core::{DType, Device, Tensor};
use egg_graph::conv::{JumpingKnowledge, NodeInput, SparseMatrix};
use egg_nn::{BatchNorm1d, Pass, Scope, Segments, Tracked};

use super::config::ModelConfig;
use super::graph_model::{Embedded, GraphModel, Output};
use super::head::Head;
use super::virtual_node::VirtualInput;
use crate::convolution::Convolution;
use crate::data::{Batch, PropagationKind};
use crate::error::{Error, Result};
use crate::pooling::{Pooled, Pooling};

/// Convolutions, poolings and heads, as a [`ModelConfig`] has them.
///
/// With [`JumpingKnowledge::Last`] (GCN) the rows after the last convolution are pooled
/// for one [`Head`]. Otherwise (GIN) every layer has a pooling: of `Sum` also a head, whose
/// scores are added; of `Concat` and `Max` what was pooled is joined for one head. A pooling
/// that makes smaller graphs hands them to the next layer.
///
/// With [`ModelConfig::node_norm`] nodes are normalised before they are pooled. With
/// [`ModelConfig::virtual_node`] features are encoded first. The control
/// [`Blind`](crate::convolution::Blind) is the sum of the features and a head.
///
/// Parameters: `convs.0...`, `norm...`, `pool...`, `head...` of `Last`; else
/// `layers.0.conv...`, `layers.0.norm...`, `layers.0.pool...`, `layers.0.head...` or
/// `head...`; besides `encoder.weight`, `virtual_node...`.
#[derive(Debug)]
pub struct GraphClassifier {
    inputs: usize,
    outputs: usize,
    dtype: DType,
    propagation: PropagationKind,
    virtual_input: Option<VirtualInput>,
    activation: bool,
    layers: Vec<Layer>,
    jumping_knowledge: JumpingKnowledge,
    /// Of all layers together, unless each has its own.
    head: Option<Head>,
}

#[derive(Debug)]
struct Layer {
    conv: Box<dyn Convolution>,
    readout: Option<Readout>,
}

/// How a layer's nodes become a row for each graph, and scores.
#[derive(Debug)]
struct Readout {
    norm: Option<BatchNorm1d>,
    pool: Box<dyn Pooling>,
    head: Option<Head>,
}

/// Is shown a layer's readout, its nodes and what was pooled of them.
type Visit<'a> = dyn FnMut(&Readout, &Tracked, &Pooled, &mut Pass<'_>) -> Result<()> + 'a;

impl GraphClassifier {
    /// Registers the layers that `config` asks for.
    ///
    /// # Errors
    /// As [`ModelConfig::build`].
    pub fn new(scope: &mut Scope<'_>, config: &ModelConfig, inputs: usize, outputs: usize) -> Result<Self> {
        config.check(inputs, outputs)?;
        let mut model = Self {
            inputs,
            outputs,
            dtype: scope.dtype(),
            propagation: config.convolution.propagation(),
            virtual_input: None,
            activation: config.activation,
            layers: Vec::new(),
            jumping_knowledge: config.jumping_knowledge,
            head: None,
        };
        if !config.convolution.has_layers() {
            model.head = Some(Head::new(
                &mut scope.enter("head"),
                inputs,
                outputs,
                &config.head,
            )?);
            return Ok(model);
        }
        let (hidden, count) = (config.hidden, config.layers);
        let mut width = inputs;
        if config.virtual_node {
            model.virtual_input = Some(VirtualInput::new(scope, inputs, hidden, count)?);
            width = hidden;
        }
        let last_only = config.jumping_knowledge == JumpingKnowledge::Last;
        let own_heads = config.jumping_knowledge == JumpingKnowledge::Sum;
        for index in 0..count {
            let layer = match last_only {
                true => {
                    let conv = &mut scope.enter("convs");
                    Layer {
                        conv: config.convolution.build(&mut conv.enter(index), width, hidden)?,
                        readout: match index + 1 == count {
                            true => Some(Readout::new(scope, config, outputs, false)?),
                            false => None,
                        },
                    }
                }
                false => {
                    let mut layers = scope.enter("layers");
                    let mut scope = layers.enter(index);
                    Layer {
                        conv: config
                            .convolution
                            .build(&mut scope.enter("conv"), width, hidden)?,
                        readout: Some(Readout::new(&mut scope, config, outputs, own_heads)?),
                    }
                }
            };
            model.layers.push(layer);
            width = hidden;
        }
        if !own_heads {
            let widths = model.layers.iter().filter_map(|layer| layer.readout.as_ref());
            let mut widths = widths.map(|readout| readout.pool.width());
            let width = match config.jumping_knowledge {
                JumpingKnowledge::Concat => widths.sum(),
                _ => widths.next_back().unwrap_or(0),
            };
            model.head = Some(Head::new(&mut scope.enter("head"), width, outputs, &config.head)?);
        }
        Ok(model)
    }

    /// Goes through the layers; `visit` is shown each readout with its nodes and what was
    /// pooled of them.
    fn walk(&self, batch: &Batch, pass: &mut Pass<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let mut x = batch.input.clone();
        let mut structure = batch.structure.clone();
        let mut edges = batch.propagation.clone();
        let mut virtual_nodes = None;
        if let Some(virtual_input) = &self.virtual_input {
            let (h, state) = virtual_input.begin(&x, structure.offsets(), pass)?;
            (x, virtual_nodes) = (h.into(), Some((virtual_input, state)));
        } else if let (Some(propagated), Some(first)) = (&batch.propagated, self.layers.first())
            && pass.is_training()
            && first.conv.takes_propagated()
        {
            x = NodeInput::Propagated(propagated.clone());
        }
        let count = self.layers.len();
        for (index, layer) in self.layers.iter().enumerate() {
            if let (Some((virtual_input, state)), NodeInput::Dense(nodes)) = (&mut virtual_nodes, &x) {
                let nodes = state.read(nodes, structure.offsets())?;
                virtual_input.update(index, count, state, &nodes, structure.offsets(), pass)?;
                x = nodes.into();
            }
            let mut h = match self.activation {
                true => layer.conv.forward_relu(&x, &edges, pass)?,
                false => layer.conv.forward(&x, &edges, pass)?,
            };
            let Some(readout) = &layer.readout else {
                x = h.into();
                continue;
            };
            if let Some(norm) = &readout.norm {
                h = norm.forward(&h, pass)?;
            }
            let pooled = readout.pool.pool(&h, &structure, pass)?;
            visit(readout, &h, &pooled, pass)?;
            x = match pooled.coarser {
                None => h.into(),
                Some(_) if index + 1 == count => break,
                Some(coarser) => {
                    structure = coarser.structure;
                    edges = SparseMatrix::new(structure.adjacency().clone());
                    coarser.h.into()
                }
            };
        }
        Ok(())
    }

    /// B x inputs: the sum of each graph's features.
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
                Tensor::from_vec(sums, (batch.len(), self.inputs), &Device::Cpu)?
                    .to_dtype(self.dtype)?
                    .into()
            }
        })
    }
}

impl Readout {
    fn new(scope: &mut Scope<'_>, config: &ModelConfig, outputs: usize, head: bool) -> Result<Self> {
        let norm = match config.node_norm {
            true => Some(BatchNorm1d::new(&mut scope.enter("norm"), config.hidden)?),
            false => None,
        };
        let pool = config.pooling.build(&mut scope.enter("pool"), config.hidden)?;
        let head = match head {
            true => Some(Head::new(
                &mut scope.enter("head"),
                pool.width(),
                outputs,
                &config.head,
            )?),
            false => None,
        };
        Ok(Self { norm, pool, head })
    }
}

impl GraphModel for GraphClassifier {
    fn propagation(&self) -> PropagationKind {
        self.propagation
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn forward(&self, batch: &Batch, pass: &mut Pass<'_>) -> Result<Output> {
        if self.layers.is_empty()
            && let Some(head) = &self.head
        {
            return Ok(head.forward(self.sums(batch, pass)?, pass)?.into());
        }
        // Scores where layers have heads of their own, else what was pooled.
        let mut rows: Vec<Tracked> = Vec::with_capacity(self.layers.len());
        let mut ranks = Vec::new();
        self.walk(batch, pass, &mut |readout, _, pooled, pass| {
            rows.push(match &readout.head {
                Some(head) => head.forward(&pooled.readout, pass)?,
                None => pooled.readout.clone(),
            });
            ranks.extend(pooled.ranks.clone());
            Ok(())
        })?;
        let joined = match rows.pop() {
            Some(only) if rows.is_empty() => only,
            last => {
                rows.extend(last);
                self.jumping_knowledge.join(&rows)?
            }
        };
        let scores = match &self.head {
            Some(head) => head.forward(joined, pass)?,
            None => joined,
        };
        Ok(Output { scores, ranks })
    }

    fn embed(&self, batch: &Batch) -> Result<Embedded> {
        if self.layers.is_empty() {
            return Ok(Embedded {
                graphs: self.sums(batch, &Pass::Evaluation)?.into(),
                nodes: None,
            });
        }
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
