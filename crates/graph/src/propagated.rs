//! Sparse features that are propagated once, instead of in every step.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::features::Features;
use crate::propagation::Propagation;
use crate::sparse::CsrMatrix;

/// `A X`, the features of every node of a data set spread along its edges, for the first
/// layer of a model: `(A X) W` is `A (X W)`, and `A X` never changes.
///
/// Where a node has one label, `A X` has no more entries than `A`, and a product with it finds
/// its right side, a row per feature, in the nearest cache. Entries are summed in f64 and
/// rounded to f32 once.
///
/// ```
/// use egg_graph::{Features, Graph, GraphDataset, PropagatedFeatures, Propagation};
///
/// let pair = Graph::from_edges(2, &[(0, 1)])?.with_features(Features::one_hot(vec![0, 2], 3)?)?;
/// let dataset = GraphDataset::single("pair", pair);
/// let propagated = PropagatedFeatures::new(&Propagation::gcn(&dataset), dataset.features()).unwrap();
/// assert_eq!(propagated.batch(&[0])?.to_dense(), ndarray::array![[0.5, 0.0, 0.5], [0.5, 0.0, 0.5]]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PropagatedFeatures {
    matrix: CsrMatrix,
    /// Where the nodes of each graph begin.
    nodes: Vec<usize>,
}

impl PropagatedFeatures {
    /// Of the features of the same data set. `None` where there is nothing to gain: they are
    /// dense, or `A X` has more entries than `A` and `X` together, or one beyond the range of f32.
    pub fn new(propagation: &Propagation, features: &Features) -> Option<Self> {
        let x = features.as_sparse()?;
        let (nodes, offsets, columns, values) = propagation.parts();
        if features.rows() != offsets.len() - 1 {
            return None;
        }
        let most = columns.len() + x.nonzeros();
        let mut product = Product::new(x.shape().1, offsets.len());
        for graph in nodes.windows(2) {
            for node in graph[0]..graph[1] {
                for entry in offsets[node]..offsets[node + 1] {
                    let neighbour = graph[0] + columns[entry] as usize;
                    for (column, value) in x.row(neighbour) {
                        product.add(column, f64::from(values[entry]) * f64::from(value));
                    }
                }
                product.end_row();
                if product.columns.len() > most {
                    return None;
                }
            }
        }
        if !product.values.iter().all(|value| value.is_finite()) {
            return None;
        }
        Some(Self {
            matrix: product.matrix(),
            nodes: nodes.to_vec(),
        })
    }

    /// The rows of these graphs, in the order of a [`crate::GraphBatch`] of the same indices.
    ///
    /// # Errors
    /// [`Error::NoSuchGraph`].
    pub fn batch(&self, indices: &[usize]) -> Result<CsrMatrix> {
        let graphs = self.nodes.len() - 1;
        let rows = |&index: &usize| match index < graphs {
            true => Ok(self.nodes[index]..self.nodes[index + 1]),
            false => Err(Error::NoSuchGraph { index, graphs }),
        };
        let ranges = indices.iter().map(rows).collect::<Result<Vec<Range<usize>>>>()?;
        Ok(self.matrix.gather(&ranges))
    }
}

/// A sparse matrix in the making, row by row.
struct Product {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    /// The row that is being made, with the columns that it has.
    row: Vec<f64>,
    touched: Vec<usize>,
    is_touched: Vec<bool>,
}

impl Product {
    fn new(width: usize, rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows);
        offsets.push(0);
        Self {
            offsets,
            columns: Vec::new(),
            values: Vec::new(),
            row: vec![0.0; width],
            touched: Vec::new(),
            is_touched: vec![false; width],
        }
    }

    fn add(&mut self, column: usize, value: f64) {
        if !std::mem::replace(&mut self.is_touched[column], true) {
            self.touched.push(column);
        }
        self.row[column] += value;
    }

    fn end_row(&mut self) {
        self.touched.sort_unstable();
        for column in self.touched.drain(..) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "columns of a matrix; rounded once, from f64"
            )]
            {
                self.columns.push(column as u32);
                self.values.push(self.row[column] as f32);
            }
            (self.row[column], self.is_touched[column]) = (0.0, false);
        }
        self.offsets.push(self.columns.len());
    }

    fn matrix(self) -> CsrMatrix {
        let width = self.row.len();
        CsrMatrix::from_checked(self.offsets, self.columns, self.values, width)
    }
}
