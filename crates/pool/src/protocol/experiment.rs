//! A model, trained several times.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use candle_core::DType;
use egg_graph::{GraphDataset, Split};
use serde::{Deserialize, Serialize};

use super::generator::{Stream, generator};
use super::kind::Protocol;
use super::parallelism::Parallelism;
use super::report::Report;
use super::run::Run;
use super::saved_experiment::SavedExperiment;
use super::splits::SplitRule;
use crate::convolution::{Blind, ConvolutionConfig};
use crate::data::PreparedGraphs;
use crate::error::{Error, Result};
use crate::folder::TrainedModel;
use crate::model::{Model, ModelConfig};
use crate::pooling::{PoolingConfig, RANK_RULES, Sum};
use crate::train::{Event, EventObserver, Objective, Outcome, Stopped, TrainConfig, Trainer};

/// All that a result depends on, but for the data.
///
/// ```
/// use egg_graph::synthetic::CovarianceSet;
/// use egg_pool::convolution::Gcn;
/// use egg_pool::protocol::{Experiment, Protocol};
///
/// let dataset = CovarianceSet::standard()?;
/// let experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "egg".parse()?)?;
/// let text = serde_json::to_string(&experiment)?;
/// assert_eq!(serde_json::from_str::<Experiment>(&text)?, experiment);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedExperiment")]
pub struct Experiment {
    /// How settings are chosen and deviations computed.
    pub protocol: Protocol,
    /// How splits are made.
    pub split_rule: SplitRule,
    /// How often a model is trained.
    pub repetitions: usize,
    /// The random seed.
    pub seed: u64,
    /// How to train.
    pub training: TrainConfig,
    /// What to train.
    pub model: ModelConfig,
}

/// Where and how an experiment is run: nothing here changes its result.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// What the cores share.
    pub parallelism: Parallelism,
    /// A folder, which must exist, for a checkpoint of each repetition; a run
    /// that was killed resumes from there.
    pub checkpoints: Option<PathBuf>,
    /// Epochs between checkpoints; 0 counts as 1.
    pub every: u64,
}

/// Observes several repetitions at once, possibly on several threads: it gets every event
/// with the number of its repetition, from 0. A break ends all of them.
pub type RunObserver<'o> = dyn Fn(usize, Event<'_>) -> ControlFlow<()> + Sync + 'o;

impl Experiment {
    /// Ten repetitions of the convolution's usual model, trained as the protocol does.
    ///
    /// The data set decides what is predicted, and nothing else: settings for one
    /// benchmark are a [`Preset`](super::Preset), to be [applied](Self::apply).
    ///
    /// # Errors
    /// [`Error::Targets`] if there is nothing to predict.
    pub fn new(
        dataset: &GraphDataset,
        protocol: Protocol,
        convolution: impl Into<ConvolutionConfig>,
        pooling: PoolingConfig,
    ) -> Result<Self> {
        let objective = Objective::from_dataset(dataset)?;
        let mut model = ModelConfig::new(convolution, pooling);
        model.head.output_norm = protocol == Protocol::Paper && objective.of_classes();
        Ok(Self {
            protocol,
            split_rule: SplitRule::new(protocol, &model.convolution),
            repetitions: 10,
            seed: 0,
            training: TrainConfig {
                objective,
                metric: objective.metric(),
                ..protocol.training()
            },
            model,
        })
    }

    /// The same experiment without convolutions, on the same splits: the
    /// [structure-blind control](Blind).
    pub fn blind(&self) -> Self {
        let mut blind = self.clone();
        blind.model.convolution = Blind.into();
        blind.model.pooling = Sum.into();
        blind
    }

    /// The data set with the features and matrices that the model needs.
    ///
    /// # Errors
    /// As [`InputFeatures::apply`](crate::data::InputFeatures::apply) and
    /// [`PreparedGraphs::new`].
    pub fn prepare(&self, dataset: GraphDataset) -> Result<PreparedGraphs> {
        let dataset = self.model.features.apply(dataset)?;
        PreparedGraphs::new(dataset, self.model.convolution.propagation(), DType::F32)
    }

