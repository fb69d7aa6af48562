//! All metrics of some predictions at once.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::kind::{ClassPredictions, Metric, MetricFunction};
use super::{ConfusionMatrix, ROOT, SQUARED};
use crate::error::Result;

/// Every metric that is defined for a set of predictions.
///
/// As JSON: `of` says of what, then one key for each metric, with `_` for hyphens; of
/// classes there is a `confusion` matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    of_classes: bool,
    /// By the metric's key. A metric that is not registered here is kept all the same.
    values: Vec<(String, Option<f64>)>,
    confusion: Option<ConfusionMatrix>,
}

impl Scores {
    /// From the logits of each item, one row per item.
    ///
    /// # Errors
    /// Those of the metrics, except that a metric of two classes is `None`
    /// where it is not defined.
    ///
    /// ```
    /// use egg_pool::metrics::{Metric, Scores};
    /// let scores = Scores::from_logits(&[0, 1], &[vec![1.0, 0.0], vec![-1.0, 3.0]])?;
    /// assert_eq!(scores.get(Metric::ROC_AUC), Some(1.0));
    /// assert_eq!(scores.get(Metric::MAE), None);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn from_logits(truth: &[u32], logits: &[Vec<f64>]) -> Result<Self> {
        let predictions = ClassPredictions::new(truth, logits);
        let mut values = Vec::new();
        for metric in Metric::all() {
            if let MetricFunction::Classes(compute) = metric.function() {
                values.push((metric.key(), compute(&predictions)?));
            }
        }
        let confusion = ConfusionMatrix::new(truth, &predictions.predicted, predictions.classes())?;
        Ok(Self {
            of_classes: true,
            values,
            confusion: Some(confusion),
        })
    }

    /// From predicted numbers.
    ///
    /// # Errors
    /// Those of the metrics.
    pub fn from_numbers(truth: &[f64], predicted: &[f64]) -> Result<Self> {
        let mut values = Vec::new();
        for metric in Metric::all() {
            if let MetricFunction::Numbers(compute) = metric.function() {
                values.push((metric.key(), compute(truth, predicted)?));
            }
        }
        Ok(Self {
            of_classes: false,
            values,
            confusion: None,
        })
    }

    /// One of them; `None` where it is not defined.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        if metric.of_classes() != self.of_classes {
            return None;
        }
        let key = metric.key();
        self.values.iter().find(|(name, _)| *name == key)?.1
    }

    /// Whether classes were predicted rather than numbers.
    pub fn of_classes(&self) -> bool {
        self.of_classes
    }

    /// Those that are defined, in the order of [`Metric::all`].
    pub fn defined(&self) -> impl Iterator<Item = (Metric, f64)> {
        Metric::all()
            .into_iter()
            .filter_map(|metric| Some((metric, self.get(metric)?)))
    }

    /// Of classes: which were taken for which.
    pub fn confusion(&self) -> Option<&ConfusionMatrix> {
        self.confusion.as_ref()
    }

    /// Whether the numbers can be those of an evaluation.
    pub(crate) fn is_consistent(&self) -> bool {
        let known = Metric::all();
        let of = |key: &str| known.iter().find(|metric| metric.key() == key);
        self.values.iter().all(|(key, value)| match (of(key), value) {
            (_, None) => true,
            (Some(metric), Some(value)) => value.is_finite() && metric.range().contains(value),
            (None, Some(value)) => value.is_finite(),
        })
    }
}

const OF: &str = "of";
const CLASSES: &str = "classes";
const NUMBERS: &str = "numbers";
const CONFUSION: &str = "confusion";

/// Keys that no metric can have.
pub(super) const RESERVED: [&str; 2] = [OF, CONFUSION];

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(OF, if self.of_classes { CLASSES } else { NUMBERS })?;
        for (key, value) in &self.values {
            map.serialize_entry(key, value)?;
        }
        if let Some(confusion) = &self.confusion {
            map.serialize_entry(CONFUSION, confusion)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Scores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut map = Map::<String, Value>::deserialize(deserializer)?;
        let of_classes = match map.remove(OF).as_ref().and_then(Value::as_str) {
            Some(CLASSES) => true,
            Some(NUMBERS) => false,
            _ => return Err(D::Error::custom("scores are of \"classes\" or \"numbers\"")),
        };
        let confusion = match map.remove(CONFUSION) {
            Some(value) => Some(serde_json::from_value(value).map_err(D::Error::custom)?),
            None => None,
        };
        if confusion.is_some() != of_classes {
            return Err(D::Error::custom(
                "scores of classes, and only these, have a confusion matrix",
            ));
        }
        let number = |key: &str, value: Value| match value {
            Value::Null => Ok(None),
            value => value
                .as_f64()
                .map(Some)
                .ok_or_else(|| D::Error::custom(format!("the score {key} is {value}, not a number"))),
        };
        // In the order of the metrics, as they are written.
        let mut values = Vec::with_capacity(map.len());
        for metric in Metric::all() {
            if let Some(value) = map.remove(&metric.key()) {
                values.push((metric.key(), number(&metric.key(), value)?));
            }
        }
        for (key, value) in map {
            values.push((key.clone(), number(&key, value)?));
        }
        // Earlier versions did not write the root.
        let find = |key: &str| values.iter().find(|(name, _)| name == key);
        if let (None, Some((_, Some(squared)))) = (find(ROOT), find(SQUARED)) {
            let root = squared.sqrt();
            values.push((ROOT.to_owned(), Some(root)));
        }
        for required in if of_classes {
            ["accuracy"].as_slice()
        } else {
            &[SQUARED]
        } {
            if !values.iter().any(|(key, _)| key == required) {
                return Err(D::Error::custom(format!("missing field `{required}`")));
            }
        }
        Ok(Self {
            of_classes,
            values,
            confusion,
        })
    }
}
