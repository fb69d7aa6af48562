//! A mean and its spread.

use std::fmt;

/// The mean and the standard deviation of several numbers.
///
/// ```
/// use egg_results::Summary;
///
/// let summary = Summary::from_values(&[0.70, 0.80], 0).unwrap();
/// assert_eq!(summary.percent(), "75.00+-5.00");
/// assert_eq!(format!("{summary:.3}"), "0.750 ± 0.050");
/// assert_eq!(Summary::from_values(&[0.7], 1).unwrap().deviation, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; `None` if there are at most `ddof` numbers.
    pub deviation: Option<f64>,
    /// What is subtracted from the count under the root.
    pub ddof: usize,
    /// How many numbers.
    pub count: usize,
}

impl Summary {
    /// The summary of `numbers`; `None` if there are none.
    pub fn from_values(numbers: &[f64], ddof: usize) -> Option<Self> {
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

    /// A published mean and deviation.
    pub fn published(mean: f64, deviation: f64, count: usize, ddof: usize) -> Self {
        Self {
            mean,
            deviation: Some(deviation),
            ddof,
            count,
        }
    }

    /// In percent, as in tables of accuracies: `75.00+-5.00`.
    pub fn percent(&self) -> String {
        let mean = 100.0 * self.mean;
        match self.deviation {
            Some(deviation) => format!("{mean:.2}+-{:.2}", 100.0 * deviation),
            None => format!("{mean:.2}"),
        }
    }

    /// The sample variance (ddof 1), independent of the `ddof` of the deviation; `None` of fewer
    /// than two numbers.
    pub(crate) fn sample_variance(&self) -> Option<f64> {
        let freedom = self.count.checked_sub(self.ddof).filter(|_| self.count > 1)?;
        let squares = self.deviation?.powi(2) * freedom as f64;
        Some(squares / (self.count - 1) as f64)
    }
}

/// The middle number, or the mean of the middle two; `None` of none.
///
/// ```
/// assert_eq!(egg_results::median(&[5.0, 1.0, 3.0]), Some(3.0));
/// assert_eq!(egg_results::median(&[5.0, 1.0, 3.0, 2.0]), Some(2.5));
/// assert_eq!(egg_results::median(&[]), None);
/// ```
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some((sorted[last / 2] + sorted[last.div_ceil(2)]) / 2.0)
}

/// `0.7500 ± 0.0500`, with the precision of the format string (4 by default).
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(4);
        write!(f, "{:.digits$}", self.mean)?;
        match self.deviation {
            Some(deviation) => write!(f, " ± {deviation:.digits$}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn mean_and_deviation_match_hand_calculation() {
        let summary = Summary::from_values(&[1.0, 3.0], 0).unwrap();
        assert_eq!((summary.mean, summary.deviation), (2.0, Some(1.0)));
        assert_eq!(summary.to_string(), "2.0000 ± 1.0000");
        assert_eq!(
            Summary::from_values(&[1.0, 3.0], 1).unwrap().deviation,
            Some(2f64.sqrt())
        );
        assert_eq!(Summary::from_values(&[], 0), None);
        // The variance of a sample does not depend on how the deviation is written.
        for ddof in 0..2 {
            let variance = Summary::from_values(&[1.0, 2.0, 4.0], ddof)
                .unwrap()
                .sample_variance()
                .unwrap();
            assert_abs_diff_eq!(variance, 7.0 / 3.0, epsilon = 1e-15);
        }
        assert_eq!(Summary::from_values(&[1.0], 0).unwrap().sample_variance(), None);
    }
}
