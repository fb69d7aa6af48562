//! What a trained model says of new graphs.

use candle_core::DType;
use egg_graph::{GraphDataset, Targets, batches};
use serde::{Deserialize, Serialize};

use super::saved::TrainedModel;
use crate::data::PreparedGraphs;
use crate::error::{Error, Result};
use crate::metrics::{Scores, largest};
use crate::train::outputs;

/// Of one graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// The most probable class.
    Class {
        /// Its number.
        class: u32,
        /// What the training data call it.
        label: String,
        /// Of every class; they add up to 1.
        probabilities: Vec<f64>,
    },
    /// Predicted numbers.
    Numbers(Vec<f64>),
}

/// How good predictions are.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Every metric; `None` if no label is one that the model knows.
    pub scores: Option<Scores>,
    /// Graphs whose label is none of the model's classes. They are not measured.
    pub unknown_classes: usize,
}

impl TrainedModel {
    /// Predicts every graph of a data set, whose features get the treatment
    /// that those of the training data got. Columns are found by what they are
    /// ([`GraphDataset::with_columns_of`]), where that is known. Degrees above training's
    /// count as the largest there.
    ///
    /// # Errors
    /// [`egg_graph::Error::Columns`] and [`Error::FeatureWidth`] if nodes have other features
    /// than the model takes, [`Error::UnknownColumns`] if that is not known; as
    /// [`InputFeatures::apply_to_new`](crate::data::InputFeatures::apply_to_new).
    pub fn predict(&self, dataset: GraphDataset) -> Result<Vec<Prediction>> {
        let config = self.config();
        if dataset.is_empty() {
            return Ok(Vec::new());
        }
        let dataset = self.prepare(dataset)?;
        let network = self.model().network();
        let graphs = PreparedGraphs::new(dataset, network.propagation(), DType::F32)?;
        let order: Vec<usize> = (0..graphs.dataset().len()).collect();
        let mut predictions = Vec::with_capacity(order.len());
        // One batch after the other: a data set may not fit twice into memory.
        for part in batches(&order, config.training.batch_size) {
            let batch = graphs.batch_without_targets(part)?;
            let rows = outputs(network, &[batch])?;
            predictions.extend(rows.into_iter().map(|row| self.prediction(row)));
        }
        Ok(predictions)
    }

    /// A data set as the model takes it.
    pub(super) fn prepare(&self, dataset: GraphDataset) -> Result<GraphDataset> {
        let config = self.config();
        let (dataset, _) = config.columns_of(dataset)?;
        let dataset = config.model.features.apply_to_new(dataset)?;
        let found = dataset.features().width();
        if found != config.inputs {
            return Err(Error::FeatureWidth {
                expected: config.inputs,
                found,
            });
        }
        Ok(dataset)
    }

    /// How good predictions are, where the truth is known; `None` where it nowhere is. Classes are
    /// matched by their names: a part of the training data may have fewer.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a prediction for each graph; those of the
    /// metrics.
    pub fn score(&self, predictions: &[Prediction], dataset: &GraphDataset) -> Result<Option<Scored>> {
        if predictions.len() != dataset.len() {
            return Err(Error::Length {
                what: "predictions",
                expected: dataset.len(),
                found: predictions.len(),
            });
        }
        let (mut truth, mut rows, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut unknown_classes = 0;
        for (graph, prediction) in predictions.iter().enumerate() {
            match (prediction, dataset.targets()) {
                (Prediction::Class { probabilities, .. }, Some(Targets::Classes(labels))) => {
                    let name = labels
                        .get(graph)
                        .and_then(|class| labels.names().get(class as usize));
                    let Some(name) = name else { continue };
                    match self.config().data.classes.iter().position(|class| class == name) {
                        Some(class) => {
                            truth.push(u32::try_from(class).unwrap_or(u32::MAX));
                            rows.push(probabilities.clone());
                        }
                        None => unknown_classes += 1,
                    }
                }
                (Prediction::Numbers(values), Some(Targets::Values(targets))) => {
                    let row = targets.row(graph);
                    for (value, target) in values.iter().zip(row).filter(|(_, target)| !target.is_nan()) {
                        numbers.push((f64::from(*target), *value));
                    }
                }
                _ => {}
            }
        }
        let scores = match (rows.is_empty(), numbers.is_empty()) {
            (false, _) => Some(Scores::from_logits(&truth, &rows)?),
            (true, false) => {
                let (truth, values): (Vec<f64>, Vec<f64>) = numbers.into_iter().unzip();
                Some(Scores::from_numbers(&truth, &values)?)
            }
            (true, true) => None,
        };
        Ok(match scores {
            None if unknown_classes == 0 => None,
            scores => Some(Scored {
                scores,
                unknown_classes,
            }),
        })
    }

    fn prediction(&self, row: Vec<f64>) -> Prediction {
        let config = self.config();
        if !config.training.objective.of_classes() {
            return Prediction::Numbers(row);
        }
        let class = largest(&row);
        let most = row.get(class as usize).copied().unwrap_or_default();
        let exponentials: Vec<f64> = row.iter().map(|logit| (logit - most).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        Prediction::Class {
            class,
            label: config
                .data
                .classes
                .get(class as usize)
                .cloned()
                .unwrap_or_default(),
            probabilities: exponentials.into_iter().map(|e| e / sum).collect(),
        }
    }
}
