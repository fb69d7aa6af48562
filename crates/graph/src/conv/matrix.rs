//! A sparse matrix and its transpose, shared between forward and backward.

use std::sync::Arc;

use crate::adjacency::{MAX_NODES, check_offsets};
use crate::error::{Error, Result};
use crate::propagation::Propagation;
use crate::sparse::CsrMatrix;

/// A constant sparse matrix that tensors are multiplied with.
///
/// Cheap to clone. The transpose, which the gradient needs, is made once, here;
/// a symmetric matrix is its own.
///
/// ```
/// use egg_graph::{CsrMatrix, conv::SparseMatrix};
/// let matrix = SparseMatrix::new(CsrMatrix::from_dense(ndarray::array![[0.0, 2.0, 1.0]].view())?);
/// assert_eq!(matrix.shape(), (1, 3));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SparseMatrix {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    matrix: CsrMatrix,
    /// `None`: symmetric.
    transpose: Option<CsrMatrix>,
}

impl SparseMatrix {
    /// Any matrix.
    ///
    /// # Complexity
    /// Linear in the entries: the transpose is made by a counting sort.
    pub fn new(matrix: CsrMatrix) -> Self {
        let transpose = Some(matrix.transposed());
        Self {
            parts: Arc::new(Parts { matrix, transpose }),
        }
    }

    /// A matrix that is known to equal its transpose.
    pub(crate) fn symmetric(matrix: CsrMatrix) -> Self {
        Self {
            parts: Arc::new(Parts {
                matrix,
                transpose: None,
            }),
        }
    }

    /// Which graph each node of a batch belongs to: n x graphs, a one at (v, g)
    /// for every node v in `offsets[g]..offsets[g + 1]`.
    ///
    /// Its product hands a row per graph to all nodes, that of its
    /// [transpose](Self::transposed) sums the nodes of each graph.
    ///
    /// # Errors
    /// [`Error::Rows`] if the offsets do not begin with 0 and ascend,
    /// [`Error::Length`] if there are none, [`Error::TooManyNodes`].
    ///
    /// ```
    /// use egg_graph::conv::SparseMatrix;
    /// assert_eq!(SparseMatrix::membership(&[0, 2, 5])?.shape(), (5, 2));
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn membership(offsets: &[usize]) -> Result<Self> {
        let what = "batch offsets";
        let nodes = offsets.last().copied().unwrap_or(0);
        if offsets.first().is_some_and(|first| *first != 0) {
            return Err(Error::Rows {
                what,
                row: 0,
                problem: "the first position must be 0".into(),
            });
        }
        check_offsets(what, offsets, nodes)?;
        if nodes > MAX_NODES {
            return Err(Error::TooManyNodes { nodes: nodes as u64 });
        }
        let graphs = offsets.len() - 1;
        let columns = (0u32..)
            .zip(offsets.windows(2))
            .flat_map(|(graph, part)| std::iter::repeat_n(graph, part[1] - part[0]))
            .collect();
        let matrix = CsrMatrix::from_checked((0..=nodes).collect(), columns, vec![1.0; nodes], graphs);
        Ok(Self::new(matrix))
    }

    /// The transposed matrix; the two change places.
    pub fn transposed(&self) -> Self {
        match &self.parts.transpose {
            None => self.clone(),
            Some(transpose) => Self {
                parts: Arc::new(Parts {
                    matrix: transpose.clone(),
                    transpose: Some(self.parts.matrix.clone()),
                }),
            },
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        self.parts.matrix.shape()
    }

    /// The matrix in compressed rows.
    pub fn csr(&self) -> &CsrMatrix {
        &self.parts.matrix
    }

    /// Its transpose in compressed rows.
    pub fn transposed_csr(&self) -> &CsrMatrix {
        self.parts.transpose.as_ref().unwrap_or(&self.parts.matrix)
    }
}

impl Propagation {
    /// [`Self::batch`] for convolutions. These matrices are symmetric, so no
    /// transpose has to be made.
    ///
    /// # Errors
    /// As [`Self::batch`].
    ///
    /// ```
    /// use egg_graph::{Graph, GraphDataset, Propagation};
    /// let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)])?);
    /// assert_eq!(Propagation::sum(&dataset).matrix(&[0])?.shape(), (2, 2));
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn matrix(&self, indices: &[usize]) -> Result<SparseMatrix> {
        self.batch(indices).map(SparseMatrix::symmetric)
    }
}
