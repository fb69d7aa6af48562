//! What the columns of node features are, so that those of two data sets can be
//! shown to be the same.

use std::collections::HashMap;
use std::fmt;

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::dataset::GraphDataset;
use crate::error::{Error, Result};
use crate::features::{Features, Kind};
use crate::sparse::CsrMatrix;

/// What one column of node features is.
///
/// ```
/// use egg_graph::FeatureColumn;
///
/// assert_eq!(FeatureColumn::number("age").to_string(), "age");
/// assert_eq!(FeatureColumn::category("node label", "3").to_string(), "node label = 3");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FeatureColumn {
    /// A number, under the name that the source gives it.
    Number(String),
    /// 1 for nodes of one category, 0 for all others.
    Category {
        /// What is categorised.
        #[serde(rename = "of")]
        property: String,
        /// Which category.
        #[serde(rename = "is")]
        value: String,
    },
}

impl FeatureColumn {
    /// A number under this name.
    pub fn number(name: impl Into<String>) -> Self {
        Self::Number(name.into())
    }

    /// One category of a property that has several.
    pub fn category(property: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Category {
            property: property.into(),
            value: value.into(),
        }
    }

    /// The property that is categorised, if it is one.
    fn categorised(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Category { property, .. } => Some(property),
        }
    }
}

impl fmt::Display for FeatureColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(name) => f.write_str(name),
            Self::Category { property, value } => write!(f, "{property} = {value}"),
        }
    }
}

/// A category of new data that the columns asked for do not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnseenCategory {
    /// The category.
    pub column: FeatureColumn,
    /// How many nodes are of it; all columns of its property are 0 for them.
    pub nodes: usize,
}

impl GraphDataset {
    /// The same graphs with the columns of another data set, in its order: columns are
    /// found by what they are, not by where they stand.
    ///
    /// A category that no node here is of is a column of zeros. One that is not among
    /// the columns asked for is left out, and how many nodes are of it is counted.
    ///
    /// # Errors
    /// [`Error::Columns`] if it is not known what the columns here are, if one that
    /// is asked for is not here, or if one here is not asked for: categories of a
    /// property that both have excepted.
    ///
    /// ```
    /// use egg_graph::{FeatureColumn, Features, Graph, GraphDataset};
    ///
    /// let graph = Graph::from_edges(2, &[(0, 1)])?.with_features(Features::dense(ndarray::array![[1.0, 5.0], [2.0, 6.0]])?)?;
    /// let (age, height) = (FeatureColumn::number("age"), FeatureColumn::number("height"));
    /// let dataset = GraphDataset::single("pair", graph).with_feature_columns(vec![age.clone(), height.clone()])?;
    /// let (matched, unseen) = dataset.clone().with_columns_of(&[height, age.clone()])?;
    /// assert_eq!(matched.features().to_dense(), ndarray::array![[5.0, 1.0], [6.0, 2.0]]);
    /// assert!(unseen.is_empty());
    /// assert!(dataset.with_columns_of(&[age]).is_err());
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn with_columns_of(self, wanted: &[FeatureColumn]) -> Result<(Self, Vec<UnseenCategory>)> {
        let refused = |problem: String| Error::Columns {
            dataset: self.name().to_owned(),
            problem,
        };
        let Some(own) = self.feature_columns() else {
            return Err(refused(
                "its feature columns have no names; give them a header with the names that were trained with"
                    .into(),
            ));
        };
        if own == wanted {
            return Ok((self, Vec::new()));
        }
        let place: HashMap<&FeatureColumn, u32> = wanted.iter().zip(0u32..).collect();
        let has_property = |columns: &[FeatureColumn], column: &FeatureColumn| {
            let property = column.categorised();
            property.is_some() && columns.iter().any(|other| other.categorised() == property)
        };
        let missing = |column: &&FeatureColumn| !own.contains(column) && !has_property(own, column);
        if let Some(column) = wanted.iter().find(missing) {
            return Err(refused(format!(
                "column `{column}` is missing; there are {}",
                listed(own)
            )));
        }
        let unknown = |column: &&FeatureColumn| !place.contains_key(column) && !has_property(wanted, column);
        if let Some(column) = own.iter().find(unknown) {
            return Err(refused(format!(
                "column `{column}` is not among those that were trained with: {}",
                listed(wanted)
            )));
        }
        let places: Vec<Option<u32>> = own.iter().map(|column| place.get(column).copied()).collect();
        let (features, unseen) = moved(self.features(), &places, wanted.len())?;
        let unseen = own
            .iter()
            .zip(unseen)
            .filter(|(_, nodes)| *nodes > 0)
            .map(|(column, nodes)| UnseenCategory {
                column: column.clone(),
                nodes,
            })
            .collect();
        let dataset = self.with_features(features)?;
        Ok((dataset.with_feature_columns(wanted.to_vec())?, unseen))
    }
}

