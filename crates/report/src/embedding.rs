//! Embeddings of graphs or nodes, as a matrix or as a map in the plane.

// Numbers read from a file must not be used as indices unchecked.
#![warn(clippy::indexing_slicing)]

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::number;
use crate::tsne;

/// Rows of numbers with classes, for a map.
///
/// Embeddings are wide (m (m + 1) / 2 numbers a graph): [`Embedding::reduce`]
/// makes the map before the record is written, so that the file stays small.
///
/// ```
/// use egg_report::Embedding;
///
/// // Four graphs in R^3, two of each class.
/// let values = vec![0.0, 0.0, 1.0, 0.1, 0.0, 1.0, 5.0, 5.0, 0.0, 5.1, 5.0, 0.0];
/// let classes = vec![Some(0), Some(0), Some(1), Some(1)];
/// let mut embedding = Embedding::new("graphs", 3, values, classes).unwrap();
/// embedding.reduce(1500, 0);
/// assert_eq!(embedding.map.unwrap().x.len(), 4);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Embedding {
    /// What a row is: `graphs` or `nodes`.
    #[serde(rename = "of")]
    pub subject: String,
    /// What was embedded, in a few words, as `test part of repetition 1`; empty
    /// to leave it out.
    pub note: String,
    /// The class of every row, if it has one.
    pub classes: Vec<Option<u32>>,
    /// Names of the classes; numbers stand in for missing ones.
    pub class_names: Vec<String>,
    /// The numbers themselves, until they are reduced.
    pub rows: Option<Rows>,
    /// The map of them.
    pub map: Option<Map>,
}

/// A matrix, row by row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rows {
    /// Numbers in a row.
    pub columns: usize,
    /// All rows.
    #[serde(with = "number::list32")]
    pub values: Vec<f32>,
}

impl Rows {
    /// A row, if it exists: the number of rows and columns may come from a file.
    pub(crate) fn row(&self, row: usize) -> Option<&[f32]> {
        let start = row.checked_mul(self.columns)?;
        self.values.get(start..start.checked_add(self.columns)?)
    }
}

/// Points in the plane whose neighbours are those of the rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Map {
    /// Horizontal coordinates.
    #[serde(with = "number::list32")]
    pub x: Vec<f32>,
    /// Vertical coordinates, upwards.
    #[serde(with = "number::list32")]
    pub y: Vec<f32>,
    /// The number of rows before sampling.
    pub rows: usize,
    /// How it was made, in a few words, as `t-SNE, perplexity 30`.
    pub method: String,
}

impl Embedding {
    /// An embedding from a matrix, row by row.
    ///
    /// # Errors
    /// If there are not as many classes as rows, or rows are not complete.
    pub fn new(
        subject: impl Into<String>,
        columns: usize,
        values: Vec<f32>,
        classes: Vec<Option<u32>>,
    ) -> Result<Self> {
        if values.len() != classes.len() * columns {
            return Err(Error::Lengths {
                what: format!("numbers of an embedding of {} rows x {columns}", classes.len()),
                found: values.len(),
                expected: classes.len() * columns,
            });
        }
        Ok(Self {
            subject: subject.into(),
            classes,
            rows: Some(Rows { columns, values }),
            ..Self::default()
        })
    }

    /// Replaces the rows by a map: at most `most` of them, drawn with `seed`,
    /// laid out by t-SNE from a start that depends only on the seed. Bit-identical on any number of
    /// threads. Does nothing if there is a map already.
    ///
    /// Rows with a number that is not finite are left out.
    pub fn reduce(&mut self, most: usize, seed: u64) {
        if self.map.is_some() {
            self.rows = None;
            return;
        }
        let Some(rows) = self.rows.take() else { return };
        let chosen = tsne::sample(&rows, self.classes.len(), most, seed);
        let map = tsne::map(&rows, &chosen, self.classes.len(), seed);
        self.classes = chosen
            .iter()
            .filter_map(|&row| self.classes.get(row).copied())
            .collect();
        self.map = Some(map);
    }
}
