//! A mean, its spread, and the measurements behind them.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use egg_results::Summary;
use serde::{Deserialize, Serialize};

use crate::number;

/// Several measurements of one thing, with their [`Summary`] as it is written in records.
///
/// ```
/// use egg_report::Estimate;
/// let estimate = Estimate::from_values(&[0.25, 0.75], 0);
/// assert_eq!((estimate.mean, estimate.deviation), (0.5, Some(0.25)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Estimate {
    /// The mean; NaN without measurements.
    #[serde(with = "number")]
    pub mean: f64,
    /// The standard deviation, if it is known.
    #[serde(rename = "std", with = "number::option")]
    pub deviation: Option<f64>,
    /// The measurements, if they are known.
    #[serde(with = "number::list")]
    pub values: Vec<f64>,
}

impl Default for Estimate {
    fn default() -> Self {
        Self {
            mean: f64::NAN,
            deviation: None,
            values: Vec::new(),
        }
    }
}

impl Estimate {
    /// The estimate from measurements; `ddof` is subtracted from their count under the root. At
    /// most `ddof` numbers have no deviation.
    pub fn from_values(values: &[f64], ddof: usize) -> Self {
        let Some(summary) = Summary::from_values(values, ddof) else {
            return Self::default();
        };
        Self {
            mean: summary.mean,
            deviation: summary.deviation,
            values: values.to_vec(),
        }
    }

    /// The deviation, if there are several measurements; a single one has none for any `ddof`.
    ///
    /// ```
    /// use egg_report::Estimate;
    /// assert_eq!(Estimate::from_values(&[0.5], 0).deviation, Some(0.0));
    /// assert_eq!(Estimate::from_values(&[0.5], 0).spread(), None);
    /// assert_eq!(Estimate::from_values(&[0.5, 0.5], 0).spread(), Some(0.0));
    /// ```
    pub fn spread(&self) -> Option<f64> {
        self.deviation
            .filter(|deviation| deviation.is_finite() && self.values.len() != 1)
    }

    /// Whether there is anything to show.
    pub fn is_known(&self) -> bool {
        self.mean.is_finite()
    }
}