/// The columns at other places, and of those that have none how many rows are not 0.
fn moved(features: &Features, places: &[Option<u32>], width: usize) -> Result<(Features, Vec<usize>)> {
    let mut left_out = vec![0; places.len()];
    let features = match features.kind() {
        Kind::Dense(matrix) => {
            let mut wide = Array2::zeros((matrix.nrows(), width));
            for (column, (place, left_out)) in
                matrix.columns().into_iter().zip(places.iter().zip(&mut left_out))
            {
                match place {
                    Some(place) => wide.column_mut(*place as usize).assign(&column),
                    None => *left_out = column.iter().filter(|value| **value != 0.0).count(),
                }
            }
            Features::dense(wide)?
        }
        Kind::Sparse(matrix) => {
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            let mut row_entries = Vec::new();
            for row in 0..matrix.shape().0 {
                row_entries.clear();
                for (column, value) in matrix.row(row) {
                    match places.get(column).copied().flatten() {
                        Some(place) => row_entries.push((place, value)),
                        None if value != 0.0 => left_out[column] += 1,
                        None => {}
                    }
                }
                row_entries.sort_unstable_by_key(|(column, _)| *column);
                columns.extend(row_entries.iter().map(|(column, _)| *column));
                values.extend(row_entries.iter().map(|(_, value)| *value));
                offsets.push(columns.len());
            }
            Features::sparse(CsrMatrix::new(offsets, columns, values, width)?)
        }
    };
    Ok((features, left_out))
}

/// The first few, for a message.
fn listed(columns: &[FeatureColumn]) -> String {
    const MOST: usize = 12;
    let names: Vec<String> = columns.iter().take(MOST).map(ToString::to_string).collect();
    let more = columns.len().saturating_sub(MOST);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    fn labels(of: std::ops::Range<i64>) -> Vec<FeatureColumn> {
        of.map(|value| FeatureColumn::category("label", value.to_string()))
            .collect()
    }

    fn one_hot(columns: Vec<u32>, width: usize, names: Vec<FeatureColumn>) -> GraphDataset {
        let features = Features::one_hot(columns, width).unwrap();
        let graph = Graph::from_edges(features.rows(), &[]).unwrap();
        GraphDataset::single("nodes", graph.with_features(features).unwrap())
            .with_feature_columns(names)
            .unwrap()
    }

    #[test]
    fn category_columns_are_matched_by_value() {
        // Labels 2, 3, 5 as columns 2..=5; trained with 0..=4.
        let found = one_hot(vec![0, 1, 3], 4, labels(2..6));
        let (aligned, unseen) = found.with_columns_of(&labels(0..5)).unwrap();
        let expected = ndarray::array![
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0]
        ];
        assert_eq!(aligned.features().to_dense(), expected);
        assert_eq!(
            unseen,
            [UnseenCategory {
                column: FeatureColumn::category("label", "5"),
                nodes: 1
            }]
        );
        assert_eq!(aligned.feature_columns(), Some(&labels(0..5)[..]));
    }

    #[test]
    fn number_columns_must_match_by_name() {
        let numbers = |names: &[&str]| {
            names
                .iter()
                .copied()
                .map(FeatureColumn::number)
                .collect::<Vec<_>>()
        };
        let dense = |names: &[&str]| {
            let features = Features::dense(Array2::from_shape_fn((2, names.len()), |(row, column)| {
                (10 * row + column) as f32
            }));
            let graph = Graph::from_edges(2, &[])
                .unwrap()
                .with_features(features.unwrap())
                .unwrap();
            GraphDataset::single("nodes", graph)
        };
        let named = dense(&["a", "b"])
            .with_feature_columns(numbers(&["a", "b"]))
            .unwrap();
        for (wanted, words) in [
            (&["b", "c"][..], "`c` is missing"),
            (&["a"], "`b` is not among"),
            (&["a", "b", "c"], "`c` is missing"),
        ] {
            let refused = named
                .clone()
                .with_columns_of(&numbers(wanted))
                .unwrap_err()
                .to_string();
            assert!(refused.contains(words), "{refused}");
        }
        let refused = dense(&["a", "b"])
            .with_columns_of(&numbers(&["a", "b"]))
            .unwrap_err();
        assert!(refused.to_string().contains("no names"), "{refused}");
        // A property that is not categorised here at all.
        let refused = named.clone().with_columns_of(&labels(0..2)).unwrap_err();
        assert!(
            refused.to_string().contains("`label = 0` is missing"),
            "{refused}"
        );
        assert!(dense(&["a", "b"]).with_feature_columns(numbers(&["a"])).is_err());
        assert!(
            dense(&["a", "b"])
                .with_feature_columns(numbers(&["a", "a"]))
                .is_err()
        );
        // Columns of features that were replaced no longer apply.
        let other = Features::none(2);
        assert_eq!(named.with_features(other).unwrap().feature_columns(), None);
    }
}
