//! Predicted classes against true ones.

use egg_nn::Goal;
use serde::{Deserialize, Serialize};

use super::{Metric, MetricDefinition, MetricFunction};
use crate::error::{Error, Result};

impl Metric {
    /// [`accuracy`].
    pub const ACCURACY: Self = Self(&MetricDefinition {
        name: "accuracy",
        goal: Goal::Max,
        range: 0.0..=1.0,
        function: MetricFunction::Classes(|of| accuracy(of.truth, &of.predicted).map(Some)),
    });

    /// [`balanced_accuracy`].
    pub const BALANCED_ACCURACY: Self = Self(&MetricDefinition {
        name: "balanced-accuracy",
        goal: Goal::Max,
        range: 0.0..=1.0,
        function: MetricFunction::Classes(|of| balanced_accuracy(of.truth, &of.predicted).map(Some)),
    });
}

fn check(metric: &'static str, truth: &[u32], predicted: &[u32]) -> Result<()> {
    if truth.len() != predicted.len() {
        return Err(Error::Length {
            what: "predicted classes",
            expected: truth.len(),
            found: predicted.len(),
        });
    }
    if truth.is_empty() {
        return Err(Error::NoItems { metric });
    }
    Ok(())
}

/// The share of items whose class is predicted.
///
/// # Errors
/// [`Error::Length`] if the lists differ in length, [`Error::NoItems`] if they
/// are empty.
///
/// ```
/// assert_eq!(egg_pool::metrics::accuracy(&[0, 1, 1, 2], &[0, 1, 0, 2])?, 0.75);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub fn accuracy(truth: &[u32], predicted: &[u32]) -> Result<f64> {
    check("accuracy", truth, predicted)?;
    let right = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
    Ok(right as f64 / truth.len() as f64)
}

/// The mean over the classes that occur in `truth` of the share of their items
/// that is predicted: scikit-learn's `balanced_accuracy_score`. Chance is
/// `1 / classes`, however unequal the classes.
///
/// # Errors
/// As [`accuracy`].
///
/// ```
/// // Always 0: 75 % right, and worth nothing.
/// assert_eq!(egg_pool::metrics::balanced_accuracy(&[0, 0, 0, 1], &[0; 4])?, 0.5);
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub fn balanced_accuracy(truth: &[u32], predicted: &[u32]) -> Result<f64> {
    check("balanced accuracy", truth, predicted)?;
    // By class, items and right ones. A map: a class may be any number.
    let mut classes = std::collections::BTreeMap::<u32, (u64, u64)>::new();
    for (class, guess) in truth.iter().zip(predicted) {
        let (items, right) = classes.entry(*class).or_default();
        *items += 1;
        *right += u64::from(class == guess);
    }
    let recalls = classes
        .values()
        .map(|(items, right)| *right as f64 / *items as f64);
    Ok(recalls.sum::<f64>() / classes.len() as f64)
}

/// How many items of each class were taken for which: rows are true classes,
/// columns predicted ones.
///
/// ```
/// use egg_pool::metrics::ConfusionMatrix;
/// let matrix = ConfusionMatrix::new(&[0, 0, 1], &[0, 1, 1], 2)?;
/// assert_eq!(matrix.counts(), [vec![1, 1], vec![0, 1]]);
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfusionMatrix {
    counts: Vec<Vec<u64>>,
}

impl ConfusionMatrix {
    /// Counts; classes are 0 to `classes` - 1.
    ///
    /// # Errors
    /// [`Error::Length`] if the lists differ in length, [`Error::Setting`] for
    /// a class that is not below `classes`.
    pub fn new(truth: &[u32], predicted: &[u32], classes: usize) -> Result<Self> {
        if truth.len() != predicted.len() {
            return Err(Error::Length {
                what: "predicted classes",
                expected: truth.len(),
                found: predicted.len(),
            });
        }
        let mut counts = vec![vec![0; classes]; classes];
        for (class, guess) in truth.iter().zip(predicted) {
            let cell = counts
                .get_mut(*class as usize)
                .and_then(|row: &mut Vec<u64>| row.get_mut(*guess as usize));
            match cell {
                Some(count) => *count += 1,
                None => {
                    return Err(Error::setting(
                        "class",
                        class.max(guess),
                        format!("there are {classes} classes, from 0"),
                    ));
                }
            }
        }
        Ok(Self { counts })
    }

    /// Rows are true classes.
    pub fn counts(&self) -> &[Vec<u64>] {
        &self.counts
    }
}
