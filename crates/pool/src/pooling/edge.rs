//! Edge pooling: the best edges are contracted.

use candle_core::Var;
use egg_nn::{Init, Pass, Scope, Tracked};
use egg_tensor::apply_and_inspect;
use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, Weigh};
use super::contraction::{Contract, Contraction};
use super::project::project;
use super::select::mean_of;
use super::{Pooled, Pooling, PoolingSettings, check_features, check_input};
use crate::error::Result;
use crate::structure::Structure;

/// Settings of [`EdgePooling`]: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge;

impl PoolingSettings for Edge {
    const NAME: &'static str = "edge";

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        Ok(Box::new(EdgePooling::new(scope, features)?))
    }

    fn coarsens(&self) -> bool {
        true
    }
}

/// Contracts edges, the best first, until none is left whose ends are both free;
/// then the mean of the new nodes.
///
/// Every edge is seen in both directions. The direction u -> v scores
/// `s = 1/2 + exp(a_u) / sum_{w ~ v} exp(a_w)` with `a = H w`: a softmax over the
/// edges into v. In descending order of s an edge is contracted if neither end
/// is yet, to a node with `s (h_u + h_v)`; nodes that remain stay as they are.
/// New nodes are joined where their members were. A contracted edge leaves a
/// self loop; all new edges weigh 1.
///
/// As PyTorch Geometric's `EdgePooling`, which sees an undirected graph as
/// directed edges both ways, sorted by source and target. Two differences, in
/// form only: its `Linear(2 m, 1)` has weights for the target and a bias, which
/// its softmax over the edges into a target cancels, so they are left out
/// (`lin.weight` is the first half of its weight); and it numbers the new nodes
/// through a batch, we through each graph: contracted ones in descending order
/// of s, then those that remained in their own.
///
/// Edges with the same s are taken in the order of source and target, and there
/// alone the result depends on how nodes are numbered. Such ties are common: every
/// edge into a node of degree 1 scores 3/2, and edges from one node into several
/// with the same neighbours score the same. (PyTorch Geometric takes any of them:
/// beyond 16 numbers PyTorch's sort is not stable.)
///
/// Parameter: `lin.weight` (1 x m, uniform on `+-1 / sqrt(2 m)` at first).
///
/// # Complexity
/// `O(E log E)` for the E entries of each graph, graphs in parallel.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_graph::{Graph, GraphBatch, GraphDataset};
/// use egg_nn::{Parameters, Pass};
/// use egg_pool::pooling::EdgePooling;
/// use egg_pool::{Pooling, Structure};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = GraphDataset::single("path", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
/// let structure = Structure::from_batch(&GraphBatch::all(&dataset)?)?;
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let mut parameters = Parameters::new(DType::F64, &Device::Cpu)?;
/// let pooling = EdgePooling::new(&mut parameters.root(&mut rng), 1)?;
///
/// // Nodes 0 and 2 have one edge in: it scores 3/2. Of the two, 1 -> 0 comes first.
/// let h = Tensor::new(&[[1.0], [2.0], [5.0]], &Device::Cpu)?;
/// assert_eq!(pooling.clusters(&h, &structure)?, [0, 0, 1]);
/// let coarser = pooling.pool(&(&h).into(), &structure, &mut Pass::Evaluation)?.coarser.unwrap();
/// assert_eq!(coarser.h.to_vec2::<f64>()?, [[4.5], [5.0]]);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EdgePooling {
    weight: Var,
    features: usize,
}

impl EdgePooling {
    /// For rows of `features` numbers.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) if there is no
    /// feature, [`Error::Layer`](crate::Error::Layer) if the scope has such a
    /// parameter.
    pub fn new(scope: &mut Scope<'_>, features: usize) -> Result<Self> {
        check_features("edge", features)?;
        let init = Init::linear(features.saturating_mul(2));
        let weight = scope.enter("lin").parameter("weight", (1, features), init)?;
        Ok(Self { weight, features })
    }

    /// The new node of each node.
    ///
    /// # Errors
    /// As [`Pooling::pool`].
    pub fn clusters(&self, h: impl Into<Tracked>, structure: &Structure) -> Result<Vec<usize>> {
        let contracted = self.contract(&h.into(), structure, &Pass::Evaluation)?;
        let nodes = 0..structure.node_count();
        Ok(nodes
            .filter_map(|node| contracted.assignment.cluster(node))
            .collect())
    }

    fn contract(&self, h: &Tracked, structure: &Structure, pass: &Pass<'_>) -> Result<Contracted> {
        check_input("edge", h, structure, self.features, Some(self.weight.dtype()))?;
        let a = project(pass.input(h), pass.parameter(&self.weight))?;
        let op = Contract {
            structure: structure.clone(),
        };
        let found = |found: &Contraction| (found.assignment.clone(), found.offsets.clone());
        let (scores, (assignment, offsets)) = apply_and_inspect(op, [a], found)?;
        Ok(Contracted {
            scores,
            assignment,
            offsets,
        })
    }
}

/// The clusters of a batch, where each graph's begin, and what each node is multiplied with.
struct Contracted {
    scores: Tracked,
    assignment: Assignment,
    offsets: Vec<usize>,
}

impl Pooling for EdgePooling {
    fn width(&self) -> usize {
        self.features
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        let Contracted {
            scores,
            assignment,
            offsets,
        } = self.contract(h, structure, pass)?;
        let rows = assignment.weighted_sum(pass.input(h), scores)?;
        mean_of(rows, assignment.coarsen(structure, &offsets, Weigh::One)?)
    }
}
