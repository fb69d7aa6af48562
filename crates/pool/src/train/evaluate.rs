//! Looking at graphs without learning from them.

use candle_core::{DType, Tensor};
use egg_nn::{Pass, Reduction};

use super::objective::{Objective, number};
use crate::data::{Batch, BatchTargets};
use crate::error::{Error, Result};
use crate::metrics::Scores;
use crate::model::GraphModel;

/// What a model makes of some graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The mean loss.
    pub loss: f64,
    /// All metrics that are defined.
    pub scores: Scores,
    /// The model's scores, one row per graph, in the order of the batches.
    pub outputs: Vec<Vec<f64>>,
}

/// Evaluates a model on batches that have targets. No tape is built, and
/// running statistics stay as they are.
///
/// # Errors
/// [`Error::InBatch`] if a batch has no targets or does not fit the model,
/// [`Error::NonFiniteLoss`] if its loss is no number (both of epoch 0); those of
/// the metrics.
pub fn evaluate(model: &dyn GraphModel, batches: &[Batch], objective: Objective) -> Result<Evaluation> {
    evaluate_at(model, batches, objective, "evaluation", 0)
}

/// The same, in a part of a run.
pub(super) fn evaluate_at(
    model: &dyn GraphModel,
    batches: &[Batch],
    objective: Objective,
    part: &'static str,
    epoch: u64,
) -> Result<Evaluation> {
    let mut tally = Tally::default();
    for (index, batch) in batches.iter().enumerate() {
        let mut add = || {
            let output = model.forward(batch, &mut Pass::Evaluation)?;
            let targets = targets(batch)?;
            let loss = objective.loss(&output.scores, targets, Reduction::Sum)?;
            let loss = number(&loss)?;
            if !loss.is_finite() {
                return Err(Error::loss(loss));
            }
            tally.add(loss, objective.terms(targets), &output.scores, targets)
        };
        add().map_err(|error| error.in_batch(part, epoch, index + 1))?;
    }
    Ok(Evaluation {
        loss: tally.loss(),
        scores: tally.scores()?,
        outputs: tally.outputs,
    })
}

/// The model's scores of graphs, one row per graph. No tape is built.
///
/// # Errors
/// Those of the model.
pub fn outputs(model: &dyn GraphModel, batches: &[Batch]) -> Result<Vec<Vec<f64>>> {
    let mut all = Vec::new();
    for batch in batches {
        all.extend(rows(&model.forward(batch, &mut Pass::Evaluation)?.scores)?);
    }
    Ok(all)
}

/// The targets that a batch must have.
pub(super) fn targets(batch: &Batch) -> Result<&BatchTargets> {
    batch.targets.as_ref().ok_or_else(|| Error::Targets {
        needed_by: "a loss".to_owned(),
        needed: "a class or a number for each graph",
        dataset: "the batch".to_owned(),
        found: "no targets".to_owned(),
    })
}

fn rows(tensor: &Tensor) -> Result<Vec<Vec<f64>>> {
    Ok(tensor.detach().to_dtype(DType::F64)?.to_vec2::<f64>()?)
}

/// Losses and predictions, added up batch by batch.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sum: f64,
    terms: usize,
    classes: Vec<u32>,
    values: Vec<f64>,
    outputs: Vec<Vec<f64>>,
}

impl Tally {
    /// Takes a batch whose losses add up to `sum`.
    pub(super) fn add(
        &mut self,
        sum: f64,
        terms: usize,
        scores: &Tensor,
        targets: &BatchTargets,
    ) -> Result<()> {
        self.sum += sum;
        self.terms += terms;
        self.outputs.extend(rows(scores)?);
        match targets {
            BatchTargets::Classes(classes) => self.classes.extend(classes.to_vec1::<u32>()?),
            BatchTargets::Values(values) => self.values.extend(rows(values)?.concat()),
        }
        Ok(())
    }

    pub(super) fn loss(&self) -> f64 {
        self.sum / self.terms as f64
    }

    pub(super) fn scores(&self) -> Result<Scores> {
        if self.values.is_empty() {
            Scores::from_logits(&self.classes, &self.outputs)
        } else {
            Scores::from_numbers(&self.values, &self.outputs.concat())
        }
    }
}
