//! Sparse matrices in compressed rows, f32.

use std::ops::Range;

use ndarray::{Array2, ArrayView2};

use crate::adjacency::{accumulate, check_offsets};
use crate::error::{Error, Result};

/// A sparse `rows x columns` matrix in compressed rows, columns ascending and
/// distinct within a row, every value finite.
///
/// ```
/// use egg_graph::CsrMatrix;
/// use ndarray::array;
///
/// let matrix = CsrMatrix::from_dense(array![[0.0, 2.0], [0.0, 0.0], [3.0, 1.0]].view())?;
/// assert_eq!(matrix.shape(), (3, 2));
/// assert_eq!(matrix.row(2).collect::<Vec<_>>(), [(0, 3.0), (1, 1.0)]);
/// assert_eq!(matrix.transposed().to_dense(), matrix.to_dense().t());
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CsrMatrix {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    column_count: usize,
}

impl CsrMatrix {
    /// A matrix from its parts: `offsets` has one position more than there are
    /// rows, row r owns entries `offsets[r]..offsets[r + 1]`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for 2^32 columns or more,
    /// [`Error::Rows`] if positions or columns are out of order or range,
    /// [`Error::Length`] if the parts don't fit, [`Error::NonFinite`] for a
    /// value that is NaN or infinite.
    ///
    /// ```
    /// use egg_graph::CsrMatrix;
    /// let matrix = CsrMatrix::new(vec![0, 1, 2], vec![0, 0], vec![1.0, 5.0], 1)?;
    /// assert_eq!(matrix.to_dense(), ndarray::array![[1.0], [5.0]]);
    /// assert!(CsrMatrix::new(vec![0, 1], vec![3], vec![1.0], 2).is_err());
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn new(
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f32>,
        column_count: usize,
    ) -> Result<Self> {
        let what = "sparse matrix";
        if u32::try_from(column_count).is_err() {
            return Err(Error::parameter("columns", column_count, "below 2^32"));
        }
        let base = check_offsets(what, &offsets, columns.len())?;
        if values.len() != columns.len() {
            return Err(Error::Length {
                what,
                unit: "values",
                expected: columns.len(),
                found: values.len(),
            });
        }
        for (row, bounds) in offsets.windows(2).enumerate() {
            let range = bounds[0] - base..bounds[1] - base;
            let ids = &columns[range.clone()];
            let problem = if let Some(column) = ids.iter().find(|id| **id as usize >= column_count) {
                format!("column {column} is out of range: there are {column_count}")
            } else if let Some(pair) = ids.windows(2).find(|pair| pair[0] >= pair[1]) {
                format!("columns {} and {} are not in ascending order", pair[0], pair[1])
            } else if let Some(at) = values[range.clone()].iter().position(|value| !value.is_finite()) {
                return Err(Error::NonFinite {
                    what,
                    row,
                    column: ids[at] as usize,
                    value: values[range.start + at],
                });
            } else {
                continue;
            };
            return Err(Error::Rows { what, row, problem });
        }
        let mut matrix = Self::from_checked(offsets, columns, values, column_count);
        if base != 0 {
            matrix.offsets.iter_mut().for_each(|offset| *offset -= base);
        }
        Ok(matrix)
    }

    /// Parts that are known to be right.
    pub(crate) fn from_checked(
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f32>,
        column_count: usize,
    ) -> Self {
        Self {
            offsets,
            columns,
            values,
            column_count,
        }
    }

    /// The non-zero entries of a dense matrix.
    ///
    /// # Errors
    /// [`Error::NonFinite`] for an entry that is NaN or infinite.
    ///
    /// ```
    /// use egg_graph::CsrMatrix;
    /// let matrix = CsrMatrix::from_dense(ndarray::array![[0.0, 4.0]].view())?;
    /// assert_eq!(matrix.nonzeros(), 1);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn from_dense(dense: ArrayView2<'_, f32>) -> Result<Self> {
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in dense.rows() {
            for (column, value) in (0u32..).zip(row) {
                if *value != 0.0 {
                    columns.push(column);
                    values.push(*value);
                }
            }
            offsets.push(columns.len());
        }
        Self::new(offsets, columns, values, dense.ncols())
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.offsets.len() - 1, self.column_count)
    }

    /// How many entries are stored.
    pub fn nonzeros(&self) -> usize {
        self.columns.len()
    }

    /// Positions of the rows among the entries, one more than there are rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The column of each entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The value of each entry.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The entries of a row, as columns and values; none for a row that is not
    /// there.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, f32)> + '_ {
        let range = match self.offsets.get(row..) {
            Some(&[start, end, ..]) => start..end,
            _ => 0..0,
        };
        let columns = self.columns[range.clone()].iter();
        columns
            .zip(&self.values[range])
            .map(|(column, value)| (*column as usize, *value))
    }

    /// Ranges of rows, one below the other. The ranges must be within bounds.
    pub(crate) fn gather(&self, ranges: &[Range<usize>]) -> Self {
        let rows: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let entries = |range: &Range<usize>| self.offsets[range.start]..self.offsets[range.end];
        let total = ranges.iter().map(|range| entries(range).len()).sum();
        let mut offsets = Vec::with_capacity(rows + 1);
        let mut columns = Vec::with_capacity(total);
        let mut values = Vec::with_capacity(total);
        for range in ranges {
            let (entries, done) = (entries(range), columns.len());
            let positions = &self.offsets[range.clone()];
            offsets.extend(positions.iter().map(|position| position - entries.start + done));
            columns.extend_from_slice(&self.columns[entries.clone()]);
            values.extend_from_slice(&self.values[entries]);
        }
        offsets.push(columns.len());
        Self::from_checked(offsets, columns, values, self.shape().1)
    }

    /// The transposed matrix, in compressed rows again: a counting sort, linear
    /// in the number of entries.
    pub fn transposed(&self) -> Self {
        let (rows, columns) = self.shape();
        let mut offsets = vec![0usize; columns + 1];
        for column in &self.columns {
            offsets[*column as usize + 1] += 1;
        }
        accumulate(&mut offsets);
        let mut cursors = offsets.clone();
        let mut transposed_columns = vec![0u32; self.columns.len()];
        let mut values = vec![0f32; self.values.len()];
        for (row, bounds) in (0u32..).zip(self.offsets.windows(2)) {
            for entry in bounds[0]..bounds[1] {
                let cursor = &mut cursors[self.columns[entry] as usize];
                transposed_columns[*cursor] = row;
                values[*cursor] = self.values[entry];
                *cursor += 1;
            }
        }
        Self::from_checked(offsets, transposed_columns, values, rows)
    }

    /// The same matrix with the zeros written out. For looking at small ones.
    pub fn to_dense(&self) -> Array2<f32> {
        let mut dense = Array2::zeros(self.shape());
        for (row, mut line) in dense.rows_mut().into_iter().enumerate() {
            for (column, value) in self.row(row) {
                line[column] = value;
            }
        }
        dense
    }
}
