//! The encoder and virtual node that molecules get before and between layers.

use egg_graph::CsrMatrix;
use egg_graph::conv::{NodeInput, SparseMatrix, VirtualNode, VirtualNodeState, spmm};
use egg_nn::{Init, Linear, Pass, Scope, Tracked};

use crate::error::Result;

/// A linear encoder without bias (of one-hot columns: a sum of embeddings), and
/// a virtual node of its width.
///
/// Parameters: `encoder.weight` (hidden x in, Glorot), `virtual_node...`.
#[derive(Debug, Clone)]
pub(super) struct VirtualInput {
    encoder: Linear,
    node: VirtualNode,
}

/// The virtual nodes of a batch between two layers.
#[derive(Debug)]
pub(super) struct Between {
    state: VirtualNodeState,
    /// Whose nodes the state sums up: the graphs before any coarsening.
    offsets: Vec<usize>,
}

impl VirtualInput {
    pub(super) fn new(scope: &mut Scope<'_>, inputs: usize, hidden: usize, layers: usize) -> Result<Self> {
        let encoder = Linear::with_weight(&mut scope.enter("encoder"), inputs, hidden, Init::GlorotUniform)?;
        Ok(Self {
            encoder,
            node: VirtualNode::new(&mut scope.enter("virtual_node"), hidden, layers)?,
        })
    }

    /// n x in -> n x hidden, and the state before the first layer.
    pub(super) fn begin(
        &self,
        input: &NodeInput,
        offsets: &[usize],
        pass: &mut Pass<'_>,
    ) -> Result<(Tracked, Between)> {
        let h = match input {
            NodeInput::Dense(x) => self.encoder.forward(x, pass)?,
            NodeInput::Propagated(_) => return Err(egg_graph::Error::Propagated.into()),
            NodeInput::Sparse(x) => {
                let table = pass.parameter(self.encoder.weight()).t()?.contiguous()?;
                spmm(x, table)?
            }
        };
        let state = self.node.begin(offsets, pass)?;
        let between = Between {
            state,
            offsets: offsets.to_vec(),
        };
        Ok((h, between))
    }

    /// What layer `layer` hands to the next, where its nodes were `nodes` when
    /// it began; nothing after the last layer.
    pub(super) fn update(
        &self,
        layer: usize,
        layers: usize,
        between: &mut Between,
        nodes: &Tracked,
        offsets: &[usize],
        pass: &mut Pass<'_>,
    ) -> Result<()> {
        if layer + 1 == layers {
            return Ok(());
        }
        if offsets == between.offsets {
            self.node.update(layer, &mut between.state, nodes, pass)?;
            return Ok(());
        }
        // A coarsening left fewer nodes than the state sums over. Only the sum
        // of each graph counts: all of it goes to the graph's first old node.
        let funnel = funnel(&between.offsets, offsets)?;
        let nodes = spmm(&funnel, nodes)?;
        self.node.update(layer, &mut between.state, &nodes, pass)?;
        Ok(())
    }
}

impl Between {
    /// Adds each graph's vector to its nodes.
    pub(super) fn read(&self, nodes: &Tracked, offsets: &[usize]) -> Result<Tracked> {
        if offsets == self.offsets {
            return Ok(self.state.read(nodes)?);
        }
        let membership = SparseMatrix::membership(offsets)?;
        Ok((nodes + spmm(&membership, self.state.vectors())?)?.into())
    }
}

/// Old nodes x new nodes: a graph's first row takes all its new nodes.
fn funnel(old: &[usize], new: &[usize]) -> Result<SparseMatrix> {
    let (rows, columns) = (old.last().copied().unwrap_or(0), new.last().copied().unwrap_or(0));
    let mut offsets = vec![0; rows + 1];
    for (old, new) in old.windows(2).zip(new.windows(2)) {
        offsets[old[0] + 1..=old[1]].fill(new[1]);
    }
    let nodes: Vec<u32> = (0u32..).take(columns).collect();
    let matrix = CsrMatrix::new(offsets, nodes, vec![1.0; columns], columns)?;
    Ok(SparseMatrix::new(matrix))
}
