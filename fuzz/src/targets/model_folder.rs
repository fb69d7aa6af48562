//! Folders with a trained model.

use egg_graph::{Features, Graph, GraphDataset};
use egg_pool::folder::TrainedModel;

use super::Target;
use super::sealed_checkpoint;
use crate::files::{Folder, Sections};
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "model_folder",
    run,
    words: WORDS,
    reader: None,
};

const CONFIG: &str = "config.json";
const METRICS: &str = "metrics.json";
const PARAMETERS: &str = "model.safetensors";

const WORDS: &[&str] = &[
    "\"layers\":",
    "\"hidden\":",
    "\"inputs\":",
    "\"outputs\":",
    "\"widths\":[",
    "\"architecture\":\"gin\"",
    "\"architecture\":\"blind\"",
    "\"virtual_node\":true",
    "\"node_norm\":true",
    "\"kind\":\"egg\"",
    "\"kind\":\"soft-egg\"",
    "\"kind\":\"topk\"",
    "\"kind\":\"pan\"",
    "\"filter_size\":",
    "\"ratio\":",
    "\"rank\":{\"fixed\":0}",
    "\"dropout\":1.0",
    "null",
    "1e999",
    "-1",
    "18446744073709551615",
];

thread_local! {
    static FOLDER: Folder = Folder::new("model");
}

fn run(input: &[u8]) -> Outcome {
    let sections = Sections::parse(input, &[CONFIG, METRICS, PARAMETERS]);
    let parameters = sections.get(PARAMETERS).map(sealed_checkpoint);
    let mut files = Vec::new();
    files.extend(sections.get(CONFIG).map(|text| (CONFIG, text)));
    files.extend(sections.get(METRICS).map(|text| (METRICS, text)));
    files.extend(parameters.as_deref().map(|bytes| (PARAMETERS, bytes)));
    let model = FOLDER.with(|folder| TrainedModel::load(folder.fill(&files)));
    let model = match model {
        Ok(model) => model,
        Err(error) => return Outcome::refused(&error),
    };
    let inputs = model.config().inputs;
    let predicted = match graph(inputs) {
        Some(dataset) => model.predict(dataset).is_ok(),
        None => false,
    };
    Outcome::read(&[
        inputs,
        model.config().outputs,
        model.config().model.layers,
        usize::from(predicted),
        model.outcome().history.len(),
    ])
}

/// A graph for the model to predict.
fn graph(inputs: usize) -> Option<GraphDataset> {
    let features = ndarray::Array2::from_elem((3, (1..=64).contains(&inputs).then_some(inputs)?), 0.5);
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]).ok()?;
    let graph = graph.with_features(Features::dense(features).ok()?).ok()?;
    Some(GraphDataset::single("path", graph))
}
