//! Which graphs are trained on, chosen by, and tested with.

use egg_graph::{GraphDataset, Labels, Split, Targets};
use serde::{Deserialize, Serialize};

use super::generator::{Stream, generator};
use super::kind::Protocol;
use crate::convolution::ConvolutionConfig;
use crate::error::Result;

/// Folds of [`SplitRule::StratifiedFolds`].
const FOLDS: usize = 10;

/// The share of a fold's training graphs that settings are chosen by.
const INNER_VALIDATION: f64 = 0.1;

/// How the split of each repetition is made. A data set that comes with a split keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SplitRule {
    /// The same for all repetitions: [`Split::paper`], as the reference code has it for GIN.
    Fixed,
    /// 80/10/10 at random, a new one for each repetition.
    Random,
    /// Ten stratified folds, each the test part of one repetition; a tenth of the rest is for
    /// validation. More repetitions than folds go on with other folds.
    StratifiedFolds,
}

impl SplitRule {
    /// That of a protocol, for models of this convolution.
    pub fn new(protocol: Protocol, convolution: &ConvolutionConfig) -> Self {
        match protocol {
            Protocol::Paper => convolution.paper_splits(),
            Protocol::Fair => Self::StratifiedFolds,
        }
    }

    /// One split for each repetition.
    ///
    /// # Errors
    /// [`egg_graph::Error::Parameter`] if there are fewer graphs than folds.
    ///
    /// ```
    /// use egg_graph::{Split, synthetic::CovarianceSet};
    /// use egg_pool::protocol::SplitRule;
    ///
    /// let dataset = CovarianceSet::standard()?;
    /// let splits = SplitRule::Fixed.splits(&dataset, 10, 0)?;
    /// assert!(splits.iter().all(|split| *split == Split::paper(400)));
    /// let splits = SplitRule::StratifiedFolds.splits(&dataset, 10, 0)?;
    /// assert_eq!(splits.iter().map(|split| split.test.len()).sum::<usize>(), 400);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn splits(self, dataset: &GraphDataset, repetitions: usize, seed: u64) -> Result<Vec<Split>> {
        if let Some(prescribed) = dataset.split()
            && dataset.len() > 1
        {
            return Ok(vec![prescribed.clone(); repetitions]);
        }
        let graphs = dataset.len();
        match self {
            Self::Fixed => Ok(vec![Split::paper(graphs); repetitions]),
            Self::Random => Ok((0..repetitions)
                .map(|index| Split::random(graphs, &mut generator(seed, Stream::Split, index)))
                .collect()),
            Self::StratifiedFolds => {
                // Numbers have no classes to keep in proportion.
                let alike;
                let labels = match dataset.targets() {
                    Some(Targets::Classes(labels)) => labels,
                    _ => {
                        alike = Labels::from_values(&vec![0; graphs]);
                        &alike
                    }
                };
                let mut splits = Vec::with_capacity(repetitions);
                let mut round = 0;
                while splits.len() < repetitions {
                    let mut rng = generator(seed, Stream::Folds, round);
                    splits.extend(Split::stratified(labels, FOLDS, INNER_VALIDATION, &mut rng)?);
                    round += 1;
                }
                splits.truncate(repetitions);
                Ok(splits)
            }
        }
    }
}
