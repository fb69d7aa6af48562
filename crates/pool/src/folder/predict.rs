//! What a trained model says of new graphs.

use candle_core::DType;
use egg_graph::{GraphDataset, batches};
use serde::{Deserialize, Serialize};

use super::saved::TrainedModel;
use crate::data::PreparedGraphs;
use crate::error::{Error, Result};
use crate::metrics::largest;
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

impl TrainedModel {
    /// Predicts every graph of a data set, whose features get the treatment
    /// that those of the training data got. Degrees above training's count as the
    /// largest there.
    ///
    /// # Errors
    /// [`Error::FeatureWidth`] if nodes then have another number of features
    /// than the model takes; as
    /// [`InputFeatures::apply_to_new`](crate::data::InputFeatures::apply_to_new).
    pub fn predict(&self, dataset: GraphDataset) -> Result<Vec<Prediction>> {
        let config = self.config();
        if dataset.is_empty() {
            return Ok(Vec::new());
        }
        let dataset = config.model.features.apply_to_new(dataset)?;
        let found = dataset.features().width();
        if found != config.inputs {
            return Err(Error::FeatureWidth {
                expected: config.inputs,
                found,
            });
        }
        let network = self.model().network();
        let graphs = PreparedGraphs::new(dataset, network.convolved(), DType::F32)?;
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
