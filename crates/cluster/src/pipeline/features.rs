//! How node features are prepared for the encoder.

use std::borrow::Cow;

use egg_graph::{CsrMatrix, Features, GraphDataset};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How node features are prepared. None of it uses labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FeatureUse {
    /// As they are, as in the paper.
    #[default]
    Raw,
    /// 1 for what is above 0, else 0: which words there are, not how often.
    Binary,
    /// Each row divided by its sum.
    RowSum,
    /// Each row divided by its length.
    UnitLength,
    /// Each column multiplied with `ln(n / rows that have it)`, then each row divided
    /// by its length: words in many documents carry little information (tf-idf).
    TfIdf,
    /// Not used: each node's feature is its number, one-hot (the n x n identity, in
    /// sparse rows). For graphs without features.
    Identity,
}

impl FeatureUse {
    pub(super) fn apply(self, dataset: &GraphDataset) -> Result<Cow<'_, GraphDataset>> {
        Ok(match self {
            Self::Raw => Cow::Borrowed(dataset),
            Self::Binary => {
                let features = binary(dataset.features())?;
                Cow::Owned(dataset.clone().with_features(features)?)
            }
            Self::RowSum => Cow::Owned(dataset.clone().normalise_features()?),
            Self::UnitLength => {
                let features = unit_length(dataset.features())?;
                Cow::Owned(dataset.clone().with_features(features)?)
            }
            Self::TfIdf => {
                let features = unit_length(&rare_first(dataset.features())?)?;
                Cow::Owned(dataset.clone().with_features(features)?)
            }
            Self::Identity => {
                let nodes = u32::try_from(dataset.node_count()).map_err(|_| {
                    Error::setting("nodes", dataset.node_count(), "there are fewer than 2^32")
                })?;
                let identity = Features::one_hot((0..nodes).collect(), dataset.node_count())?;
                Cow::Owned(dataset.clone().with_features(identity)?)
            }
        })
    }
}

fn binary(features: &Features) -> Result<Features> {
    let present = |value: f32| f32::from(u8::from(value > 0.0));
    if let Some(matrix) = features.as_sparse() {
        return Ok(Features::sparse(CsrMatrix::new(
            matrix.offsets().to_vec(),
            matrix.columns().to_vec(),
            matrix.values().iter().map(|value| present(*value)).collect(),
            matrix.shape().1,
        )?));
    }
    Ok(Features::dense(features.to_dense().mapv_into(present))?)
}

fn unit_length(features: &Features) -> Result<Features> {
    let scale = |row: &mut [f32]| {
        let squares: f64 = row.iter().map(|value| f64::from(*value).powi(2)).sum();
        if squares > 0.0 {
            let length = squares.sqrt();
            #[expect(clippy::cast_possible_truncation, reason = "at most 1")]
            row.iter_mut()
                .for_each(|value| *value = (f64::from(*value) / length) as f32);
        }
    };
    if let Some(matrix) = features.as_sparse() {
        let mut values = matrix.values().to_vec();
        for row in matrix.offsets().windows(2) {
            scale(&mut values[row[0]..row[1]]);
        }
        let (offsets, columns) = (matrix.offsets().to_vec(), matrix.columns().to_vec());
        return Ok(Features::sparse(CsrMatrix::new(
            offsets,
            columns,
            values,
            matrix.shape().1,
        )?));
    }
    let mut matrix = features.to_dense();
    for mut row in matrix.rows_mut() {
        if let Some(row) = row.as_slice_mut() {
            scale(row);
        }
    }
    Ok(Features::dense(matrix)?)
}

/// Columns multiplied with the logarithm of how rare they are. One that every row
/// has becomes 0.
fn rare_first(features: &Features) -> Result<Features> {
    let rows = features.rows() as f64;
    #[expect(clippy::cast_possible_truncation, reason = "to f32")]
    let weights = |counts: Vec<usize>| -> Vec<f32> {
        let weight = |count: usize| (rows / count.max(1) as f64).ln() as f32;
        counts.into_iter().map(weight).collect()
    };
    if let Some(matrix) = features.as_sparse() {
        let mut counts = vec![0; matrix.shape().1];
        let entries = || matrix.columns().iter().zip(matrix.values());
        for (column, value) in entries() {
            counts[*column as usize] += usize::from(*value != 0.0);
        }
        let weights = weights(counts);
        let values = entries().map(|(column, value)| value * weights[*column as usize]);
        return Ok(Features::sparse(CsrMatrix::new(
            matrix.offsets().to_vec(),
            matrix.columns().to_vec(),
            values.collect(),
            matrix.shape().1,
        )?));
    }
    let mut matrix = features.to_dense();
    let count = |column: ndarray::ArrayView1<'_, f32>| column.iter().filter(|value| **value != 0.0).count();
    let weights = weights(matrix.columns().into_iter().map(count).collect());
    for mut row in matrix.rows_mut() {
        row.iter_mut()
            .zip(&weights)
            .for_each(|(value, weight)| *value *= weight);
    }
    Ok(Features::dense(matrix)?)
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use egg_graph::Graph;
    use ndarray::array;

    use super::*;

    #[test]
    fn rows_are_scaled_and_zero_rows_stay() {
        let dense = array![[3.0f32, 4.0], [0.0, 0.0], [0.0, 2.0]];
        let sparse = Features::sparse(CsrMatrix::from_dense(dense.view()).unwrap());
        for features in [Features::dense(dense).unwrap(), sparse] {
            let graph = Graph::from_edges(3, &[(0, 1)]).unwrap();
            let dataset = GraphDataset::single("three", graph.with_features(features.clone()).unwrap());
            let of = |how: FeatureUse| how.apply(&dataset).unwrap().features().clone();
            assert_eq!(of(FeatureUse::Raw), features);
            assert_eq!(
                of(FeatureUse::Binary).to_dense(),
                array![[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]]
            );
            assert_eq!(
                of(FeatureUse::UnitLength).to_dense(),
                array![[0.6, 0.8], [0.0, 0.0], [0.0, 1.0]]
            );
            assert_eq!(
                of(FeatureUse::RowSum).to_dense(),
                array![[3.0 / 7.0, 4.0 / 7.0], [0.0, 0.0], [0.0, 1.0]]
            );
            assert_eq!(
                of(FeatureUse::Identity).to_dense(),
                ndarray::Array2::<f32>::eye(3)
            );
            // The first column is in one row of three, the second in two.
            let (rare, common) = (3f64.ln() * 3.0, 1.5f64.ln() * 4.0);
            let length = rare.hypot(common);
            let weighted = of(FeatureUse::TfIdf).to_dense();
            let expected = array![[rare / length, common / length], [0.0, 0.0], [0.0, 1.0]];
            assert_abs_diff_eq!(weighted.mapv(f64::from), expected, epsilon = 1e-6);
            let kept = of(FeatureUse::UnitLength).as_sparse().is_some();
            assert_eq!(kept, features.as_sparse().is_some());
        }
    }
}
