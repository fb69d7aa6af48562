//! Trained models, as `egg train` leaves them.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use egg_gnn::graph::{FeatureColumn, GraphDataset, NodeFeatures};
use egg_gnn::pool::data::InputFeatures;
use egg_gnn::pool::folder::TrainedModel;

use crate::arguments::Common;
use crate::console::{counted, note};
use crate::data::Data;
use crate::failure::{Failure, Result};

/// A model's folder, or that of the run it is in.
pub(crate) fn load(folder: &Path) -> Result<TrainedModel> {
    let candidates = [folder.to_owned(), folder.join("model")];
    let is_model = |folder: &&PathBuf| folder.join("config.json").is_file();
    match candidates.iter().find(is_model) {
        Some(folder) => Ok(TrainedModel::load(folder)?),
        None if folder.exists() => Err(Failure::other(format!(
            "{}: there is no model in this folder (no config.json, no model/)\nhelp: give --model the folder \
             that `egg train` wrote; a run that was interrupted has none yet: resume it with --resume",
            folder.display()
        ))),
        None => Err(Failure::other(format!(
            "{}: there is no such folder\nhelp: give --model the folder that `egg train` wrote",
            folder.display()
        ))),
    }
}

/// What of new graphs a model has not seen in training.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    /// Nodes with more neighbours than any.
    pub(crate) degrees: usize,
    /// Nodes of a category that there was not.
    pub(crate) nodes: usize,
}

/// Reads graphs for a model: with the node data that it was trained with, unless others
/// are asked for.
pub(crate) fn read(trained: &TrainedModel, name: &str, common: &Common) -> Result<Data> {
    let mut common = common.clone();
    if common.reading.node_features.is_none() {
        common.reading.node_features = trained.config().columns.as_deref().map(node_features);
    }
    Data::load(name, &common)
}

/// Which of a TU data set's node data columns came from.
fn node_features(columns: &[FeatureColumn]) -> NodeFeatures {
    let labels = columns
        .iter()
        .any(|column| matches!(column, FeatureColumn::Category { .. }));
    let numbers = columns
        .iter()
        .any(|column| matches!(column, FeatureColumn::Number(_)));
    match (labels, numbers) {
        (true, true) => NodeFeatures::Both,
        (true, false) => NodeFeatures::Labels,
        (false, true) => NodeFeatures::Attributes,
        (false, false) => NodeFeatures::Auto,
    }
}

/// The graphs with the model's own feature columns. What it has not seen in training is
/// counted, and said.
pub(crate) fn prepare(trained: &TrainedModel, data: &Data) -> Result<(GraphDataset, Unseen)> {
    let features = trained.config().model.features;
    let name = data.dataset.name();
    let mut unseen = Unseen {
        degrees: features.unseen(&data.dataset),
        nodes: 0,
    };
    if let (InputFeatures::Degree { most }, true) = (features, unseen.degrees > 0) {
        note(&format!(
            "{name}: {} with more than {most} neighbours, the most in training, taken for nodes with {most}",
            counted(unseen.degrees, "node")
        ));
    }
    let (dataset, categories) = trained.config().columns_of(data.dataset.clone())?;
    for category in &categories {
        unseen.nodes += category.nodes;
        note(&format!(
            "{name}: {} with {}, which the model was not trained with: taken for nodes of no category",
            counted(category.nodes, "node"),
            category.column
        ));
    }
    Ok((dataset, unseen))
}

/// A field of a CSV row, quoted where it must be.
pub(crate) fn csv_field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(csv_field("plain"), "plain");
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
