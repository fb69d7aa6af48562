//! Data sets from data sets: other features, more edges, one more node.

use ndarray::Array2;

use crate::adjacency::MAX_NODES;
use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::features::{Features, Kind};
use crate::sparse::CsrMatrix;
use crate::store::Store;

/// How many values each of the nine atom features of OGB's molecules can take:
/// what [`GraphDataset::one_hot_columns`] needs for `ogbg-mol*`.
pub const OGB_ATOM_CARDINALITIES: [usize; 9] = [119, 5, 12, 12, 10, 6, 6, 2, 2];

impl GraphDataset {
    /// Replaces the features by the degree of each node, one-hot, `most + 1`
    /// columns. COLLAB and IMDB have no features of their own; the paper uses
    /// 1,001 columns for COLLAB.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a node has more than `most` neighbours.
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// let dataset = GraphDataset::single("path", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
    /// let degrees = dataset.one_hot_degree(2)?;
    /// assert_eq!(degrees.features().to_dense().row(1).to_vec(), [0.0, 0.0, 1.0]);
    /// assert!(degrees.one_hot_degree(1).is_err());
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn one_hot_degree(self, most: usize) -> Result<Self> {
        let degrees = self.store().offsets.windows(2).map(|row| row[1] - row[0]);
        let largest = degrees.clone().max().unwrap_or(0);
        if largest > most || u32::try_from(most).is_err() {
            return Err(Error::parameter(
                "most",
                most,
                format!(
                    "at least the largest degree of {}, {largest}, and below 2^32",
                    self.name()
                ),
            ));
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most `most`")]
        let columns = degrees.map(|degree| degree as u32).collect();
        self.with_features(Features::one_hot(columns, most + 1)?)
    }

    /// [`Self::one_hot_degree`] of graphs that need not be those `most` was counted
    /// in: a node with more neighbours is taken for one with `most`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `most` is 2^32 or more.
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// let dataset = GraphDataset::single("path", Graph::from_edges(3, &[(0, 1), (1, 2)])?);
    /// assert_eq!(dataset.nodes_above_degree(1), 1);
    /// let degrees = dataset.one_hot_degree_up_to(1)?;
    /// assert_eq!(degrees.features().to_dense().row(1).to_vec(), [0.0, 1.0]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn one_hot_degree_up_to(self, most: usize) -> Result<Self> {
        let Ok(last) = u32::try_from(most) else {
            return Err(Error::parameter("most", most, "below 2^32"));
        };
        let degrees = self.store().offsets.windows(2).map(|row| row[1] - row[0]);
        let columns = degrees.map(|degree| u32::try_from(degree).map_or(last, |degree| degree.min(last)));
        let columns = columns.collect();
        self.with_features(Features::one_hot(columns, most + 1)?)
    }

    /// How many nodes have more than `most` neighbours.
    pub fn nodes_above_degree(&self, most: usize) -> usize {
        let degrees = self.store().offsets.windows(2).map(|row| row[1] - row[0]);
        degrees.filter(|degree| *degree > most).count()
    }

    /// Replaces each integer feature by a one-hot group of columns: column c of
    /// value v becomes a one in its group's column v. A sum of per-column
    /// embeddings is then one sparse product.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one cardinality per column,
    /// [`Error::Parameter`] if they add up to 2^32 or more, [`Error::Rows`] for
    /// a value that is no whole number below its cardinality.
    ///
    /// ```
    /// use egg_graph::{Features, Graph, GraphDataset};
    /// let graph = Graph::from_edges(1, &[])?.with_features(Features::dense(ndarray::array![[1.0, 0.0]])?)?;
    /// let dataset = GraphDataset::single("atom", graph).one_hot_columns(&[3, 2])?;
    /// assert_eq!(dataset.features().to_dense(), ndarray::array![[0.0, 1.0, 0.0, 1.0, 0.0]]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn one_hot_columns(self, cardinalities: &[usize]) -> Result<Self> {
        let features = self.features();
        if cardinalities.len() != features.width() {
            return Err(Error::Length {
                what: "cardinalities",
                unit: "numbers",
                expected: features.width(),
                found: cardinalities.len(),
            });
        }
        let dense = features.to_dense();
        let width = cardinalities
            .iter()
            .try_fold(0u32, |sum, more| sum.checked_add(u32::try_from(*more).ok()?))
            .ok_or_else(|| {
                let list = format!("{cardinalities:?}");
                Error::parameter("cardinalities", list, "must add up to less than 2^32")
            })?;
        let mut columns = Vec::with_capacity(dense.len());
        for (row, values) in dense.rows().into_iter().enumerate() {
            let mut start = 0;
            for (value, cardinality) in values.iter().zip(cardinalities) {
                #[expect(clippy::cast_precision_loss, reason = "a cardinality is small")]
                let fits = value.fract() == 0.0 && (0.0..*cardinality as f32).contains(value);
                if !fits {
                    return Err(Error::Rows {
                        what: "features",
                        row,
                        problem: format!("{value} is no whole number below {cardinality}"),
                    });
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
                columns.push(start + *value as u32);
                start += u32::try_from(*cardinality).unwrap_or(u32::MAX);
            }
        }
        let offsets = (0..=dense.nrows()).map(|row| row * dense.ncols()).collect();
        let ones = vec![1.0; columns.len()];
        self.with_features(Features::sparse(CsrMatrix::new(
            offsets,
            columns,
            ones,
            width as usize,
        )?))
    }

