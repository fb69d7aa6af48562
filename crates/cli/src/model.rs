//! Trained models, as `egg train` leaves them.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use egg_gnn::pool::data::InputFeatures;
use egg_gnn::pool::folder::TrainedModel;

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
             that `egg train` wrote; a run that was interrupted has none yet, go on with it by --resume",
            folder.display()
        ))),
        None => Err(Failure::other(format!(
            "{}: there is no such folder\nhelp: give --model the folder that `egg train` wrote",
            folder.display()
        ))),
    }
}

/// How many nodes have more neighbours than any that the model was trained on; if
/// there are some, says what they are taken for.
pub(crate) fn tell_unseen(trained: &TrainedModel, data: &Data) -> usize {
    let features = trained.config().model.features;
    let unseen = features.unseen(&data.dataset);
    if let (InputFeatures::Degree { most }, true) = (features, unseen > 0) {
        note(&format!(
            "{}: {} with more than {most} neighbours, the most in training, taken for nodes with {most}",
            data.dataset.name(),
            counted(unseen, "node")
        ));
    }
    unseen
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
