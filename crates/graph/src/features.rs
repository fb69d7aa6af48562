//! What is known of each node: one row per node, dense or sparse.

use std::ops::Range;

use ndarray::{Array2, ArrayView2, Axis, s};

use crate::error::{Error, Result};
use crate::sparse::CsrMatrix;

/// The most features that a node of a graph can have: 2^24.
pub const MAX_FEATURES: usize = 1 << 24;

/// Node features, n x d, every entry finite.
///
/// Bags of words and one-hot labels are mostly zero: they stay sparse, and the
/// first layer of a network multiplies them as they are.
///
/// ```
/// use egg_graph::{CsrMatrix, Features};
/// use ndarray::array;
///
/// let dense = Features::dense(array![[0.0, 1.0], [2.0, 0.0]])?;
/// let sparse = Features::sparse(CsrMatrix::from_dense(dense.to_dense().view())?);
/// assert_eq!((sparse.rows(), sparse.width(), sparse.nonzeros()), (2, 2, 2));
/// assert_eq!(sparse.to_dense(), dense.to_dense());
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Features(Kind);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Dense(Array2<f32>),
    Sparse(CsrMatrix),
}

impl Features {
    /// Features that are mostly not zero.
    ///
    /// # Errors
    /// [`Error::NonFinite`] for an entry that is NaN or infinite.
    ///
    /// ```
    /// use egg_graph::Features;
    /// assert!(Features::dense(ndarray::array![[1.0, f32::NAN]]).is_err());
    /// ```
    pub fn dense(matrix: Array2<f32>) -> Result<Self> {
        if let Some(((row, column), value)) = matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::NonFinite {
                what: "features",
                row,
                column,
                value: *value,
            });
        }
        // Row by row in memory, whatever came in.
        let matrix = if matrix.is_standard_layout() {
            matrix
        } else {
            matrix.as_standard_layout().into_owned()
        };
        Ok(Self(Kind::Dense(matrix)))
    }

    /// Features that are mostly zero.
    pub fn sparse(matrix: CsrMatrix) -> Self {
        Self(Kind::Sparse(matrix))
    }

    /// No features, of a number of nodes.
    pub fn none(rows: usize) -> Self {
        Self(Kind::Dense(Array2::zeros((rows, 0))))
    }

    /// A single one per row, at the given columns: one-hot.
    ///
    /// # Errors
    /// [`Error::Rows`] for a column that is not below `width`.
    ///
    /// ```
    /// use egg_graph::Features;
    /// let hot = Features::one_hot(vec![2, 0], 3)?;
    /// assert_eq!(hot.to_dense(), ndarray::array![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn one_hot(columns: Vec<u32>, width: usize) -> Result<Self> {
        let rows = columns.len();
        CsrMatrix::new((0..=rows).collect(), columns, vec![1.0; rows], width).map(Self::sparse)
    }

    /// How many nodes.
    pub fn rows(&self) -> usize {
        match &self.0 {
            Kind::Dense(matrix) => matrix.nrows(),
            Kind::Sparse(matrix) => matrix.shape().0,
        }
    }

    /// How many features each node has.
    pub fn width(&self) -> usize {
        match &self.0 {
            Kind::Dense(matrix) => matrix.ncols(),
            Kind::Sparse(matrix) => matrix.shape().1,
        }
    }

    /// Refuses a width that only a mistake, or a forger, would give: work on
    /// features allocates by it.
    pub(crate) fn check_width(&self) -> Result<()> {
        if self.width() <= MAX_FEATURES {
            return Ok(());
        }
        Err(Error::parameter(
            "features",
            self.width(),
            format!("at most {MAX_FEATURES} columns"),
        ))
    }

    /// How many entries are not zero.
    pub fn nonzeros(&self) -> usize {
        match &self.0 {
            Kind::Dense(matrix) => matrix.iter().filter(|value| **value != 0.0).count(),
            Kind::Sparse(matrix) => matrix.values().iter().filter(|value| **value != 0.0).count(),
        }
    }

    /// The matrix, if it is dense.
    pub fn as_dense(&self) -> Option<ArrayView2<'_, f32>> {
        match &self.0 {
            Kind::Dense(matrix) => Some(matrix.view()),
            Kind::Sparse(_) => None,
        }
    }

    /// The matrix, if it is sparse.
    pub fn as_sparse(&self) -> Option<&CsrMatrix> {
        match &self.0 {
            Kind::Dense(_) => None,
            Kind::Sparse(matrix) => Some(matrix),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0
    }

    /// The matrix with its zeros written out.
    pub fn to_dense(&self) -> Array2<f32> {
        match &self.0 {
            Kind::Dense(matrix) => matrix.clone(),
            Kind::Sparse(matrix) => matrix.to_dense(),
        }
    }

    /// The columns of two feature matrices of the same nodes, as NumPy's `hstack`; sparse if either
    /// is.
    ///
    /// # Errors
    /// [`Error::Length`] if they are of different numbers of nodes.
    ///
    /// ```
    /// use egg_graph::Features;
    /// let joined = Features::one_hot(vec![0], 2)?.hstack(&Features::dense(ndarray::array![[0.5]])?)?;
    /// assert_eq!(joined.to_dense(), ndarray::array![[1.0, 0.0, 0.5]]);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn hstack(&self, right: &Self) -> Result<Self> {
        if self.rows() != right.rows() {
            return Err(Error::Length {
                what: "features",
                unit: "rows",
                expected: self.rows(),
                found: right.rows(),
            });
        }
        if let (Kind::Dense(left), Kind::Dense(right)) = (&self.0, &right.0) {
            let mut joined = Array2::zeros((left.nrows(), left.ncols() + right.ncols()));
            joined.slice_mut(s![.., ..left.ncols()]).assign(left);
            joined.slice_mut(s![.., left.ncols()..]).assign(right);
            return Ok(Self(Kind::Dense(joined)));
        }
        let (left, right) = (self.to_csr()?, right.to_csr()?);
        let shift = left.shape().1;
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in 0..left.shape().0 {
            for (column, value) in left.row(row).chain(right.row(row).map(|(c, v)| (c + shift, v))) {
                columns.push(u32::try_from(column).map_err(|_| {
                    Error::parameter("width", column, "a row of features has fewer than 2^32 columns")
                })?);
                values.push(value);
            }
            offsets.push(columns.len());
        }
        let width = shift + right.shape().1;
        Ok(Self::sparse(CsrMatrix::from_checked(
            offsets, columns, values, width,
        )))
    }

    fn to_csr(&self) -> Result<std::borrow::Cow<'_, CsrMatrix>> {
        Ok(match &self.0 {
            Kind::Dense(matrix) => std::borrow::Cow::Owned(CsrMatrix::from_dense(matrix.view())?),
            Kind::Sparse(matrix) => std::borrow::Cow::Borrowed(matrix),
        })
    }

    /// One below the other, all of one width; sparse if any is.
    pub(crate) fn concatenate<'a>(
        width: usize,
        parts: impl Iterator<Item = &'a Self> + Clone,
    ) -> Result<Self> {
        if parts.clone().all(|part| part.as_dense().is_some()) {
            let data: Vec<f32> = parts
                .clone()
                .flat_map(|part| part.as_dense().into_iter().flatten())
                .copied()
                .collect();
            let rows = parts.map(Self::rows).sum();
            let found = data.len();
            return match Array2::from_shape_vec((rows, width), data) {
                Ok(matrix) => Ok(Self(Kind::Dense(matrix))),
                Err(_) => Err(Error::Length {
                    what: "features",
                    unit: "entries",
                    expected: rows * width,
                    found,
                }),
            };
        }
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for part in parts {
            let matrix = part.to_csr()?;
            let done = columns.len();
            offsets.extend(matrix.offsets()[1..].iter().map(|offset| offset + done));
            columns.extend_from_slice(matrix.columns());
            values.extend_from_slice(matrix.values());
        }
        CsrMatrix::new(offsets, columns, values, width).map(Self::sparse)
    }

    /// The same with a row of zeros after each part of the rows.
    pub(crate) fn with_zero_rows(&self, parts: &[usize]) -> Self {
        match &self.0 {
            Kind::Dense(matrix) => {
                let graphs = parts.len().saturating_sub(1);
                let mut longer = Array2::zeros((matrix.nrows() + graphs, matrix.ncols()));
                for (graph, part) in parts.windows(2).enumerate() {
                    longer
                        .slice_mut(s![part[0] + graph..part[1] + graph, ..])
                        .assign(&matrix.slice(s![part[0]..part[1], ..]));
                }
                Self(Kind::Dense(longer))
            }
            Kind::Sparse(matrix) => {
                let mut offsets = vec![0];
                for part in parts.windows(2) {
                    offsets.extend_from_slice(&matrix.offsets()[part[0] + 1..=part[1]]);
                    offsets.push(matrix.offsets()[part[1]]);
                }
                let (columns, values) = (matrix.columns().to_vec(), matrix.values().to_vec());
                Self::sparse(CsrMatrix::from_checked(
                    offsets,
                    columns,
                    values,
                    matrix.shape().1,
                ))
            }
        }
    }

    /// Ranges of rows, one below the other. The ranges must be within bounds.
    pub(crate) fn gather(&self, ranges: &[Range<usize>]) -> Self {
        let rows: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        match &self.0 {
            Kind::Dense(matrix) => {
                let width = matrix.ncols();
                let mut data = Vec::with_capacity(rows * width);
                for range in ranges {
                    match matrix.slice_axis(Axis(0), range.clone().into()).as_slice() {
                        Some(slice) => data.extend_from_slice(slice),
                        None => data.extend(matrix.slice_axis(Axis(0), range.clone().into()).iter()),
                    }
                }
                let gathered = Array2::from_shape_vec((rows, width), data);
                Self(Kind::Dense(
                    gathered.unwrap_or_else(|_| Array2::zeros((rows, width))),
                ))
            }
            Kind::Sparse(matrix) => Self::sparse(matrix.gather(ranges)),
        }
    }
}