    /// Divides each node's features by their sum, as is usual for bags of
    /// words; a row that sums to zero stays as it is.
    ///
    /// ```
    /// use egg_graph::{Features, Graph, GraphDataset};
    /// let graph = Graph::from_edges(1, &[])?.with_features(Features::dense(ndarray::array![[1.0, 3.0]])?)?;
    /// let dataset = GraphDataset::single("node", graph).normalise_features()?;
    /// assert_eq!(dataset.features().to_dense(), ndarray::array![[0.25, 0.75]]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonFinite`] if a sum is so small that a quotient overflows.
    pub fn normalise_features(self) -> Result<Self> {
        let divide = |row: &mut dyn Iterator<Item = &mut f32>, sum: f32| {
            if sum != 0.0 {
                row.for_each(|value| *value /= sum);
            }
        };
        let features = match self.features().kind() {
            Kind::Dense(matrix) => {
                let mut matrix = matrix.clone();
                for mut row in matrix.rows_mut() {
                    let sum = row.sum();
                    divide(&mut row.iter_mut(), sum);
                }
                Features::dense(matrix)?
            }
            Kind::Sparse(matrix) => {
                let mut values = matrix.values().to_vec();
                for row in matrix.offsets().windows(2) {
                    let row = &mut values[row[0]..row[1]];
                    let sum = row.iter().sum();
                    divide(&mut row.iter_mut(), sum);
                }
                let (offsets, columns) = (matrix.offsets().to_vec(), matrix.columns().to_vec());
                Features::sparse(CsrMatrix::new(offsets, columns, values, matrix.shape().1)?)
            }
        };
        self.with_features(features)
    }

    /// Takes away edges from a node to itself.
    pub fn without_self_loops(self) -> Self {
        self.rebuilt(|id, row| row.retain(|(other, _)| *other != id), 0)
    }

    /// Gives every node an edge to itself, of weight 1 and with attributes 0,
    /// if it has none.
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
    /// let looped = dataset.clone().with_self_loops();
    /// assert_eq!(looped.graph(0)?.neighbours(1), [0, 1]);
    /// assert_eq!(looped.without_self_loops(), dataset);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn with_self_loops(self) -> Self {
        self.rebuilt(
            |id, row| {
                let at = row.partition_point(|(other, _)| *other < id);
                if row.get(at).is_none_or(|(other, _)| *other != id) {
                    row.insert(at, (id, None));
                }
            },
            0,
        )
    }

    /// Gives every graph one more node, its last, with an edge to all others
    /// and features 0: what one layer carries anywhere, it carries everywhere
    /// in two.
    ///
    /// # Errors
    /// [`Error::TooManyNodes`]. [`Error::Lacks`] for data with node labels: the
    /// new node has none.
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset};
    /// let dataset = GraphDataset::single("dots", Graph::from_edges(2, &[])?).with_virtual_node()?;
    /// assert_eq!(dataset.graph(0)?.neighbours(2), [0, 1]);
    /// assert_eq!(dataset.graph(0)?.neighbours(0), [2]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn with_virtual_node(self) -> Result<Self> {
        let nodes = self.node_count() + self.len();
        if nodes > MAX_NODES {
            return Err(Error::TooManyNodes { nodes: nodes as u64 });
        }
        if self.node_labels().is_some() {
            return Err(Error::Lacks {
                dataset: self.name().to_owned(),
                what: "label for a virtual node",
                remedy: "virtual nodes are for data sets whose graphs, not nodes, have labels",
            });
        }
        Ok(self.rebuilt(|_, _| {}, 1))
    }

    /// Builds every row of neighbours anew. A row holds ids and the entries
    /// they come from; one that comes from nowhere is new, with weight 1 and attributes 0.
    /// With `added` = 1 each graph gets a node that is joined to all others.
    fn rebuilt(self, change: impl Fn(u32, &mut Vec<(u32, Option<usize>)>), added: usize) -> Self {
        let all = self.store();
        let mut nodes = vec![0];
        let mut offsets = vec![0];
        let (mut neighbours, mut origins) = (Vec::new(), Vec::new());
        let mut row = Vec::new();
        for graph in 0..all.graph_count() {
            let range = all.node_range(graph);
            #[expect(clippy::cast_possible_truncation, reason = "the caller checks MAX_NODES")]
            let count = range.len() as u32;
            for (id, node) in (0u32..).zip(range) {
                row.clear();
                let entries = all.offsets[node]..all.offsets[node + 1];
                row.extend(entries.map(|entry| (all.neighbours[entry], Some(entry))));
                change(id, &mut row);
                row.extend((0..added).map(|_| (count, None)));
                neighbours.extend(row.iter().map(|(other, _)| *other));
                origins.extend(row.iter().map(|(_, origin)| *origin));
                offsets.push(neighbours.len());
            }
            for _ in 0..added {
                neighbours.extend(0..count);
                origins.extend((0..count).map(|_| None));
                offsets.push(neighbours.len());
            }
            nodes.push(offsets.len() - 1);
        }
        let mut store = Store::bare(nodes, offsets, neighbours);
        if let Some(weights) = &all.weights {
            let weight = |origin: &Option<usize>| origin.map_or(1.0, |entry| weights[entry]);
            store.weights = Some(origins.iter().map(weight).collect());
        }
        if let Some(attributes) = &all.attributes {
            let mut rows = Array2::zeros((origins.len(), attributes.ncols()));
            for (mut row, origin) in rows.rows_mut().into_iter().zip(&origins) {
                if let Some(entry) = origin {
                    row.assign(&attributes.row(*entry));
                }
            }
            store.attributes = Some(rows);
        }
        store.labels.clone_from(&all.labels);
        store.features = if added == 0 {
            all.features.clone()
        } else {
            all.features.with_zero_rows(&all.nodes)
        };
        self.with_store(store)
    }
}
