//! The settings that are searched.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::experiment::Experiment;

/// The values to try of each setting; every combination is a [`Cell`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Adam's rate.
    pub learning_rate: Vec<f64>,
    /// Adam's L2 decay.
    pub weight_decay: Vec<f64>,
    /// The width of convolutions.
    pub hidden: Vec<usize>,
    /// Of the head.
    pub dropout: Vec<f64>,
    /// The r of EGG's rank rule, whichever the experiment has (the paper's is a
    /// threshold), or of soft EGG's resolvent; of no effect on what has no r.
    pub threshold: Vec<f64>,
}

impl Grid {
    /// The paper's: 72 cells for EGG and soft EGG, 36 for other poolings.
    ///
    /// ```
    /// use egg_graph::synthetic::CovarianceSet;
    /// use egg_pool::convolution::Gcn;
    /// use egg_pool::protocol::{Experiment, Grid, Protocol};
    ///
    /// let dataset = CovarianceSet::standard()?;
    /// let cells = |pooling: &str| {
    ///     let experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, pooling.parse()?)?;
    ///     Ok::<_, egg_pool::Error>(Grid::paper().cells(&experiment).len())
    /// };
    /// assert_eq!((cells("egg")?, cells("soft-egg")?, cells("sum")?), (72, 72, 36));
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn paper() -> Self {
        Self {
            learning_rate: vec![5e-3, 1e-3, 5e-4],
            weight_decay: vec![5e-3, 1e-3, 5e-4],
            hidden: vec![32, 64],
            dropout: vec![0.0, 0.5],
            threshold: vec![0.5, 0.8],
        }
    }

    /// Every combination, in a fixed order.
    pub fn cells(&self, experiment: &Experiment) -> Vec<Cell> {
        let mut pooling = experiment.model.pooling.clone();
        let thresholds: Vec<Option<f64>> = match pooling.threshold_mut() {
            Some(_) => self.threshold.iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let mut cells = Vec::new();
        for &learning_rate in &self.learning_rate {
            for &weight_decay in &self.weight_decay {
                for &hidden in &self.hidden {
                    for &dropout in &self.dropout {
                        cells.extend(thresholds.iter().map(|&threshold| Cell {
                            learning_rate,
                            weight_decay,
                            hidden,
                            dropout,
                            threshold,
                        }));
                    }
                }
            }
        }
        cells
    }
}

/// One combination of settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Adam's rate.
    pub learning_rate: f64,
    /// Adam's L2 decay.
    pub weight_decay: f64,
    /// The width of convolutions.
    pub hidden: usize,
    /// Of the head.
    pub dropout: f64,
    /// The r of EGG's rank rule or of soft EGG's resolvent.
    pub threshold: Option<f64>,
}

impl Cell {
    /// The experiment with these settings.
    pub fn apply(&self, experiment: &Experiment) -> Experiment {
        let mut experiment = experiment.clone();
        experiment.training.learning_rate = self.learning_rate;
        experiment.training.weight_decay = self.weight_decay;
        experiment.model.hidden = self.hidden;
        experiment.model.head.dropout = self.dropout;
        if let (Some(cut), Some(r)) = (experiment.model.pooling.threshold_mut(), self.threshold) {
            *cut = r;
        }
        experiment
    }
}

/// As in the name of its record: `lr0.005-wd0.001-h32-d0.5-r0.8`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            learning_rate,
            weight_decay,
            hidden,
            dropout,
            threshold,
        } = self;
        write!(f, "lr{learning_rate}-wd{weight_decay}-h{hidden}-d{dropout}")?;
        threshold.map_or(Ok(()), |r| write!(f, "-r{r}"))
    }
}
