//! Many graphs, or one with labelled nodes.

use std::collections::HashSet;

use ndarray::Array2;
use sha2::{Digest, Sha256};

use crate::adjacency::{EdgeNotes, MAX_NODES};
use crate::error::{Error, Result};
use crate::feature_columns::FeatureColumn;
use crate::features::{Features, Kind};
use crate::graph::{Graph, GraphView};
use crate::labels::{Labels, Targets};
use crate::read::ReadNotes;
use crate::split::Split;
use crate::store::Store;

/// A data set: graphs in flat arrays, with what is to be predicted of them.
///
/// For graph classification it holds many graphs and [`Targets`]; for node
/// tasks one graph with node labels.
///
/// ```
/// use egg_graph::{Graph, GraphDataset, Labels, Targets};
///
/// let graphs = [Graph::from_edges(2, &[(0, 1)])?, Graph::from_edges(3, &[(0, 1), (1, 2)])?];
/// let dataset = GraphDataset::from_graphs("paths", &graphs)?
///     .with_targets(Targets::Classes(Labels::from_values(&[0, 1])))?;
/// assert_eq!((dataset.len(), dataset.node_count(), dataset.edge_count()), (2, 5, 3));
/// assert_eq!(dataset.classes().map(|labels| labels.class_count()), Some(2));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GraphDataset {
    name: String,
    store: Store,
    targets: Option<Targets>,
    split: Option<Split>,
    notes: EdgeNotes,
    columns: Option<Vec<FeatureColumn>>,
    reading: ReadNotes,
}

impl GraphDataset {
    /// A data set from graphs that have the same number of features, and that
    /// all have, or all lack, weights, attributes and node labels.
    ///
    /// # Errors
    /// [`Error::Length`] if they differ in that, [`Error::TooManyNodes`] if
    /// there are more than [`MAX_NODES`] nodes in all.
    pub fn from_graphs(name: impl Into<String>, graphs: &[Graph]) -> Result<Self> {
        let stores: Vec<Store> = graphs.iter().cloned().map(Graph::into_store).collect();
        Self::from_store(name, concatenate(&stores)?)
    }

