//! What came of several repetitions.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use crate::train::{Outcome, PartReport};

/// A mean and a standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; `None` of no more numbers than `ddof`.
    pub deviation: Option<f64>,
    /// What is subtracted from the count under the root.
    pub ddof: usize,
    /// How many numbers.
    pub count: usize,
}

impl Summary {
    /// Of some numbers; `None` of none.
    ///
    /// ```
    /// use egg_pool::protocol::Summary;
    /// let summary = Summary::of(&[0.70, 0.80], 0).unwrap();
    /// assert_eq!(summary.to_string(), "75.00+-5.00");
    /// ```
    pub fn of(numbers: &[f64], ddof: usize) -> Option<Self> {
        let count = numbers.len();
        if count == 0 {
            return None;
        }
        let mean = numbers.iter().sum::<f64>() / count as f64;
        let squares = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        Some(Self {
            mean,
            deviation: (count > ddof).then(|| (squares / (count - ddof) as f64).sqrt()),
            ddof,
            count,
        })
    }
}

/// In percent, as the paper's tables: `75.00+-5.00`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", 100.0 * self.mean)?;
        match self.deviation {
            Some(deviation) => write!(f, "+-{:.2}", 100.0 * deviation),
            None => Ok(()),
        }
    }
}

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
    pub(super) fn new(
        experiment: &Experiment,
        dataset: &str,
        fingerprint: &str,
        outcomes: Vec<Outcome>,
    ) -> Self {
        let metric = experiment.training.metric;
        let summary = |part: fn(&Outcome) -> Option<&PartReport>| {
            let numbers = outcomes.iter().map(|outcome| part(outcome)?.scores.get(metric));
            Summary::of(
                &numbers.collect::<Option<Vec<f64>>>()?,
                experiment.protocol.ddof(),
            )
        };
        Self {
            experiment: experiment.clone(),
            dataset: dataset.to_owned(),
            fingerprint: fingerprint.to_owned(),
            validation: summary(|outcome| outcome.validation.as_ref()),
            test: summary(|outcome| outcome.test.as_ref()),
            outcomes,
        }
    }
}
