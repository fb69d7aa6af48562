//! Early stopping on a validation metric.

use serde::{Deserialize, Serialize};

/// Whether a metric is minimised or maximised.
///
/// # Example
/// ```
/// use egg_nn::{EarlyStopping, Goal, Verdict};
/// let mut accuracy = EarlyStopping::new(Goal::Max, 5);
/// assert_eq!(accuracy.observe(0.5), Verdict::Better);
/// assert_eq!(accuracy.observe(0.6), Verdict::Better);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Less is better, as of a loss.
    Min,
    /// More is better, as of an accuracy.
    Max,
}

/// The verdict of [`EarlyStopping::observe`] on an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The best so far: the parameters are worth keeping.
    Better,
    /// Not better, but patience is left.
    Wait,
    /// Not better for as many epochs as patience allows.
    Stop,
}

/// Stops when a metric has not got better for `patience` epochs in a row.
///
/// Better means strictly better; a metric that is not finite is never better.
///
/// # Example
/// ```
/// use egg_nn::{EarlyStopping, Goal, Verdict};
///
/// let mut stopping = EarlyStopping::new(Goal::Min, 2);
/// assert_eq!(stopping.observe(1.0), Verdict::Better);
/// assert_eq!(stopping.observe(f64::NAN), Verdict::Wait);
/// assert_eq!(stopping.observe(1.0), Verdict::Stop);
/// assert_eq!((stopping.best(), stopping.best_epoch()), (Some(1.0), Some(0)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlyStopping {
    goal: Goal,
    patience: u64,
    epochs: u64,
    best: Option<Best>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Best {
    metric: f64,
    epoch: u64,
}

impl EarlyStopping {
    /// Stops at the `patience`-th epoch in a row that is no better than the
    /// best; a patience of 0 stops at the first, as 1 does.
    pub fn new(goal: Goal, patience: u64) -> Self {
        Self {
            goal,
            patience,
            epochs: 0,
            best: None,
        }
    }

    /// Takes the metric of the next epoch.
    pub fn observe(&mut self, metric: f64) -> Verdict {
        let epoch = self.epochs;
        self.epochs = self.epochs.saturating_add(1);
        let better = metric.is_finite()
            && self.best.is_none_or(|best| match self.goal {
                Goal::Min => metric < best.metric,
                Goal::Max => metric > best.metric,
            });
        if better {
            self.best = Some(Best { metric, epoch });
            return Verdict::Better;
        }
        let since = self
            .best
            .map_or(self.epochs, |best| epoch.saturating_sub(best.epoch));
        if since >= self.patience {
            Verdict::Stop
        } else {
            Verdict::Wait
        }
    }

    /// The best metric so far.
    pub fn best(&self) -> Option<f64> {
        self.best.map(|best| best.metric)
    }

    /// The epoch of the best metric, counted from 0.
    pub fn best_epoch(&self) -> Option<u64> {
        self.best.map(|best| best.epoch)
    }

    /// How many epochs were observed.
    pub fn epochs(&self) -> u64 {
        self.epochs
    }
}