    /// A data set of one graph, for node tasks.
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
    /// assert_eq!(dataset.len(), 1);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn single(name: impl Into<String>, graph: Graph) -> Self {
        Self {
            name: name.into(),
            store: graph.into_store(),
            targets: None,
            split: None,
            notes: EdgeNotes::default(),
            columns: None,
            reading: ReadNotes::default(),
        }
    }

    /// From arrays that a reader or a cache filled; everything is checked.
    pub(crate) fn from_store(name: impl Into<String>, store: Store) -> Result<Self> {
        store.check()?;
        Ok(Self {
            name: name.into(),
            store,
            targets: None,
            split: None,
            notes: EdgeNotes::default(),
            columns: None,
            reading: ReadNotes::default(),
        })
    }

    /// Says what is to be predicted of each graph.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one target per graph,
    /// [`Error::NonFinite`] for one that is infinite (NaN means unknown).
    pub fn with_targets(mut self, targets: Targets) -> Result<Self> {
        if targets.len() != self.len() {
            return Err(Error::Length {
                what: "targets",
                unit: "rows",
                expected: self.len(),
                found: targets.len(),
            });
        }
        if let Targets::Values(values) = &targets
            && let Some(((row, column), value)) = values.indexed_iter().find(|(_, value)| value.is_infinite())
        {
            return Err(Error::NonFinite {
                what: "targets",
                row,
                column,
                value: *value,
            });
        }
        self.targets = Some(targets);
        Ok(self)
    }

    /// Says which part is for training, validation and testing: of graphs, or
    /// of nodes if there is only one graph.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an index that is out of range.
    pub fn with_split(mut self, split: Split) -> Result<Self> {
        let items = if self.len() == 1 {
            self.node_count()
        } else {
            self.len()
        };
        split.check(items)?;
        self.split = Some(split);
        Ok(self)
    }

    /// The same graphs with other features, of which it is not known what their
    /// columns are; see [`Self::with_feature_columns`].
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one row per node.
    pub fn with_features(mut self, features: Features) -> Result<Self> {
        if features.rows() != self.node_count() {
            return Err(Error::Length {
                what: "features",
                unit: "rows",
                expected: self.node_count(),
                found: features.rows(),
            });
        }
        features.check_width()?;
        self.store.features = features;
        self.columns = None;
        Ok(self)
    }

    /// Says what each column of the features is.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one for each, [`Error::Columns`] if two are
    /// the same.
    pub fn with_feature_columns(mut self, columns: Vec<FeatureColumn>) -> Result<Self> {
        if columns.len() != self.features().width() {
            return Err(Error::Length {
                what: "feature columns",
                unit: "names",
                expected: self.features().width(),
                found: columns.len(),
            });
        }
        let mut seen = HashSet::new();
        if let Some(twice) = columns.iter().find(|column| !seen.insert(*column)) {
            return Err(Error::Columns {
                dataset: self.name.clone(),
                problem: format!("two columns are called `{twice}`; give them names of their own"),
            });
        }
        self.columns = Some(columns);
        Ok(self)
    }

    /// The same under another name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    pub(crate) fn with_notes(mut self, notes: EdgeNotes) -> Self {
        self.notes = notes;
        self
    }

    pub(crate) fn with_reading(mut self, reading: ReadNotes) -> Self {
        self.reading = reading;
        self
    }

    /// The same with other graphs, which are known to be right.
    pub(crate) fn with_store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many graphs.
    pub fn len(&self) -> usize {
        self.store.graph_count()
    }

    /// Whether there is no graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One graph.
    ///
    /// # Errors
    /// [`Error::NoSuchGraph`].
    pub fn graph(&self, index: usize) -> Result<GraphView<'_>> {
        self.check_index(index)?;
        Ok(GraphView::new(&self.store, index))
    }

    /// All graphs in order.
    pub fn graphs(&self) -> impl ExactSizeIterator<Item = GraphView<'_>> {
        (0..self.len()).map(|index| GraphView::new(&self.store, index))
    }

    pub(crate) fn check_index(&self, index: usize) -> Result<()> {
        if index < self.len() {
            Ok(())
        } else {
            Err(Error::NoSuchGraph {
                index,
                graphs: self.len(),
            })
        }
    }

    /// Nodes of all graphs.
    pub fn node_count(&self) -> usize {
        self.store.node_count()
    }

    /// Undirected edges of all graphs, without self loops.
    pub fn edge_count(&self) -> usize {
        (0..self.len()).map(|graph| self.store.edge_counts(graph).0).sum()
    }

    /// Where each graph's nodes begin, and the end.
    pub fn node_offsets(&self) -> &[usize] {
        &self.store.nodes
    }

    /// One row per node, graph after graph.
    pub fn features(&self) -> &Features {
        &self.store.features
    }

    /// One row per entry of the neighbour lists, graph after graph.
    pub fn edge_attributes(&self) -> Option<&Array2<f32>> {
        self.store.attributes.as_ref()
    }

    /// One per entry of the neighbour lists, graph after graph.
    pub fn edge_weights(&self) -> Option<&[f32]> {
        self.store.weights.as_deref()
    }

    /// What is to be predicted of each graph.
    pub fn targets(&self) -> Option<&Targets> {
        self.targets.as_ref()
    }

    /// The class of each graph, if that is what is to be predicted.
    pub fn classes(&self) -> Option<&Labels> {
        match &self.targets {
            Some(Targets::Classes(labels)) => Some(labels),
            _ => None,
        }
    }

    /// The class of each node.
    pub fn node_labels(&self) -> Option<&Labels> {
        self.store.labels.as_ref()
    }

    /// The split that the source prescribes.
    pub fn split(&self) -> Option<&Split> {
        self.split.as_ref()
    }

    /// What the source's edge lists had beyond a set of edges.
    pub fn notes(&self) -> EdgeNotes {
        self.notes
    }

    /// What each column of the features is, if the source says so.
    pub fn feature_columns(&self) -> Option<&[FeatureColumn]> {
        self.columns.as_deref()
    }

    /// What the reader understood of the source's files.
    pub fn reading(&self) -> &ReadNotes {
        &self.reading
    }

    /// Some of the graphs, in the order asked for. A prescribed split does not
    /// come along: its indices would no longer be true.
    ///
    /// # Errors
    /// [`Error::NoSuchGraph`].
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// let graphs: Vec<_> = (1..4).map(|n| Graph::from_edges(n, &[])).collect::<Result<_, _>>()?;
    /// let dataset = GraphDataset::from_graphs("dots", &graphs)?;
    /// assert_eq!(dataset.subset(&[2, 0])?.node_offsets(), [0, 3, 4]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn subset(&self, graphs: &[usize]) -> Result<Self> {
        graphs.iter().try_for_each(|graph| self.check_index(*graph))?;
        Ok(Self {
            name: self.name.clone(),
            store: self.store.gather(graphs, false),
            targets: self.targets.as_ref().map(|targets| targets.select(graphs)),
            split: None,
            notes: EdgeNotes::default(),
            columns: self.columns.clone(),
            reading: self.reading.clone(),
        })
    }

    /// SHA-256 of the content (structure, features, weights, attributes, labels
    /// and targets; no names, of columns neither), in hexadecimal. Two sources that list the
    /// same graphs with their rows in another order have the same fingerprint.
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// let one = GraphDataset::single("one", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
    /// let other = GraphDataset::single("other", Graph::from_edges(3, &[(2, 1), (1, 0), (0, 1)])?);
    /// assert_eq!(one.fingerprint(), other.fingerprint());
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn fingerprint(&self) -> String {
        let mut hash = Fingerprint(Sha256::new());
        let store = &self.store;
        hash.words("nodes", store.nodes.iter().map(|at| *at as u64));
        hash.words("offsets", store.offsets.iter().map(|at| *at as u64));
        hash.words("neighbours", store.neighbours.iter().map(|id| u64::from(*id)));
        match store.features.kind() {
            Kind::Dense(matrix) => hash.matrix("dense", matrix),
            Kind::Sparse(matrix) => {
                hash.words("sparse", [matrix.shape().1 as u64].into_iter());
                hash.words("at", matrix.offsets().iter().map(|at| *at as u64));
                hash.words("columns", matrix.columns().iter().map(|id| u64::from(*id)));
                hash.numbers("values", matrix.values());
            }
        }
        if let Some(weights) = &store.weights {
            hash.numbers("weights", weights);
        }
        if let Some(attributes) = &store.attributes {
            hash.matrix("attributes", attributes);
        }
        if let Some(labels) = &store.labels {
            hash.words("labels", labels.raw().iter().map(|class| u64::from(*class)));
        }
        match &self.targets {
            Some(Targets::Classes(labels)) => {
                hash.words("classes", labels.raw().iter().map(|class| u64::from(*class)));
            }
            Some(Targets::Values(values)) => hash.matrix("targets", values),
            None => {}
        }
        hash.0
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

struct Fingerprint(Sha256);

impl Fingerprint {
    fn words(&mut self, tag: &str, words: impl ExactSizeIterator<Item = u64>) {
        self.0.update(tag.as_bytes());
        self.0.update((words.len() as u64).to_le_bytes());
        let mut buffer = [0u8; 4096];
        let mut used = 0;
        for word in words {
            buffer[used..used + 8].copy_from_slice(&word.to_le_bytes());
            used += 8;
            if used == buffer.len() {
                self.0.update(buffer);
                used = 0;
            }
        }
        self.0.update(&buffer[..used]);
    }

    fn numbers(&mut self, tag: &str, numbers: &[f32]) {
        self.words(tag, numbers.iter().map(|number| u64::from(number.to_bits())));
    }

    fn matrix(&mut self, tag: &str, matrix: &Array2<f32>) {
        self.words(tag, [matrix.ncols() as u64].into_iter());
        let bits: Vec<u64> = matrix.iter().map(|number| u64::from(number.to_bits())).collect();
        self.words("values", bits.into_iter());
    }
}

fn concatenate(stores: &[Store]) -> Result<Store> {
    let total: usize = stores.iter().map(Store::node_count).sum();
    if total > MAX_NODES {
        return Err(Error::TooManyNodes { nodes: total as u64 });
    }
    let mut all = Store::bare(vec![0], vec![0], Vec::new());
    let Some(first) = stores.first() else {
        return Ok(all);
    };
    let width = first.features.width();
    let has = |store: &Store| {
        [
            store.weights.is_some().into(),
            store
                .attributes
                .as_ref()
                .map_or(0, |attributes| attributes.ncols() + 1),
            store.labels.is_some().into(),
            store.features.width(),
        ]
    };
    let differ = |what| {
        move |(found, expected): (usize, usize)| Error::Length {
            what,
            unit: "columns (all graphs must agree)",
            expected,
            found,
        }
    };
    for store in stores {
        for (what, pair) in ["edge weights", "edge attributes", "node labels", "features"]
            .into_iter()
            .zip(has(store).into_iter().zip(has(first)))
        {
            if pair.0 != pair.1 {
                return Err(differ(what)(pair));
            }
        }
        let entries = all.neighbours.len();
        all.nodes.push(all.node_count() + store.node_count());
        all.offsets
            .extend(store.offsets[1..].iter().map(|offset| offset + entries));
        all.neighbours.extend_from_slice(&store.neighbours);
    }
    let arrays = stores.iter();
    if first.weights.is_some() {
        all.weights = Some(
            arrays
                .clone()
                .filter_map(|store| store.weights.clone())
                .flatten()
                .collect(),
        );
    }
    if let Some(attributes) = &first.attributes {
        let rows: Vec<f32> = arrays
            .clone()
            .filter_map(|store| store.attributes.as_ref())
            .flatten()
            .copied()
            .collect();
        let shape = (all.neighbours.len(), attributes.ncols());
        all.attributes = Array2::from_shape_vec(shape, rows).ok();
    }
    if first.labels.is_some() {
        all.labels = Some(Labels::concatenate(
            arrays.clone().filter_map(|store| store.labels.as_ref()),
        )?);
    }
    all.features = Features::concatenate(width, arrays.map(|store| &store.features))?;
    Ok(all)
}
