//! Tables in plain text, with columns that line up.

use crate::console::printable;

/// Rows of cells below a header. The first column is for names, the others
/// for numbers.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    words: bool,
}

impl Table {
    pub(crate) fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self {
            header: header
                .into_iter()
                .map(|cell: S| printable(&cell.into(), false).into_owned())
                .collect(),
            rows: Vec::new(),
            words: false,
        }
    }

    /// The same with all columns for words.
    pub(crate) fn of_words(mut self) -> Self {
        self.words = true;
        self
    }

    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let printable = |cell: S| printable(&cell.into(), false).into_owned();
        self.rows.push(cells.into_iter().map(printable).collect());
    }

    /// Without the newline of the last line.
    pub(crate) fn text(&self) -> String {
        let columns = self.header.len();
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let width = |column: usize| {
            let cells = lines().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |cells: &Vec<String>| {
            let padded = cells
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    _ if self.words => format!("{cell:<width$}"),
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                });
            let line = padded.collect::<Vec<_>>().join("  ");
            format!("  {}", line.trim_end())
        };
        let rule = widths
            .iter()
            .map(|width| "-".repeat(*width))
            .collect::<Vec<_>>()
            .join("  ");
        let mut text = vec![line(&self.header), format!("  {rule}")];
        text.extend(self.rows.iter().map(line));
        text.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["method", "acc"]);
        table.row(["EGG", "100.00"]);
        table.row(["k-means", "7.0"]);
        let expected = "  method      acc\n  -------  ------\n  EGG      100.00\n  k-means     7.0";
        assert_eq!(table.text(), expected);
    }
}