    /// The split of each repetition.
    ///
    /// # Errors
    /// As [`SplitRule::splits`].
    pub fn splits(&self, dataset: &GraphDataset) -> Result<Vec<Split>> {
        self.split_rule.splits(dataset, self.repetitions, self.seed)
    }

    /// Refuses a model that can't learn what the loss asks for.
    fn check(&self) -> Result<()> {
        if self.model.head.output_norm && !self.training.objective.of_classes() {
            return Err(Error::setting(
                "head.output_norm",
                true,
                "false where numbers are predicted: batch norm would fix their mean and scale",
            ));
        }
        Ok(())
    }

    /// Trains the model of one repetition (counted from 0) on its split.
    ///
    /// # Errors
    /// As [`Trainer::run`]; [`Error::Setting`] for a batch norm on predicted
    /// numbers.
    pub fn repetition(
        &self,
        graphs: &PreparedGraphs,
        split: &Split,
        index: usize,
        options: &RunOptions,
        observer: &mut EventObserver<'_>,
    ) -> Result<(Model, Outcome)> {
        self.check()?;
        let outputs = graphs.outputs().unwrap_or(0);
        let mut rng = generator(self.seed, Stream::Training, index);
        let model = self
            .model
            .model(graphs.inputs(), outputs, graphs.dtype(), &mut rng)?;
        let mut trainer = Trainer::new(&self.training, graphs, split)?;
        if let Some(folder) = &options.checkpoints {
            let path = folder.join(format!("repetition-{}.safetensors", index + 1));
            // What a rank rule keeps is part of what a model is.
            let rules = match self.model.pooling.rank_rule() {
                Some(_) => format!(", rank rules {RANK_RULES}"),
                None => String::new(),
            };
            trainer = trainer.checkpoint(path, options.every, format!("{:?}{rules}", self.model));
        }
        let outcome = trainer.run(&model, rng, observer)?;
        Ok((model, outcome))
    }

    /// Trains all repetitions, and gives the models with the report.
    ///
    /// # Errors
    /// [`Error::InRepetition`] with what went wrong; [`Error::Cancelled`] if the
    /// observer broke: then finished repetitions are kept only in checkpoints.
    pub fn run(
        &self,
        graphs: &PreparedGraphs,
        options: &RunOptions,
        observer: &RunObserver<'_>,
    ) -> Result<Run> {
        let splits = self.splits(graphs.dataset())?;
        let cancelled = AtomicBool::new(false);
        let trained = options.parallelism.run(self.repetitions, |index| {
            let observer = |event: Event<'_>| observer(index, event);
            self.uncancelled(graphs, &splits[index], index, options, &observer, &cancelled)
        })?;
        let outcomes = trained.iter().map(|(_, outcome)| outcome.clone()).collect();
        let report = Report::new(self, graphs, outcomes);
        let models = trained.into_iter().enumerate();
        let models =
            models.map(|(index, (model, outcome))| TrainedModel::new(self, graphs, index, model, outcome));
        Ok(Run {
            report,
            splits,
            models: models.collect(),
        })
    }

    /// A repetition that ends, with an error, after the epoch in which any is
    /// cancelled.
    pub(super) fn uncancelled(
        &self,
        graphs: &PreparedGraphs,
        split: &Split,
        index: usize,
        options: &RunOptions,
        observer: &(dyn Fn(Event<'_>) -> ControlFlow<()> + '_),
        cancelled: &AtomicBool,
    ) -> Result<(Model, Outcome)> {
        let mut observer = |event: Event<'_>| {
            // An epoch that another repetition's end would cut is finished, and kept.
            let in_epoch = matches!(event, Event::Batch { .. });
            let broke = observer(event).is_break();
            if broke {
                cancelled.store(true, Ordering::Relaxed);
            }
            match broke || (!in_epoch && cancelled.load(Ordering::Relaxed)) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let trained = self.repetition(graphs, split, index, options, &mut observer);
        match trained {
            Ok((_, outcome)) if outcome.stopped == Stopped::Cancelled => Err(Error::Cancelled),
            Ok(trained) => Ok(trained),
            Err(source) => Err(Error::InRepetition {
                repetition: index + 1,
                source: Box::new(source),
            }),
        }
    }
}
