//! Metrics by name.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

use egg_nn::Goal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::METRICS;
use crate::error::{Error, Result};

/// Those that the program added to [`METRICS`].
static ADDED: RwLock<Vec<Metric>> = RwLock::new(Vec::new());

/// A metric: its name, which way it gets better, and how it is computed.
///
/// ```
/// use egg_nn::Goal;
/// use egg_pool::metrics::{ClassPredictions, Metric, MetricDefinition, MetricFunction, register_metric};
///
/// /// The share of items that are taken for another class.
/// fn error_rate(of: &ClassPredictions<'_>) -> egg_pool::Result<Option<f64>> {
///     let wrong = of.truth.iter().zip(&of.predicted).filter(|(truth, guess)| truth != guess);
///     Ok(Some(wrong.count() as f64 / of.truth.len() as f64))
/// }
///
/// static ERROR_RATE: MetricDefinition = MetricDefinition {
///     name: "error-rate",
///     goal: Goal::Min,
///     range: 0.0..=1.0,
///     function: MetricFunction::Classes(error_rate),
/// };
/// register_metric(&ERROR_RATE)?;
/// let metric: Metric = "error-rate".parse()?;
/// assert_eq!(metric.goal(), Goal::Min);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug)]
pub struct MetricDefinition {
    /// The name in settings and records: lower-case letters, digits, hyphens.
    pub name: &'static str,
    /// Which way it gets better.
    pub goal: Goal,
    /// The values it can have; a record with another one is damaged.
    pub range: RangeInclusive<f64>,
    /// How it is computed, and of what.
    pub function: MetricFunction,
}

/// How a metric is computed. `None` where it is not defined, as ROC-AUC is not of three classes.
#[derive(Debug, Clone, Copy)]
pub enum MetricFunction {
    /// Of predicted classes.
    Classes(fn(&ClassPredictions<'_>) -> Result<Option<f64>>),
    /// Of true and predicted numbers.
    Numbers(fn(&[f64], &[f64]) -> Result<Option<f64>>),
}

/// Predicted classes, item by item.
#[derive(Debug, Clone)]
pub struct ClassPredictions<'a> {
    /// The true class.
    pub truth: &'a [u32],
    /// The class with the largest score.
    pub predicted: Vec<u32>,
    /// The score of each class, on the scale of logits.
    pub logits: &'a [Vec<f64>],
}

/// What a run is judged by: one of the metrics of this module, or one of one's own.
///
/// ```
/// use egg_pool::metrics::Metric;
/// assert_eq!("roc-auc".parse::<Metric>()?, Metric::ROC_AUC);
/// assert_eq!(Metric::ACCURACY.to_string(), "accuracy");
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Metric(pub(super) &'static MetricDefinition);

/// Makes a metric available by its name, and part of all [`Scores`](super::Scores) from
/// then on. To register it again changes nothing.
///
/// # Errors
/// [`Error::Component`] if another metric has the name, the name has other characters, or it is `of` or `confusion`,
/// which are other keys of scores.
pub fn register_metric(definition: &'static MetricDefinition) -> Result<()> {
    let refuse = |reason: &str| {
        Err(Error::Component {
            kind: definition.name.to_owned(),
            reason: reason.to_owned(),
        })
    };
    if !crate::component::is_name(definition.name) {
        return refuse("a name consists of lower-case letters, digits and hyphens");
    }
    if super::scores::RESERVED.contains(&definition.name) {
        return refuse("scores have another key of this name");
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    let same = METRICS
        .iter()
        .chain(&*added)
        .find(|metric| metric.name() == definition.name);
    match same {
        Some(known) if std::ptr::eq(known.0, definition) => Ok(()),
        Some(_) => refuse("there is another metric of this name"),
        None => {
            added.push(Metric(definition));
            Ok(())
        }
    }
}

impl Metric {
    /// All there are: those of this module, then those that were
    /// [registered](register_metric).
    pub fn all() -> Vec<Self> {
        let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
        METRICS.iter().chain(&*added).copied().collect()
    }

    /// As it is written in settings.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Which way it gets better.
    pub fn goal(self) -> Goal {
        self.0.goal
    }

    /// The values it can have.
    pub fn range(self) -> RangeInclusive<f64> {
        self.0.range.clone()
    }

    /// How it is computed.
    pub fn function(self) -> MetricFunction {
        self.0.function
    }

    /// Whether it is one of classes rather than of numbers.
    pub fn of_classes(self) -> bool {
        matches!(self.0.function, MetricFunction::Classes(_))
    }

    /// As the keys of records have it.
    pub(super) fn key(self) -> String {
        self.name().replace('-', "_")
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Metric {}

impl Hash for Metric {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metric({})", self.name())
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let all = Self::all();
        let found = all.iter().find(|metric| metric.name() == name);
        found.copied().ok_or_else(|| Error::UnknownName {
            what: "metric",
            name: name.to_owned(),
            known: all
                .iter()
                .map(|metric| metric.name())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

impl<'a> ClassPredictions<'a> {
    /// From the logits of each item, one row per item.
    pub fn new(truth: &'a [u32], logits: &'a [Vec<f64>]) -> Self {
        Self {
            truth,
            predicted: logits.iter().map(|row| largest(row)).collect(),
            logits,
        }
    }

    /// How many classes have scores.
    pub fn classes(&self) -> usize {
        self.logits.first().map_or(0, Vec::len)
    }

    /// Of two classes: whether each item is of the second, and by how much its score is
    /// the higher one. `None` of more classes or fewer.
    pub fn binary(&self) -> Option<(Vec<bool>, Vec<f64>)> {
        if self.classes() != 2 {
            return None;
        }
        let positive = self.truth.iter().map(|class| *class == 1).collect();
        // As good as the probability: the two rise together.
        let scores = self.logits.iter().map(|row| row[1] - row[0]).collect();
        Some((positive, scores))
    }
}

/// The column of the largest entry, the first of equal ones.
pub(crate) fn largest(row: &[f64]) -> u32 {
    let mut best = 0;
    for (index, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = index;
        }
    }
    u32::try_from(best).unwrap_or(u32::MAX)
}
