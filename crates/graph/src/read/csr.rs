//! Compressed rows as SciPy stores them: in any order within a row, a column
//! perhaps more than once.

use std::path::Path;

use crate::error::{Error, Result};
use crate::sparse::CsrMatrix;

/// The arrays of a `csr_matrix`.
pub(crate) struct CsrParts {
    /// Rows and columns.
    pub(crate) shape: Vec<i64>,
    /// Where each row begins, and the end.
    pub(crate) offsets: Vec<i64>,
    /// One per entry.
    pub(crate) columns: Vec<i64>,
    /// One per entry.
    pub(crate) values: Vec<f32>,
}

impl CsrParts {
    /// Sorts the columns of each row and adds up the values of a column that
    /// occurs more than once, as SciPy's `sum_duplicates` does.
    pub(crate) fn into_matrix(self, file: &Path) -> Result<CsrMatrix> {
        self.build(file)
            .map_err(|problem| Error::file(file, format!("the sparse matrix is not sound: {problem}")))
    }

    fn build(mut self, file: &Path) -> std::result::Result<CsrMatrix, String> {
        let (rows, width) = match self.shape[..] {
            [rows, columns] => (rows, columns),
            _ => return Err(format!("a shape of {} axes", self.shape.len())),
        };
        if i64::try_from(self.offsets.len()).ok() != rows.checked_add(1) {
            return Err(format!(
                "{} row positions for {rows} rows, where one more is needed",
                self.offsets.len()
            ));
        }
        if self.columns.len() != self.values.len() {
            return Err(format!(
                "{} columns but {} values",
                self.columns.len(),
                self.values.len()
            ));
        }
        let width = usize::try_from(width).map_err(|_| format!("{width} columns"))?;
        plausible(file, "the number of columns", width as u64, self.columns.len())
            .map_err(|error| error.to_string())?;
        let positions: std::result::Result<Vec<usize>, _> =
            self.offsets.drain(..).map(usize::try_from).collect();
        let positions = positions.map_err(|_| "a negative row position")?;
        if positions.first() != Some(&0) || positions.last() != Some(&self.columns.len()) {
            return Err(format!(
                "the row positions do not span the {} entries",
                self.columns.len()
            ));
        }
        let columns: std::result::Result<Vec<u32>, _> = self.columns.drain(..).map(u32::try_from).collect();
        let columns = columns.map_err(|_| "a column is negative or above 2^32 - 1")?;

        let mut offsets = Vec::with_capacity(positions.len());
        offsets.push(0);
        let (mut kept_columns, mut kept_values) = (Vec::new(), Vec::new());
        let mut row: Vec<(u32, f32)> = Vec::new();
        for (index, &[start, end]) in positions.array_windows().enumerate() {
            let (Some(ids), Some(values)) = (columns.get(start..end), self.values.get(start..end)) else {
                return Err(format!(
                    "row {index} ends before it begins, or beyond the entries"
                ));
            };
            if ids.is_sorted_by(|left, right| left < right) {
                kept_columns.extend_from_slice(ids);
                kept_values.extend_from_slice(values);
            } else {
                row.clear();
                row.extend(ids.iter().copied().zip(values.iter().copied()));
                // Stable: equal columns are added up in the order stored.
                row.sort_by_key(|(column, _)| *column);
                for group in row.chunk_by(|left, right| left.0 == right.0) {
                    kept_columns.extend(group.first().map(|(column, _)| *column));
                    kept_values.push(group.iter().map(|(_, value)| value).sum());
                }
            }
            offsets.push(kept_columns.len());
        }
        CsrMatrix::new(offsets, kept_columns, kept_values, width).map_err(|error| error.to_string())
    }
}

/// A number that a file merely claims may exceed what is in the file, but not
/// by orders of magnitude: memory is going to be laid out by it.
///
/// # Errors
/// [`Error::File`] if `claimed` is more than a million and more than 64 times
/// what was `read`.
pub(crate) fn plausible(file: &Path, what: &'static str, claimed: u64, read: usize) -> Result<()> {
    let most = (read as u64).saturating_mul(64).max(1 << 20);
    if claimed <= most {
        return Ok(());
    }
    Err(Error::file(
        file,
        format!("{what} is said to be {claimed}, but there are only {read} entries"),
    ))
}
