//! What came of several repetitions.

use egg_results::Summary;
use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use crate::data::PreparedGraphs;
use crate::train::{Outcome, PartReport};

/// An experiment and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was run, protocol and seed included.
    pub experiment: Experiment,
    /// The data set's name.
    pub dataset: String,
    /// Of the graphs as the model saw them.
    pub fingerprint: String,
    /// One for each repetition.
    pub outcomes: Vec<Outcome>,
    /// The metric on the validation parts; `None` where it is not defined.
    pub validation: Option<Summary>,
    /// The metric on the test parts; `None` where it is not defined.
    pub test: Option<Summary>,
}

impl Report {
    /// Of the outcomes of all repetitions, in order.
    pub fn new(experiment: &Experiment, graphs: &PreparedGraphs, outcomes: Vec<Outcome>) -> Self {
        let metric = experiment.training.metric;
        let summary = |part: fn(&Outcome) -> Option<&PartReport>| {
            let numbers = outcomes.iter().map(|outcome| part(outcome)?.scores.get(metric));
            Summary::from_values(
                &numbers.collect::<Option<Vec<f64>>>()?,
                experiment.protocol.ddof(),
            )
        };
        Self {
            experiment: experiment.clone(),
            dataset: graphs.dataset().name().to_owned(),
            fingerprint: graphs.fingerprint().to_owned(),
            validation: summary(|outcome| outcome.validation.as_ref()),
            test: summary(|outcome| outcome.test.as_ref()),
            outcomes,
        }
    }
}
