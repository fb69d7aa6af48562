//! A graph prepared for training: its training edges and its held-out edges.

use candle_core::{DType, Device};
use egg_graph::conv::{NodeInput, SparseMatrix};
use egg_graph::{Graph, GraphDataset, LinkPart, LinkSplit, Propagation};
use rand::Rng;

use super::target::LinkTarget;
use crate::error::{Error, Result};

/// The nodes of one graph, the edges to train on, and those to predict.
///
/// ```
/// use egg_cluster::vgae::LinkTask;
/// use egg_graph::synthetic::karate_club;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let club = karate_club()?;
/// let task = LinkTask::split(&club, 0.05, 0.10, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!(task.target().edge_count() + task.validation().unwrap().positive.len() + task.test().unwrap().positive.len(), 78);
/// assert!(LinkTask::all_edges(&club)?.validation().is_none());
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinkTask {
    dataset: GraphDataset,
    target: LinkTarget,
    propagation: SparseMatrix,
    validation: Option<LinkPart>,
    test: Option<LinkPart>,
}

impl LinkTask {
    /// Trains on all edges; nothing is held out.
    ///
    /// # Errors
    /// [`Error::NotOneGraph`], [`Error::NoEdges`].
    pub fn all_edges(dataset: &GraphDataset) -> Result<Self> {
        Self::new(one_graph(dataset)?, None, None)
    }

    /// Holds out a share of the edges for validation and one for testing, with as
    /// many non-edges each (fewer of a dense graph): the paper's are 0.05 and 0.10. Convolutions see the
    /// training edges only.
    ///
    /// # Errors
    /// [`Error::NotOneGraph`], [`Error::NoEdges`], [`Error::NoNonEdges`] of a
    /// complete graph, and [`Error::Graph`] if the shares leave nothing to train on.
    pub fn split(dataset: &GraphDataset, validation: f64, test: f64, rng: &mut impl Rng) -> Result<Self> {
        let graph = one_graph(dataset)?;
        if graph.edge_count() == 0 {
            return Err(Error::NoEdges {
                nodes: graph.node_count(),
            });
        }
        let nodes = graph.node_count();
        if 2 * graph.edge_count() as u128 == nodes as u128 * (nodes as u128 - 1) {
            return Err(Error::NoNonEdges { nodes });
        }
        let split = LinkSplit::new(graph.view(), validation, test, rng)?;
        let held_out =
            |part: LinkPart| (!part.positive.is_empty() && !part.negative.is_empty()).then_some(part);
        Self::new(split.train, held_out(split.validation), held_out(split.test))
    }

    fn new(train: Graph, validation: Option<LinkPart>, test: Option<LinkPart>) -> Result<Self> {
        let target = LinkTarget::new(train.view())?;
        let dataset = GraphDataset::single("training edges", train);
        let propagation = Propagation::gcn(&dataset).matrix(&[0])?;
        Ok(Self {
            dataset,
            target,
            propagation,
            validation,
            test,
        })
    }

    /// n.
    pub fn node_count(&self) -> usize {
        self.target.node_count()
    }

    /// What the decoder should predict.
    pub fn target(&self) -> &LinkTarget {
        &self.target
    }

    /// The normalised adjacency of the training edges.
    pub fn propagation(&self) -> &SparseMatrix {
        &self.propagation
    }

    /// Held-out edges and non-edges for choosing a model.
    pub fn validation(&self) -> Option<&LinkPart> {
        self.validation.as_ref()
    }

    /// Held-out edges and non-edges for the final test.
    pub fn test(&self) -> Option<&LinkPart> {
        self.test.as_ref()
    }

    /// The nodes' features, sparse if they are sparse.
    pub(super) fn input(&self, dtype: DType) -> Result<NodeInput> {
        Ok(NodeInput::from_features(
            self.dataset.features(),
            dtype,
            &Device::Cpu,
        )?)
    }

    /// A checksum of everything that training depends on, including the held-out pairs, which
    /// early stopping uses.
    pub(super) fn fingerprint(&self) -> String {
        format!("{} {}", self.dataset.fingerprint(), self.held_out_checksum())
    }

    /// A checksum of the held-out pairs in order, which identifies a split.
    ///
    /// ```
    /// use egg_cluster::vgae::LinkTask;
    /// use egg_graph::synthetic::karate_club;
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    ///
    /// let club = karate_club()?;
    /// let of = |seed| {
    ///     let task = LinkTask::split(&club, 0.05, 0.10, &mut ChaCha8Rng::seed_from_u64(seed))?;
    ///     Ok::<_, egg_cluster::Error>(task.held_out_checksum())
    /// };
    /// assert_eq!(of(0)?, of(0)?);
    /// assert_ne!(of(0)?, of(1)?);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn held_out_checksum(&self) -> String {
        let parts = self.validation.iter().chain(&self.test);
        let pairs = parts.flat_map(|part| part.positive.iter().chain(&part.negative));
        // FNV-1a: detects mistakes, not deliberate forgery.
        let checksum = pairs
            .flat_map(|(a, b)| [*a, *b])
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, node| {
                (hash ^ node as u64).wrapping_mul(0x100_0000_01b3)
            });
        format!("{checksum:016x}")
    }
}

fn one_graph(dataset: &GraphDataset) -> Result<Graph> {
    if dataset.len() != 1 {
        return Err(Error::NotOneGraph {
            graphs: dataset.len(),
        });
    }
    Ok(dataset.graph(0)?.to_graph())
}
